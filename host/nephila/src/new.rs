//! `nephila new NAME --lang LANGUAGE`: a project to begin with.

use crate::cli::NewOptions;
use crate::exit::Exit;
use crate::voice::put;
use anyhow::{Context, Result};
use nephila_build::{Language, scaffold};
use std::path::Path;

/// Makes the project, and says what can be done with it.
pub fn new(options: &NewOptions) -> Result<Exit> {
    let language = Language::of_word(&options.lang).context("the language is one of rust, js, ts, python, c")?;
    let project = scaffold::create(Path::new("."), &options.name, language)?;
    put!("{} is a plugin in {language}:\n", project.folder.display());
    for file in &project.files {
        put!("  {}\n", file.display());
    }
    put!("  sdk/ (the SDK and the contract; no network is needed for them)\n\nnext:\n");
    for command in &project.next {
        put!("  {command}\n");
    }
    Ok(Exit::Done)
}
