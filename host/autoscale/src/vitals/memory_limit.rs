//! The cgroup's limit of memory that is tightest, and what is used of it.
//!
//! Decision: the smallest limit on the way up wins; among equals the outermost, which more must share. Used is what the kernel
//! could not have back by dropping file pages: a crawl that writes a large database fills its cgroup with them, and is nowhere
//! near its end.

use super::Scope;
use super::cgroup::{Controller, Lineage, Version};
use super::files::{Files, value_of};
use std::path::{Path, PathBuf};

/// A limit, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MemoryLimit {
    version: Version,
    folder: PathBuf,
    bytes: u64,
}

impl MemoryLimit {
    /// The tightest one, if there is any.
    pub(super) fn find(files: &Files) -> Option<Self> {
        let Lineage { version, folders } = Lineage::find(files, Controller::Memory)?;
        let seen = folders.iter().filter_map(|folder| Some((folder, own_limit(files, version, folder)?)));
        let tightest = seen.reduce(|least, next| if next.1 <= least.1 { next } else { least });
        // Version 1 also tells of limits above the mount.
        let hidden = match version {
            Version::One => {
                folders.first().and_then(|own| value_of(&files.read(own.join("memory.stat"))?, "hierarchical_memory_limit"))
            }
            Version::Two => None,
        };
        let outermost = folders.last()?;
        let (folder, bytes) = match (tightest, hidden.filter(|bytes| *bytes < UNLIMITED)) {
            (Some((_, bytes)), Some(hidden)) if hidden < bytes => (outermost, hidden),
            (None, Some(hidden)) => (outermost, hidden),
            (Some(seen), _) => seen,
            (None, None) => return None,
        };
        Some(Self { version, folder: folder.clone(), bytes })
    }

    /// The limit and what is used of it now.
    pub(super) fn scope(&self, files: &Files) -> Scope {
        let (usage, keys) = match self.version {
            Version::One => ("memory.usage_in_bytes", ["total_active_file", "total_inactive_file"]),
            Version::Two => ("memory.current", ["active_file", "inactive_file"]),
        };
        let all = files.number(self.folder.join(usage)).unwrap_or(0);
        let stat = files.read(self.folder.join("memory.stat")).unwrap_or_default();
        let files: u64 = keys.iter().filter_map(|key| value_of(&stat, key)).sum();
        Scope { total: self.bytes, used: all.saturating_sub(files) }
    }
}

/// Version 1 writes "no limit" as the greatest number of whole pages.
const UNLIMITED: u64 = 1 << 62;

fn own_limit(files: &Files, version: Version, folder: &Path) -> Option<u64> {
    // Above `memory.high` the kernel slows the process down until it crawls in another sense.
    let names: &[&str] = match version {
        Version::One => &["memory.limit_in_bytes"],
        Version::Two => &["memory.max", "memory.high"],
    };
    names.iter().filter_map(|name| files.number(folder.join(name))).filter(|bytes| *bytes < UNLIMITED).min()
}
