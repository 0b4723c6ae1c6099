//! The `-o` targets of a crawl: checked before it begins, fed while it runs.

use crate::cli::RunOptions;
use crate::stores::Place;
use anyhow::{Context, Result, bail};
use nephila_crawler::Stopper;
use nephila_model::{CrawlId, Profile};
use nephila_output::{CrawlRows, Existing, Exporter, Target};
use nephila_store::Store;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What the command line asks for.
pub struct Outputs {
    targets: Vec<Target>,
    existing: Existing,
}

/// Outputs that are ready to be written.
pub struct Prepared(Option<Exporter<CrawlRows>>);

/// Outputs that are being written.
pub struct Exports(Option<JoinHandle<Result<u64>>>);

impl Outputs {
    /// Reads the options.
    ///
    /// # Errors
    /// If a target is of no known kind.
    pub fn parse(options: &RunOptions) -> Result<Self> {
        let targets = options.outputs.iter().map(|target| Ok(Target::parse(target)?)).collect::<Result<Vec<_>>>()?;
        let existing = match (options.overwrite, options.append) {
            (true, _) => Existing::Overwrite,
            (_, true) => Existing::Append,
            _ => Existing::Refuse,
        };
        Ok(Self { targets, existing })
    }

    /// Refuses what a new job could not write, before there is one.
    ///
    /// # Errors
    /// What the output says.
    pub async fn check_new(&self) -> Result<()> {
        Ok(nephila_output::check_new(&self.targets, self.existing).await?)
    }

    /// Refuses what this crawl, or a new one, could not write, before it is opened.
    ///
    /// # Errors
    /// What the output says; then nothing has changed.
    pub async fn check(&self, store: &Arc<dyn Store>, crawl: Option<CrawlId>, place: &Place) -> Result<()> {
        if let Some(folder) = place.folder() {
            check_apart(&self.targets, folder)?;
        }
        match crawl {
            None => self.check_new().await,
            Some(crawl) => {
                let rows = CrawlRows::new(Arc::clone(store), crawl);
                Ok(nephila_output::check_all(&rows, &self.targets, self.existing).await?)
            }
        }
    }

    /// Takes the targets.
    ///
    /// # Errors
    /// What the output says; then nothing has changed.
    pub async fn prepare(self, store: Arc<dyn Store>, crawl: CrawlId) -> Result<Prepared> {
        if self.targets.is_empty() {
            return Ok(Prepared(None));
        }
        let rows = CrawlRows::new(store, crawl);
        Ok(Prepared(Some(Exporter::prepare(rows, &self.targets, self.existing).await?)))
    }
}

impl Prepared {
    /// Writes from now on, until nobody can commit any more. If an output fails, the crawl is asked to stop.
    pub fn start(self, committed: watch::Receiver<u64>, stopper: Stopper, profile: Arc<Profile>) -> Exports {
        Exports(self.0.map(|exporter| {
            let exporter = exporter.profiled(profile);
            tokio::spawn(async move {
                let written = exporter.run(committed, std::future::pending()).await;
                if let Err(error) = &written {
                    stopper.fail(error.to_string());
                }
                Ok(written?)
            })
        }))
    }
}

impl Exports {
    /// Waits until everything that was committed is written, and says how many rows that were.
    ///
    /// # Errors
    /// What the output says. Everything is in the job's dataset; the same command writes the rest.
    pub async fn finish(self) -> Result<u64> {
        match self.0 {
            None => Ok(0),
            Some(task) => task.await.context("writing the outputs panicked; this is a defect, please report it")?,
        }
    }
}

/// Refuses a file of the job itself, by whatever name: through a link it would be emptied or appended to.
///
/// # Errors
/// If one of the targets is such a file.
pub fn check_apart(targets: &[Target], job: &Path) -> Result<()> {
    let files = std::fs::read_dir(job).into_iter().flatten().filter_map(|entry| entry.ok()?.metadata().ok());
    let own: Vec<(u64, u64)> = files.map(|data| (data.dev(), data.ino())).collect();
    for target in targets {
        if let Target::File(path) = target
            && let Ok(data) = std::fs::metadata(path)
            && own.contains(&(data.dev(), data.ino()))
        {
            bail!("{} is a file of the job {} itself; give another file to -o", path.display(), job.display());
        }
    }
    Ok(())
}

/// Whether a target is standard output, by whichever of its names.
pub fn is_stdout(target: &str) -> bool {
    matches!(Target::parse(target), Ok(Target::Stdout))
}
