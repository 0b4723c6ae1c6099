//! The kernel's files, under a root.
//!
//! Decision: every look at `/proc` and at cgroups goes through one root, so that a test can be a container, another kernel, or a
//! machine out of memory, by writing a few files.

use std::path::{Path, PathBuf};

/// Where the kernel's files are.
#[derive(Debug)]
pub(super) struct Files {
    root: PathBuf,
}

impl Files {
    /// Under this root; `/` for the kernel's own.
    pub(super) fn under(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Whether these are the kernel's own, so that calls of the kernel tell of the same process.
    pub(super) fn are_real(&self) -> bool {
        self.root == Path::new("/")
    }

    /// The text of a file; `None` if it cannot be read, which for the kernel's files means that it has no such thing.
    pub(super) fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = std::fs::read(self.place(path.as_ref())).ok()?;
        // A process may call itself whatever it likes.
        Some(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// The number that a file is.
    pub(super) fn number(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.read(path)?.trim().parse().ok()
    }

    /// The entries of a folder that are numbers.
    pub(super) fn numbered(&self, path: impl AsRef<Path>) -> Vec<u32> {
        let Ok(entries) = std::fs::read_dir(self.place(path.as_ref())) else { return Vec::new() };
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
    }

    fn place(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }
}

/// The number after a key, in a text of lines that are a key, blanks and a number (and perhaps a unit).
pub(super) fn value_of(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        if words.next()? == key { words.next()?.parse().ok() } else { None }
    })
}
