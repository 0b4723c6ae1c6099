//! The cgroup's quota of processor time that is tightest, and what is used of it.
//!
//! Decision: the smallest quota on the way up wins, whoever of its cgroup uses it. Version 1 may account for processor time in
//! another hierarchy, in which this process may have another place; then what it and its children use stands for all.

use super::cgroup::{Controller, Lineage, Version};
use super::files::{Files, value_of};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A quota, and where.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CpuQuota {
    /// Processors' worth of time.
    pub cores: f64,
    account: Option<(Version, PathBuf)>,
}

impl CpuQuota {
    /// The tightest one, if there is any.
    pub(super) fn find(files: &Files) -> Option<Self> {
        let Lineage { version, folders } = Lineage::find(files, Controller::Cpu)?;
        let quotas = folders.iter().enumerate().filter_map(|(above, folder)| Some((above, own_quota(files, version, folder)?)));
        let (above, cores) = quotas.reduce(|least, next| if next.1 <= least.1 { next } else { least })?;
        let account = match version {
            Version::Two => folders.get(above).cloned(),
            Version::One => account_of(files, &folders, above),
        };
        Some(Self { cores, account: account.map(|folder| (version, folder)) })
    }

    /// Time that its cgroup has spent on processors; `None` if nobody counts it there.
    pub(super) fn used(&self, files: &Files) -> Option<Duration> {
        match self.account.as_ref()? {
            (Version::Two, folder) => value_of(&files.read(folder.join("cpu.stat"))?, "usage_usec").map(Duration::from_micros),
            (Version::One, folder) => files.number(folder.join("cpuacct.usage")).map(Duration::from_nanos),
        }
    }
}

fn own_quota(files: &Files, version: Version, folder: &Path) -> Option<f64> {
    let (quota, period) = match version {
        Version::One => (files.number(folder.join("cpu.cfs_quota_us"))?, files.number(folder.join("cpu.cfs_period_us"))?),
        Version::Two => {
            let text = files.read(folder.join("cpu.max"))?;
            let (quota, period) = text.trim().split_once(' ')?;
            (quota.parse().ok()?, period.parse().ok()?)
        }
    };
    (quota > 0 && period > 0).then(|| quota as f64 / period as f64)
}

/// Where the time of the cgroup is counted that lies so many folders above the process's own.
fn account_of(files: &Files, folders: &[PathBuf], above: usize) -> Option<PathBuf> {
    let account = Lineage::find(files, Controller::CpuAccount)?.folders;
    let inside = |folders: &[PathBuf]| Some(folders.first()?.strip_prefix(folders.last()?).ok()?.to_owned());
    // Only the same place of both hierarchies is the same processes.
    if inside(folders)? == inside(&account)? { account.get(above).cloned() } else { None }
}
