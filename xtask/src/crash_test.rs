//! The crash test lives with the end-to-end tests; here it gets what it runs.

use std::process::Command;

use anyhow::Result;

use crate::build::{Profile, programs};
use crate::folders::Folders;
use crate::plugins;
use crate::process::{self, cargo};

/// Builds what it needs, then kills a crawl at so many points.
pub(crate) fn run(folders: &Folders, points: u32, more: &[String]) -> Result<()> {
    plugins::build_all(folders)?;
    programs(folders, Profile::Dev)?;
    let mut command = Command::new(cargo());
    command.current_dir(&folders.root).args(["run", "--package", "nephila-e2e", "--bin", "crash-test", "--"]);
    process::run(command.arg("--points").arg(points.to_string()).args(more))
}
