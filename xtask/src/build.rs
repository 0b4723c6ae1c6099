//! The programs of this workspace, and the example plugins.

use std::process::Command;

use anyhow::Result;

use crate::folders::Folders;
use crate::process::{self, cargo};
use crate::{plugins, setup};

/// How the programs are compiled. Plugins have one profile of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Dev,
    Release,
}

impl Profile {
    /// The folder under `target` that cargo puts programs into.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Profile::Dev => "debug",
            Profile::Release => "release",
        }
    }
}

/// Builds everything that a user runs.
pub(crate) fn run(folders: &Folders, profile: Profile) -> Result<()> {
    setup::run()?;
    plugins::build_examples(folders)?;
    programs(folders, profile)?;
    for name in ["nephila", "nephila-site"] {
        println!("{}", folders.short(&folders.program(profile, name)));
    }
    Ok(())
}

/// Builds the programs.
///
/// In the dev profile with all packages, as the tests do: cargo then picks the same features, and compiles every
/// dependency once for both.
pub(crate) fn programs(folders: &Folders, profile: Profile) -> Result<()> {
    let mut command = Command::new(cargo());
    command.current_dir(&folders.root).arg("build");
    match profile {
        Profile::Dev => command.args(["--workspace", "--bins"]),
        Profile::Release => command.args(["--release", "--package", "nephila", "--package", "nephila-site"]),
    };
    process::run(&mut command)
}
