//! The files that a source is made of, and whether they have changed.

use crate::Source;
use crate::source::Extent;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Folders of a project that nothing is built of: made by tools, by crawls, or for checks.
const APART: [&str; 7] = ["target", "node_modules", "__pycache__", "storage", "venv", "dist", "fixtures"];

/// Files of a project at most; what is beyond them is no crawler.
const MOST: usize = 5_000;

/// A path that does not depend on the folder that the process is in.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

/// The files of a project, in order; of a single file nothing, since only its tools know what it imports.
pub(crate) fn of_project(source: &Source) -> Vec<PathBuf> {
    let mut files = Vec::new();
    if source.extent == Extent::Project {
        collect(&absolute(&source.folder), source, &mut files);
        files.sort();
    }
    files
}

fn collect(folder: &Path, source: &Source, files: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') || files.len() >= MOST {
            continue;
        }
        // A link to a folder may lead round in a circle.
        if path.is_dir() && !path.is_symlink() {
            if !APART.contains(&name.as_str()) {
                collect(&path, source, files);
            }
        } else if path.extension().is_some_and(|ending| source.language.endings().iter().any(|known| ending == *known))
            && path.is_file()
        {
            files.push(path);
        }
    }
}

/// All that a build was made of: the project, and what its tools say went in.
pub(crate) fn of_build(source: &Source, told: &[PathBuf]) -> Vec<PathBuf> {
    let mut files = of_project(source);
    files.extend(told.iter().map(|path| absolute(path)).filter(|path| path.is_file()));
    files.push(absolute(&source.main));
    if told.is_empty() && source.extent == Extent::File {
        // A tool that says nothing: what is beside the file and could be imported.
        let beside =
            std::fs::read_dir(absolute(&source.folder)).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
        files.extend(beside.filter(|path| path.is_file() && crate::Language::of_file(path) == Some(source.language)));
    }
    files.sort();
    files.dedup();
    files
}

/// How files stood at a moment, to see whether they have been saved since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    files: BTreeMap<PathBuf, Option<(SystemTime, u64)>>,
}

impl Snapshot {
    /// Of a source: the files that went into its last build, and those that its folder has now.
    pub fn of(source: &Source, inputs: &[PathBuf]) -> Self {
        let project = of_project(source);
        let state = |path: &Path| {
            let file = path.metadata().ok()?;
            Some((file.modified().ok()?, file.len()))
        };
        let all = inputs.iter().chain(&project).chain([&source.main]);
        Self { files: all.map(|path| (path.clone(), state(path))).collect() }
    }

    /// Whether a file was written at or after a moment. cargo's lock file is written by the build itself.
    pub(crate) fn has_newer(&self, moment: SystemTime) -> bool {
        let by_author = |path: &Path| !path.ends_with("Cargo.lock");
        self.files.iter().any(|(path, state)| by_author(path) && state.is_some_and(|(modified, _)| modified >= moment))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sdk::write;

    #[test]
    fn a_project_is_its_sources_without_what_tools_make() {
        let place = tempfile::tempdir().unwrap();
        let all =
            ["Cargo.toml", "src/lib.rs", "sdk/wit/x.rs", "target/debug/made.rs", ".git/x.rs", "notes.txt", "storage/x.toml"];
        for name in all {
            write(&place.path().join(name), b"nephila-sdk").unwrap();
        }
        let source = Source::find(place.path()).unwrap();
        let root = absolute(place.path());
        let names: Vec<String> =
            of_project(&source).iter().map(|path| path.strip_prefix(&root).unwrap().display().to_string()).collect();
        assert_eq!(names, ["Cargo.toml", "sdk/wit/x.rs", "src/lib.rs"]);
    }

    #[test]
    fn a_snapshot_differs_once_a_file_is_saved_or_added() {
        let place = tempfile::tempdir().unwrap();
        write(&place.path().join("pyproject.toml"), b"").unwrap();
        write(&place.path().join("crawler.py"), b"one").unwrap();
        let source = Source::find(place.path()).unwrap();
        let before = Snapshot::of(&source, &[]);
        assert_eq!(Snapshot::of(&source, &[]), before);
        write(&place.path().join("crawler.py"), b"one more").unwrap();
        let saved = Snapshot::of(&source, &[]);
        assert_ne!(saved, before);
        write(&place.path().join("text.py"), b"").unwrap();
        assert_ne!(Snapshot::of(&source, &[]), saved);
    }

    #[test]
    fn a_single_file_whose_tools_say_nothing_has_its_neighbours() {
        let place = tempfile::tempdir().unwrap();
        for name in ["crawler.py", "text.py", "data.json"] {
            write(&place.path().join(name), b"").unwrap();
        }
        let source = Source::find(&place.path().join("crawler.py")).unwrap();
        assert_eq!(of_build(&source, &[]).len(), 2);
        assert_eq!(of_build(&source, &[place.path().join("crawler.py")]).len(), 1);
    }
}
