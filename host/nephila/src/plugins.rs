//! From what was written on the command line to a plugin's file.

use anyhow::{Result, anyhow};
use nephila_plugin::Plugin;
use std::path::{Path, PathBuf};

/// Where plugins are looked for by name.
pub const FOLDERS: [&str; 2] = ["plugins", "target/plugins"];

/// The file that `plugin` means: a path, or a name in one of the folders.
///
/// # Errors
/// Names the places that were looked at.
pub fn find(plugin: &str) -> Result<PathBuf> {
    let path = Path::new(plugin);
    if !is_name(plugin) || path.is_file() {
        return Ok(path.to_owned());
    }
    of_name(plugin).ok_or_else(|| {
        let [first, second] = candidates(plugin).map(|candidate| candidate.display().to_string());
        anyhow!("there is no plugin `{plugin}`: neither {first} nor {second} exists; give the path of a .wasm file or of a source, or see `nephila list`")
    })
}

/// The file of a plugin by its name, if it is in one of the folders.
pub fn of_name(plugin: &str) -> Option<PathBuf> {
    candidates(plugin).into_iter().find(|candidate| is_name(plugin) && candidate.is_file())
}

fn is_name(plugin: &str) -> bool {
    let path = Path::new(plugin);
    !plugin.is_empty() && path.extension().is_none() && path.components().count() == 1
}

fn candidates(plugin: &str) -> [PathBuf; 2] {
    FOLDERS.map(|folder| Path::new(folder).join(format!("{plugin}.wasm")))
}

/// The .wasm files of a folder, by name.
///
/// # Errors
/// If the folder cannot be read.
pub fn in_folder(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "wasm") && path.is_file())
        .collect();
    found.sort();
    Ok(found)
}

/// The entry points that a plugin exports, by name.
pub fn entry_points(plugin: &Plugin) -> Vec<&'static str> {
    let has = plugin.entry_points();
    let all = [
        (has.handler, "handler"),
        (has.manifest, "manifest"),
        (has.failure, "failure"),
        (has.finish, "finish"),
        (has.listener, "listener"),
        (has.sessions, "sessions"),
        (has.pipeline, "pipeline"),
    ];
    all.into_iter().filter_map(|(has, name)| has.then_some(name)).collect()
}
