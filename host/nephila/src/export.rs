//! `nephila export DIR -o TARGET`: what a job has, written somewhere else, as one moment has it; also while it runs.

use crate::cli::ExportOptions;
use crate::exit::Exit;
use crate::outputs::check_apart;
use crate::voice::note;
use anyhow::{Context, Result, bail};
use nephila_crawler::{SHOWN_ERRORS, ShownErrors, shown_statistics};
use nephila_model::CrawlerId;
use nephila_output::{Existing, Exporter, OutputError, SnapshotRows, Target, export_storage};
use nephila_store::{ErrorsOf, JobDir, JobSnapshot};
use std::path::PathBuf;

/// Where to.
enum Destination {
    /// All of it, in Crawlee's storage layout.
    Crawlee(PathBuf),
    /// The items of the crawl's own dataset.
    Items(Target),
}

/// Writes one target after another, each as the moment has it in which it begins. What the targets say is read before the first is written.
///
/// # Errors
/// Whatever is refused, and then nothing of that target has changed; or what fails while it is written.
pub async fn export(options: &ExportOptions) -> Result<Exit> {
    let destinations = options.outputs.iter().map(|target| destination(target)).collect::<Result<Vec<_>>>()?;
    let existing = match (options.overwrite, options.append) {
        (true, _) => Existing::Overwrite,
        (_, true) => Existing::Append,
        _ => Existing::Refuse,
    };
    let crawler = options.id.as_deref().map(|id| CrawlerId::new(id).with_context(|| format!("--id {id}: this is no crawler id")));
    let crawler = crawler.transpose()?;
    let dir = JobDir::existing(&options.dir)?;
    for destination in destinations {
        let job = JobSnapshot::open(&dir, crawler.as_ref())?;
        match destination {
            Destination::Crawlee(folder) => {
                tokio::task::spawn_blocking(move || storage(&job, folder, existing)).await.context("the export fell over")??;
            }
            Destination::Items(target) => {
                check_apart(std::slice::from_ref(&target), dir.path())?;
                let mut exporter = Exporter::prepare(SnapshotRows::new(job), std::slice::from_ref(&target), existing).await?;
                let rows = exporter.drain().await?;
                note!("{rows} items are in {target}");
            }
        }
    }
    Ok(Exit::Done)
}

fn destination(target: &str) -> Result<Destination> {
    match target.strip_prefix("crawlee:") {
        Some("") => bail!("-o {target}: give the folder, as in -o crawlee:storage"),
        Some(folder) => Ok(Destination::Crawlee(PathBuf::from(folder))),
        None => match Target::parse(target) {
            Ok(target) => Ok(Destination::Items(target)),
            Err(OutputError::Folder { .. } | OutputError::UnknownEnding { .. }) => bail!(
                "-o {target}: a job is exported to crawlee:FOLDER (all of it, in Crawlee's storage layout), or its items to FILE.jsonl, FILE.ndjson, FILE.jl or - for standard output"
            ),
            Err(error) => Err(error.into()),
        },
    }
}

fn storage(job: &JobSnapshot, folder: PathBuf, existing: Existing) -> Result<()> {
    let record = job.crawl();
    let ended_at = record.ending.as_ref().map(|ending| ending.at);
    let errors = ShownErrors {
        failed: job.errors(ErrorsOf::FailedRequests, SHOWN_ERRORS)?,
        retried: job.errors(ErrorsOf::RetriedAttempts, SHOWN_ERRORS)?,
    };
    let statistics = shown_statistics(record, &job.statistics()?, errors, ended_at);
    let done = export_storage(job, &folder, existing, &statistics)?;
    note!("{} items, {} requests and {} records are in {}", done.items, done.requests, done.records, folder.display());
    if done.left_out > 0 {
        note!(
            "{} records were left out: their keys are too long to name a file, or are names of Crawlee's own files",
            done.left_out
        );
    }
    Ok(())
}
