//! docs/plugin-api.md, from the contract (tests/contract).

use std::process::Command;

use anyhow::Result;

use crate::folders::Folders;
use crate::process::{cargo, run};

/// Writes it.
pub(crate) fn write(folders: &Folders) -> Result<()> {
    let mut command = Command::new(cargo());
    run(command.current_dir(&folders.root).args(["run", "--package", "nephila-contract", "--bin", "plugin_api"]))
}
