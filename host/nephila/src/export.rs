//! `nephila export DIR -o TARGET`: what a job has, written somewhere else, as one moment has it; also while it runs.
//!
//! Decision: a signal ends it, and what is said then is what is there. A storage folder is cleared away first, which takes a
//! moment for a large one; a second signal does not wait for that, and then the next export to the same folder does it.

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

/// What is said of work that panicked.
const FELL_OVER: &str = "the export fell over";

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

/// How far an export of items has got.
#[derive(Debug, Clone, Copy)]
enum Progress {
    /// Not to the first item.
    Preparing,
    /// Items are written.
    Writing {
        /// Bytes before them: what a file has from others.
        kept: u64,
    },
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
            Destination::Items(target) => {
                let mut progress = Progress::Preparing;
                tokio::select! {
                    done = items(&source, &target, existing, &mut progress) => done?,
                    () = signals.next() => {
                        note!("{}", items_stopped(&target, progress));
                        Exit::Stopped
                    }
                }
            }
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

async fn items(source: &Source, target: &Target, existing: Existing, progress: &mut Progress) -> Result<Exit> {
    let opened = source.clone();
    let items = spawn_blocking(move || Ok::<_, anyhow::Error>(opened.open()?.all_items()?)).await.context(FELL_OVER)??;
    check_apart(std::slice::from_ref(target), source.dir.path())?;
    let mut exporter = Exporter::prepare(SnapshotRows::new(items), std::slice::from_ref(target), existing).await?;
    let kept = match target {
        // It is locked by now, and nobody else's bytes are counted as the export's.
        Target::File(path) => std::fs::metadata(path).with_context(|| format!("{target} cannot be looked at"))?.len(),
        Target::Pipe(_) | Target::Stdout => 0,
    };
    *progress = Progress::Writing { kept };
    let rows = exporter.drain().await?;
    note!("{rows} items are in {target}");
    Ok(Exit::Done)
}

// An export begins anew, so what it has written is to be gone before, and nothing else.
fn items_stopped(target: &Target, progress: Progress) -> String {
    match (target, progress) {
        (_, Progress::Preparing) => format!("stopped before an item was written to {target}; run the same command again"),
        (Target::Pipe(_) | Target::Stdout, _) => {
            format!("stopped; {target} has got a part of the items at most, and an export begins anew")
        }
        (Target::File(_), Progress::Writing { kept: 0 }) => {
            format!("stopped; {target} has a part of the items at most, and nothing else: with --overwrite an export begins anew")
        }
        (Target::File(_), Progress::Writing { kept }) => format!(
            "stopped; {target} has the {kept} bytes that were in it, and a part of the items at most behind them; before you run \
             the same command again, cut it back to that length, as in: truncate -s {kept} {target}"
        ),
    }
}

async fn storage(source: Source, folder: PathBuf, existing: Existing, signals: &mut Signals) -> Result<Exit> {
    let (halt, into) = (Halt::default(), folder.clone());
    let told = halt.clone();
    let mut work = spawn_blocking(move || write_storage(&source, &into, existing, &told));
    tokio::select! {
        done = &mut work => {
            say(&done.context(FELL_OVER)??, &folder);
            return Ok(Exit::Done);
        }
        () = signals.next() => {}
    }
    halt.call();
    note!("stopping, and taking away what is not whole; once more stops at once");
    let done = tokio::select! {
        done = work => Some(done.context(FELL_OVER)?),
        () = signals.next() => None,
    };
    note!("{}", storage_stopped(done, &folder)?);
    Ok(Exit::Stopped)
}

// How it ended that was told to stop; `None` if it was not waited for.
fn storage_stopped(done: Option<Result<Exported>>, folder: &Path) -> Result<String> {
    let is = match done {
        // It came too late.
        Some(Ok(_)) => "complete",
        Some(Err(error)) if matches!(error.downcast_ref(), Some(StorageError::Stopped)) => "as it was",
        Some(Err(error)) => return Err(error),
        None => "as it was, or complete; what is left beside it goes with the next export",
    };
    Ok(format!("stopped; {} is {is}", folder.display()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_stopped_export_of_items_costs_nobody_what_was_there() {
        let (file, pipe) = (Target::File("a.jsonl".into()), Target::Pipe("pipe".into()));
        for target in [&file, &pipe, &Target::Stdout] {
            let said = items_stopped(target, Progress::Preparing);
            assert!(said.contains("before an item was written") && said.contains("the same command again"), "{said}");
            let said = items_stopped(target, Progress::Writing { kept: 0 });
            assert_eq!(said.contains("--overwrite"), *target == file, "{said}");
        }
        let said = items_stopped(&file, Progress::Writing { kept: 812 });
        assert!(said.ends_with("truncate -s 812 a.jsonl") && !said.contains("--overwrite"), "{said}");
    }

    #[test]
    fn what_is_said_of_a_stopped_storage_is_what_is_there() {
        let said = |done| storage_stopped(done, Path::new("storage")).expect("words");
        assert_eq!(said(Some(Ok(Exported::default()))), "stopped; storage is complete");
        assert_eq!(said(Some(Err(StorageError::Stopped.into()))), "stopped; storage is as it was");
        assert!(said(None).starts_with("stopped; storage is as it was, or complete; "), "{}", said(None));
        let gone = StorageError::NotAFolder { path: "storage".into() };
        assert!(storage_stopped(Some(Err(gone.into())), Path::new("storage")).is_err());
    }
}
