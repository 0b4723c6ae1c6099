//! From what was written on the command line to a plugin's file.

use anyhow::{Result, anyhow, bail};
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
    // What has a file's ending and is not there, whoever loads it says.
    if path.is_file() || (!is_name(plugin) && path.extension().is_some()) {
        return Ok(path.to_owned());
    }
    if !is_name(plugin) {
        bail!(
            "there is no file or folder `{plugin}`; looked for a component (a .wasm file) or a source: a folder with a \
             Cargo.toml, package.json, pyproject.toml or crawler.py, .c, .ts or .js in it; `nephila new NAME --lang LANGUAGE` \
             makes one, and `nephila list` shows the plugins that there are"
        );
    }
    of_name(plugin).ok_or_else(|| {
        let [first, second] = candidates(plugin).map(|candidate| candidate.display().to_string());
        anyhow!(
            "there is no plugin `{plugin}`: neither {first} nor {second} exists, nor a folder {plugin} with a source; give the \
             path of a .wasm file or of a source, or see `nephila list`"
        )
    })
}

/// The file of a plugin by its name, if it is in one of the folders.
pub fn of_name(plugin: &str) -> Option<PathBuf> {
    candidates(plugin).into_iter().find(|candidate| is_name(plugin) && candidate.is_file())
}

fn is_name(plugin: &str) -> bool {
    let path = Path::new(plugin);
    !plugin.is_empty() && !plugin.ends_with('/') && path.extension().is_none() && path.components().count() == 1
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_said_with_what_was_looked_for() {
        let refused = |plugin: &str| find(plugin).expect_err(plugin).to_string();
        for path in ["nosuchdir/", "some/where", "./nosuchdir"] {
            let error = refused(path);
            assert!(error.contains(&format!("no file or folder `{path}`")) && error.contains("Cargo.toml"), "{error}");
            assert!(!error.contains("plugins/"), "{error}");
        }
        let error = refused("nosuchname");
        assert!(error.contains("target/plugins/nosuchname.wasm") && error.contains("nephila list"), "{error}");
        assert_eq!(find("gone.wasm").expect("left to whoever loads it"), Path::new("gone.wasm"));
    }
}
