//! The contract with plugins, `wit/`: its reference for people, and what a release of it promises.
//!
//! Decision: the reference is generated, so that it cannot differ from what a plugin meets; it is in the repository, so that it can be read
//! without building. A released contract is kept as the files that it was (`wit/released`), and what may change since is decided by
//! comparing the two, item by item.

mod items;
mod reference;
mod released;

pub use items::{Item, Place, items};
pub use reference::reference;
pub use released::{Change, changes};

use anyhow::{Context, Result};
use std::path::Path;
use wit_parser::{PackageId, Resolve};

/// The contract in a folder.
#[derive(Debug)]
pub struct Contract {
    pub(crate) resolve: Resolve,
    pub(crate) package: PackageId,
}

impl Contract {
    /// Reads it.
    ///
    /// # Errors
    /// If it is not well-formed.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_path(folder).with_context(|| format!("the contract in {}", folder.display()))?;
        Ok(Self { resolve, package })
    }

    /// Its name with its version, as `nephila:crawler@0.1.0`.
    #[must_use]
    pub fn name(&self) -> String {
        self.resolve.packages[self.package].name.to_string()
    }
}
