//! All outputs of one crawl, from before it begins to its end.
//!
//! Decision: one task feeds all outputs, one after the other, files first. Sinks know nothing of each other, and when one fails the others
//! still get what is committed. The price: a pipe whose reader is stalled holds up the files behind it until it reads on; they lose
//! nothing, since they read from the dataset.

use crate::jsonl::{JsonlFile, Opened};
use crate::pipe::{self, Pipe};
use crate::rows::NoRows;
use crate::{Existing, OutputError, Rows, Target, check};
use nephila_model::{Profile, Step};
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// How long a file is left alone after it was drained: one sync of the disk for all rows of that time.
const FILE_PACE: Duration = Duration::from_secs(1);

/// The outputs of a crawl. After an error it is of no more use: drop it, and prepare another.
pub struct Exporter<R> {
    rows: R,
    files: Vec<JsonlFile>,
    pipes: Vec<Pipe>,
    profile: Arc<Profile>,
}

impl<R> fmt::Debug for Exporter<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exporter").field("files", &self.files).field("pipes", &self.pipes).finish_non_exhaustive()
    }
}

impl<R: Rows> Exporter<R> {
    /// Makes ready to write these outputs. All are checked before the first is taken: on a refusal nothing has changed, neither on the
    /// disk nor in the store. Waits for a named pipe's reader; to stop waiting, drop the future.
    ///
    /// # Errors
    /// A refusal, or what the store says.
    pub async fn prepare(rows: R, targets: &[Target], existing: Existing) -> Result<Self, OutputError> {
        let names = distinct(targets)?;
        let (mut files, mut pipes) = (Vec::new(), Vec::new());
        for (target, name) in targets.iter().zip(names) {
            match target {
                Target::File(path) => files.push(check::check(&rows, path, name, existing).await?),
                Target::Stdout | Target::Pipe(_) => pipes.push(pipe::check(&rows, target, name).await?),
            }
        }
        // Pipes first: who gives up waiting for a reader leaves no empty files behind.
        let pipes = open_pipes(pipes).await?;
        let opened = open_files(files).await?;
        let mut files = Vec::with_capacity(opened.len());
        for file in opened {
            files.push(file.begin(&rows).await?);
        }
        Ok(Self { rows, files, pipes, profile: Arc::default() })
    }

    /// Adds the time that it takes to this profile, as the step [`Step::Export`].
    #[must_use]
    pub fn profiled(self, profile: Arc<Profile>) -> Self {
        Self { profile, ..self }
    }

    /// Writes everything that is committed now, and says how many rows that were, over all outputs.
    ///
    /// # Errors
    /// The first output's that failed; the others are drained all the same.
    pub async fn drain(&mut self) -> Result<u64, OutputError> {
        let files = self.drain_files().await;
        let pipes = self.drain_pipes().await;
        Ok(files? + pipes?)
    }

    /// Writes while the crawl runs. `committed` is the number of committed items, or anything else that changes with it. Pipes are written
    /// at once, files about once a second. When `end` is ready, or nobody can change `committed` any more, writes what is committed by
    /// then and returns how many rows were written since the beginning, over all outputs.
    ///
    /// # Errors
    /// As [`Self::drain`], at once: the crawl is to be stopped then.
    pub async fn run(
        mut self,
        mut committed: watch::Receiver<u64>,
        end: impl Future<Output = ()> + Send,
    ) -> Result<u64, OutputError> {
        let mut end = pin!(end);
        // What is committed already is not announced again.
        committed.borrow_and_update();
        let mut written = self.drain().await?;
        let mut next_files = Instant::now() + FILE_PACE;
        let mut behind = false;
        loop {
            tokio::select! {
                biased;
                () = &mut end => break,
                () = sleep_until(next_files), if behind => {
                    behind = false;
                    written += self.drain_files().await?;
                    next_files = Instant::now() + FILE_PACE;
                }
                changed = committed.changed() => {
                    if changed.is_err() {
                        break;
                    }
                    behind = true;
                    written += self.drain_pipes().await?;
                }
            }
        }
        Ok(written + self.drain().await?)
    }

    async fn drain_files(&mut self) -> Result<u64, OutputError> {
        let (began, mut all) = (Instant::now(), Ok(0));
        for file in &mut self.files {
            all = both(all, file.drain(&self.rows).await);
        }
        self.profile.since(Step::Export, began.into());
        all
    }

    async fn drain_pipes(&mut self) -> Result<u64, OutputError> {
        let (began, mut all) = (Instant::now(), Ok(0));
        for pipe in &mut self.pipes {
            all = both(all, pipe.drain(&self.rows).await);
        }
        self.profile.since(Step::Export, began.into());
        all
    }
}

/// Refuses what [`Exporter::prepare`] would refuse, and changes nothing.
///
/// # Errors
/// A refusal, or what the store says.
pub async fn check_all<R: Rows>(rows: &R, targets: &[Target], existing: Existing) -> Result<(), OutputError> {
    for (target, name) in targets.iter().zip(distinct(targets)?) {
        match target {
            Target::File(path) => drop(check::check(rows, path, name, existing).await?),
            Target::Stdout | Target::Pipe(_) => drop(pipe::check(rows, target, name).await?),
        }
    }
    Ok(())
}

/// Refuses what a job that does not exist yet could not write, so that none is made in vain.
///
/// # Errors
/// A refusal.
pub async fn check_new(targets: &[Target], existing: Existing) -> Result<(), OutputError> {
    check_all(&NoRows, targets, existing).await
}

/// The first error, or the sum. A second error is logged, so that nothing disappears silently.
fn both(before: Result<u64, OutputError>, next: Result<u64, OutputError>) -> Result<u64, OutputError> {
    match (before, next) {
        (Ok(before), Ok(next)) => Ok(before + next),
        (Err(first), Err(error)) => {
            tracing::warn!(%error, "another output failed as well");
            Err(first)
        }
        (Err(error), Ok(_)) | (Ok(_), Err(error)) => Err(error),
    }
}

/// The names of the targets in the store; no two may be the same.
fn distinct(targets: &[Target]) -> Result<Vec<String>, OutputError> {
    let mut seen = BTreeMap::new();
    let mut names = Vec::with_capacity(targets.len());
    for target in targets {
        let name = target.identity()?;
        if let Some(first) = seen.insert(name.clone(), target) {
            return Err(OutputError::Twice { target: target.to_string(), first: first.to_string() });
        }
        names.push(name);
    }
    Ok(names)
}

async fn open_pipes(checked: Vec<pipe::Checked>) -> Result<Vec<Pipe>, OutputError> {
    let mut opened = Vec::with_capacity(checked.len());
    for pipe in checked {
        opened.push(pipe.open().await?);
    }
    Ok(opened)
}

async fn open_files(checked: Vec<check::Checked>) -> Result<Vec<Opened>, OutputError> {
    let mut opened = Vec::with_capacity(checked.len());
    for file in checked {
        match Opened::open(file).await {
            Ok(file) => opened.push(file),
            Err(refused) => {
                opened.into_iter().for_each(Opened::undo);
                return Err(refused);
            }
        }
    }
    Ok(opened)
}
