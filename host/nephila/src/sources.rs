//! From what was written on the command line to a component: a file, a name, or a source that is built first.

use crate::plugins;
use crate::voice::note;
use anyhow::{Context, Result};
use nephila_build::{Builder, Built, Folders, Missing, Source, is_source, sdk_is_current};
use std::path::{Path, PathBuf};

/// A plugin, found.
#[derive(Debug)]
pub struct Found {
    /// The component.
    pub file: PathBuf,
    /// What it was built from, if it was.
    pub source: Option<Watched>,
}

/// A source, and the files that went into its last build.
#[derive(Debug)]
pub struct Watched {
    /// The source.
    pub source: Source,
    /// Its files.
    pub inputs: Vec<PathBuf>,
}

/// The component that `plugin` means. A name that `nephila list` shows comes before a folder of that name; `./NAME` is the folder.
///
/// # Errors
/// Names what was looked at, or what is wrong in the source.
pub async fn component(plugin: &str) -> Result<Found> {
    let path = Path::new(plugin);
    if !is_source(path) {
        return Ok(Found { file: plugins::find(plugin)?, source: None });
    }
    if let Some(file) = plugins::of_name(plugin) {
        return Ok(Found { file, source: None });
    }
    let source = Source::find(path)?;
    note_old_sdk(&source);
    let built = build(source.clone()).await?;
    Ok(Found { file: built.component, source: Some(Watched { source, inputs: built.inputs }) })
}

/// Builds a source, or takes what was built of it before.
///
/// # Errors
/// What is wrong in the source, or missing to build it.
pub async fn build(source: Source) -> Result<Built> {
    let builder = Builder::new(Folders::of_user()?, Missing::Say);
    let shown = source.main.display().to_string();
    let language = source.language;
    blocking(move || Ok(builder.cached(&source, || note!("building {shown} ({language})"))?)).await
}

/// Says that a project carries the SDK of another release; it is built with that one.
pub fn note_old_sdk(source: &Source) {
    if source.own_sdk().is_some_and(|sdk| !sdk_is_current(&sdk)) {
        note!("the project's folder sdk is not that of this nephila; `nephila build --update-sdk` replaces it");
    }
}

/// Work that waits for other programs, off the threads of the runtime.
///
/// # Errors
/// The work's own.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.context("the build fell over; this is a defect, please report it")?
}
