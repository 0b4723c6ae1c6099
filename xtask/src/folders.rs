//! Where things are and where they go.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::build::Profile;

/// The folders of the workspace.
#[derive(Debug)]
pub(crate) struct Folders {
    /// The workspace's root.
    pub(crate) root: PathBuf,
    /// `target`, or where `CARGO_TARGET_DIR` points.
    pub(crate) target: PathBuf,
}

impl Folders {
    /// Finds them from where this program was compiled.
    pub(crate) fn find() -> Result<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.parent().context("xtask is not in a workspace")?.to_path_buf();
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder));
        Ok(Folders { root, target })
    }

    /// The example plugins, as components.
    pub(crate) fn plugins(&self) -> PathBuf {
        self.target.join("plugins")
    }

    /// The plugins that only tests use.
    pub(crate) fn test_plugins(&self) -> PathBuf {
        self.target.join("test-plugins")
    }

    /// The tools that plugins of other languages are built with in tests.
    pub(crate) fn author_tools(&self) -> PathBuf {
        self.target.join("author-tools")
    }

    /// What cargo makes of plugins; shared by all of them, so that the standard library is compiled once.
    pub(crate) fn guest_target(&self) -> PathBuf {
        self.target.join("guest")
    }

    /// A program of this workspace.
    pub(crate) fn program(&self, profile: Profile, name: &str) -> PathBuf {
        self.target.join(profile.folder()).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// A path as a person in the root folder would write it.
    pub(crate) fn short(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }
}
