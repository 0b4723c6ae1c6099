//! Which store a crawl is kept in, from the options of the command line.

use crate::cli::RunOptions;
use crate::runs;
use anyhow::{Result, bail};
use nephila_crawler::{CrawlSettings, NamedStorages, PowerLoss};
use nephila_store::{Company, Durability, JobDir, MemoryStore, SqliteStore, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a crawl is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In memory: gone with the process.
    Memory,
    /// In a folder, with who else may be in it.
    Folder(PathBuf, Company),
}

impl Place {
    /// What the options say.
    ///
    /// # Errors
    /// If they name a store that is not known, or a run that is not there.
    pub fn of(options: &RunOptions, plugin: &str) -> Result<Self> {
        if let Some(url) = &options.store {
            return match url.split_once(':') {
                Some(("memory", "")) => Ok(Self::Memory),
                Some(("sqlite", dir)) if !dir.is_empty() => Ok(Self::Folder(PathBuf::from(dir), Company::Shared)),
                _ => bail!("--store {url}: the stores are memory: and sqlite:DIR"),
            };
        }
        let dir = match &options.job {
            Some(dir) => dir.clone(),
            None if options.resume => runs::last_unfinished(plugin)?,
            None => runs::fresh(plugin)?,
        };
        Ok(Self::Folder(dir, Company::Alone))
    }

    /// Who else may be in the store.
    pub fn company(&self) -> Company {
        match self {
            Self::Memory => Company::Alone,
            Self::Folder(_, company) => *company,
        }
    }

    /// What becomes of what a crawl writes there under a name.
    pub fn named_storages(&self, options: &RunOptions) -> NamedStorages {
        match self {
            Self::Folder(..) if options.job.is_none() && options.store.is_none() => NamedStorages::GoWithTheRun,
            Self::Folder(..) | Self::Memory => NamedStorages::Kept,
        }
    }

    /// Whether there is a job already.
    pub fn exists(&self) -> bool {
        match self {
            Self::Memory => false,
            Self::Folder(dir, _) => JobDir::existing(dir).is_ok(),
        }
    }

    /// The folder, if there is one.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Memory => None,
            Self::Folder(dir, _) => Some(dir),
        }
    }

    /// Opens the store.
    ///
    /// # Errors
    /// What the store says.
    pub fn open(&self, settings: &CrawlSettings) -> Result<Arc<dyn Store>> {
        let durability = match settings.power_loss {
            PowerLoss::Ignored => Durability::Kill,
            PowerLoss::Survived => Durability::PowerLoss,
        };
        Ok(match self {
            Self::Memory => Arc::new(MemoryStore::new()?),
            Self::Folder(dir, _) => {
                let (dir, lock) = JobDir::open_or_create(dir)?;
                Arc::new(SqliteStore::open(dir, lock, durability)?)
            }
        })
    }
}
