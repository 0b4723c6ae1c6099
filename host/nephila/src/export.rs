//! `nephila export DIR -o TARGET`: what a job has, written somewhere else, as one moment has it; also while it runs.
//!
//! Decision: a signal ends it. A storage folder is cleared away first, which takes a moment for a large one; a second signal does
//! not wait for that, and then the next export to the same folder does it.

use crate::cli::ExportOptions;
use crate::exit::Exit;
use crate::outputs::check_apart;
use crate::voice::note;
use anyhow::{Context, Result, bail};
use nephila_crawler::{SHOWN_ERRORS, ShownErrors, shown_statistics};
use nephila_model::CrawlerId;
use nephila_output::{Existing, Exported, Exporter, Halt, OutputError, SnapshotRows, StorageError, Target, export_storage};
use nephila_store::{ErrorsOf, JobDir, JobSnapshot};
use std::path::{Path, PathBuf};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::spawn_blocking;

/// Names that are told of, when things are called otherwise than with us.
const SHOWN_NAMES: usize = 20;

/// Where to.
enum Destination {
    /// All of it, in Crawlee's storage layout.
    Crawlee(PathBuf),
    /// The items of the crawl's own dataset.
    Items(Target),
}

/// Which job, and of which crawler.
#[derive(Clone)]
struct Source {
    dir: JobDir,
    crawler: Option<CrawlerId>,
}

impl Source {
    fn open(&self) -> Result<JobSnapshot> {
        Ok(JobSnapshot::open(&self.dir, self.crawler.as_ref())?)
    }
}

/// Writes one target after another, each as the moment has it in which it begins. What the targets say is read before the first
/// is written.
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
    let source = Source { crawler: crawler.transpose()?, dir: JobDir::existing(&options.dir)? };
    let mut signals = Signals::listen().context("signals cannot be listened to")?;
    for destination in destinations {
        let exit = match destination {
            Destination::Crawlee(folder) => storage(source.clone(), folder, existing, &mut signals).await?,
            Destination::Items(target) => tokio::select! {
                done = items(&source, &target, existing) => done?,
                () = signals.next() => {
                    note!("stopped; {target} has got a part of the items at most, and an export begins anew (a file: with --overwrite)");
                    Exit::Stopped
                }
            },
        };
        if exit != Exit::Done {
            return Ok(exit);
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

async fn items(source: &Source, target: &Target, existing: Existing) -> Result<Exit> {
    let opened = source.clone();
    let items =
        spawn_blocking(move || Ok::<_, anyhow::Error>(opened.open()?.all_items()?)).await.context("the export fell over")??;
    check_apart(std::slice::from_ref(target), source.dir.path())?;
    let mut exporter = Exporter::prepare(SnapshotRows::new(items), std::slice::from_ref(target), existing).await?;
    let rows = exporter.drain().await?;
    note!("{rows} items are in {target}");
    Ok(Exit::Done)
}

async fn storage(source: Source, folder: PathBuf, existing: Existing, signals: &mut Signals) -> Result<Exit> {
    let (halt, into) = (Halt::default(), folder.clone());
    let told = halt.clone();
    let mut work = spawn_blocking(move || write_storage(&source, &into, existing, &told));
    let mut done = tokio::select! {
        done = &mut work => Some(done),
        () = signals.next() => None,
    };
    if done.is_none() {
        halt.call();
        note!("taking away what was written; once more stops at once");
        done = tokio::select! {
            done = &mut work => Some(done),
            () = signals.next() => None,
        };
    }
    match done.transpose().context("the export fell over")? {
        Some(Ok(done)) => {
            say(&done, &folder);
            Ok(Exit::Done)
        }
        Some(Err(error)) if !matches!(error.downcast_ref(), Some(StorageError::Stopped)) => Err(error),
        stopped => {
            let left = if stopped.is_some() { "" } else { "; what it has written beside it goes with the next export" };
            note!("stopped; {} is as it was{left}", folder.display());
            Ok(Exit::Stopped)
        }
    }
}

fn write_storage(source: &Source, folder: &Path, existing: Existing, halt: &Halt) -> Result<Exported> {
    let job = source.open()?;
    let record = job.crawl();
    let ended_at = record.ending.as_ref().map(|ending| ending.at);
    let errors = ShownErrors {
        failed: job.errors(ErrorsOf::FailedRequests, SHOWN_ERRORS)?,
        retried: job.errors(ErrorsOf::RetriedAttempts, SHOWN_ERRORS)?,
    };
    let statistics = shown_statistics(record, &job.statistics()?, errors, ended_at);
    Ok(export_storage(job, folder, existing, &statistics, halt)?)
}

fn say(done: &Exported, folder: &Path) {
    note!("{} items, {} requests and {} records are in {}", done.items, done.requests, done.records, folder.display());
    if done.left_out > 0 {
        note!(
            "{} records were left out: their keys are too long to name a file, or are names of Crawlee's own files",
            done.left_out
        );
    }
    for name in done.renamed.iter().take(SHOWN_NAMES) {
        note!("`{}` is called `{}` there, since Crawlee has no such name, or another one has it", name.ours, name.theirs);
    }
    if done.renamed.len() > SHOWN_NAMES {
        note!("{} more have got other names", done.renamed.len() - SHOWN_NAMES);
    }
}

/// Ctrl-C and SIGTERM.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
