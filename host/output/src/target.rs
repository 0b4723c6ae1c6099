//! What `-o` says.
//!
//! Decision: a pipe is told by what is *there* (FIFO, character device), a file by its ending, and nothing is guessed: `items.json`
//! would be read by people as one JSON document, which it is not. The price: a pipe must exist before the crawl is started.

use crate::OutputError;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Endings of files of JSON lines.
const JSON_LINES: [&str; 3] = ["jsonl", "ndjson", "jl"];

/// Names of the process's own standard output.
const STDOUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// An output. What is written to it and how sure that is follows from its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Standard output, whatever that is connected to: at least once.
    Stdout,
    /// A named pipe or a character device: at least once.
    Pipe(PathBuf),
    /// A regular file of JSON lines, which may not exist yet: exactly once.
    File(PathBuf),
}

/// What to do with a file that has content and is not this job's. A file that *is* this job's is always continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Existing {
    /// Refuse it. The default.
    #[default]
    Refuse,
    /// Empty it, once, when the job begins to write it. Also lets a job write its file again that is gone.
    Overwrite,
    /// Keep it and go on at its end, on a line of its own.
    Append,
}

impl Target {
    /// Reads what the user gave.
    ///
    /// # Errors
    /// [`OutputError::UnknownEnding`], [`OutputError::Folder`], [`OutputError::NotWritable`].
    pub fn parse(given: &str) -> Result<Self, OutputError> {
        if STDOUT.contains(&given) {
            return Ok(Self::Stdout);
        }
        let path = PathBuf::from(given);
        if let Ok(kind) = fs::metadata(&path).map(|found| found.file_type()) {
            if kind.is_fifo() || kind.is_char_device() {
                return Ok(Self::Pipe(path));
            }
            if kind.is_dir() {
                return Err(OutputError::Folder { path });
            }
            if kind.is_block_device() || kind.is_socket() {
                return Err(OutputError::NotWritable { path });
            }
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let known = JSON_LINES.iter().any(|known| ending.eq_ignore_ascii_case(known));
        // A URL with such an ending is not a path, and a name with a slash at its end is no file.
        if !known || given.contains("://") || given.ends_with('/') {
            return Err(OutputError::UnknownEnding { target: given.to_owned() });
        }
        Ok(Self::File(path))
    }

    /// What the store keeps its cursor under: the same place has the same name from whichever folder it is given.
    ///
    /// The folder is resolved, the file's own name is not: a link stays the name that the user chose, also when it points nowhere.
    pub(crate) fn identity(&self) -> Result<String, OutputError> {
        match self {
            Self::Stdout => Ok("stdout".to_owned()),
            Self::Pipe(path) => Ok(format!("pipe:{}", absolute(path)?.display())),
            Self::File(path) => Ok(format!("jsonl:{}", absolute(path)?.display())),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("-"),
            Self::Pipe(path) | Self::File(path) => path.display().fmt(f),
        }
    }
}

/// The folder that a file is in.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn absolute(path: &Path) -> Result<PathBuf, OutputError> {
    let folder = folder(path);
    let resolved = fs::canonicalize(folder).map_err(|cause| match cause.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            OutputError::NoFolder { path: path.to_owned(), folder: folder.to_owned() }
        }
        _ => OutputError::Unusable { path: path.to_owned(), action: "reach", cause },
    })?;
    Ok(resolved.join(path.file_name().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dash_and_its_other_names_are_standard_output() {
        for name in STDOUT {
            assert_eq!(Target::parse(name).unwrap(), Target::Stdout);
        }
    }

    #[test]
    fn a_file_is_told_by_its_ending() {
        for name in ["a.jsonl", "b/c.ndjson", "/nowhere/d.jl", "E.JSONL"] {
            assert_eq!(Target::parse(name).unwrap(), Target::File(name.into()));
        }
        for name in ["", "a", "a.json", "a.csv", ".jsonl", "a.jsonl/", "postgresql://host/db", "s3://bucket/a.jsonl"] {
            let error = Target::parse(name).unwrap_err();
            assert!(
                error.to_string().ends_with("known endings: .jsonl, .ndjson, .jl, and - for standard output"),
                "{name}: {error}"
            );
            assert!(!error.is_resumable_stop());
        }
    }

    #[test]
    fn a_device_is_a_pipe_and_a_folder_is_nothing() {
        assert_eq!(Target::parse("/dev/null").unwrap(), Target::Pipe("/dev/null".into()));
        assert!(matches!(Target::parse("/tmp"), Err(OutputError::Folder { .. })));
    }

    #[test]
    fn the_same_file_has_one_identity() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        let plain = Target::File(folder.path().join("a.jsonl")).identity().unwrap();
        assert_eq!(Target::File(folder.path().join("sub/../a.jsonl")).identity().unwrap(), plain);
        assert_ne!(Target::File(folder.path().join("b.jsonl")).identity().unwrap(), plain);
        let missing = Target::File(folder.path().join("none/a.jsonl"));
        assert!(matches!(missing.identity(), Err(OutputError::NoFolder { .. })));
    }
}
