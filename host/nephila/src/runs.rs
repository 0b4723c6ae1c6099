//! Where crawls without `--job` are kept: a folder each under ./storage/runs.
//!
//! Decision: a name that sorts by time, so that "the last" needs no index. Of each plugin the last five that are done are kept, and the last
//! five that were interrupted, so that no number of quick tries costs anybody a long crawl. A folder that is in use is never removed.

use crate::cli::RunOptions;
use crate::exit::Interrupted;
use crate::stores::Place;
use anyhow::{Context, Error, Result, bail};
use nephila_crawler::{CrawlReport, CrawlStatus};
use nephila_model::Timestamp;
use nephila_store::{JobDir, JobStatus, read_status};
use std::path::{Path, PathBuf};

const FOLDER: &str = "storage/runs";

/// Runs of a plugin that are kept, of those that are done and of those that were interrupted.
const KEPT: usize = 5;

/// A folder for a new run of a plugin. It is not made yet.
///
/// # Errors
/// If no name is free.
pub fn fresh(plugin: &str) -> Result<PathBuf> {
    let at = Timestamp::now().as_millis();
    // Two runs that begin within a millisecond take turns.
    let names = (0..1_000).map(|again| Path::new(FOLDER).join(format!("{:015}-{plugin}", at + again)));
    match names.into_iter().find(|folder| !folder.exists()) {
        Some(folder) => Ok(folder),
        None => bail!("{FOLDER} has no free name; remove some of its folders"),
    }
}

/// Removes this plugin's oldest runs beyond those that are kept. What is in use, or is no job, stays.
///
/// # Errors
/// If the folder cannot be read, or a run not be removed.
pub fn prune(plugin: &str) -> Result<()> {
    let (mut done, mut interrupted) = (0, 0);
    for folder in newest_first()? {
        let Some(status) = look(&folder).filter(|status| status.crawl.plugin_name == plugin) else { continue };
        // One that runs, such as this one, will be done.
        let kind = if !status.in_use && is_interrupted(&status) { &mut interrupted } else { &mut done };
        *kind += 1;
        if *kind > KEPT && !status.in_use {
            std::fs::remove_dir_all(&folder).with_context(|| format!("the old run {} cannot be removed", folder.display()))?;
        }
    }
    Ok(())
}

/// This plugin's last run that was interrupted: by a signal, a crash, a full disk, a failure that was to end it, a `finish` that failed.
///
/// # Errors
/// If there is none, with the way out.
pub fn last_unfinished(plugin: &str) -> Result<PathBuf> {
    let unfinished = |folder: &PathBuf| {
        look(folder).is_some_and(|status| status.crawl.plugin_name == plugin && !status.in_use && is_interrupted(&status))
    };
    match newest_first()?.into_iter().find(unfinished) {
        Some(folder) => Ok(folder),
        None => bail!("no unfinished crawl of `{plugin}` is kept under {FOLDER}; leave --resume out to start one"),
    }
}

/// How a crawl that was interrupted goes on, as the end of a sentence.
pub fn way_on(options: &RunOptions, place: &Place) -> &'static str {
    match place {
        Place::Memory => "its state was in memory and is gone",
        Place::Folder(..) if is_run(options) => "to go on, run the same command with --resume",
        Place::Folder(..) => "to go on, run the same command again",
    }
}

/// What is to be added to "run the same command again", so that it finds this crawl. `--resume` passes over finished ones.
pub fn found_by(options: &RunOptions, place: &Place, report: &CrawlReport) -> String {
    match place {
        Place::Memory => " (it begins anew, since its state was in memory)".to_owned(),
        Place::Folder(..) if !is_run(options) || options.resume && report.is_resumable() => String::new(),
        Place::Folder(..) if report.is_resumable() => " (since it has no --job, with --resume)".to_owned(),
        Place::Folder(folder, _) => format!(" (with --job {}, where this crawl is kept)", folder.display()),
    }
}

/// An error of a crawl that `--resume` chose says which one that was.
pub fn named(error: Error, options: &RunOptions, place: &Place) -> Error {
    match place.folder() {
        Some(folder) if options.resume && !error.is::<Interrupted>() => error.context(format!(
            "--resume took {}, the newest unfinished crawl of this plugin (another one is resumed with --job DIR)",
            folder.display()
        )),
        _ => error,
    }
}

fn is_run(options: &RunOptions) -> bool {
    options.job.is_none() && options.store.is_none()
}

fn look(folder: &Path) -> Option<JobStatus> {
    JobDir::existing(folder).and_then(|dir| read_status(&dir)).ok()
}

fn is_interrupted(status: &JobStatus) -> bool {
    let goes_on = [CrawlStatus::Paused.as_str(), CrawlStatus::Failed.as_str()];
    status.crawl.ending.as_ref().is_none_or(|ending| goes_on.contains(&ending.status.as_str()))
}

fn newest_first() -> Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(FOLDER) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("{FOLDER} cannot be read")),
    };
    let mut folders: Vec<PathBuf> =
        entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders.reverse();
    Ok(folders)
}
