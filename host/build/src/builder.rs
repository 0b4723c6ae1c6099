//! Building a source: by the tools of its language, or from the cache.

use crate::cache::Cache;
use crate::inputs::Snapshot;
use crate::process::say;
use crate::record::Record;
use crate::tools::Installation;
use crate::{BuildError, Folders, Language, Source, c, inputs, javascript, python, rust, sdk};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Builds plugins for a user.
#[derive(Debug)]
pub struct Builder {
    folders: Folders,
    missing: Missing,
}

/// What is done about tools that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// They are said, with the commands that install them.
    Say,
    /// They are installed in the user's folder, and then the build goes on.
    Install,
}

/// A component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// Its file.
    pub component: PathBuf,
    /// The author's files that went into it.
    pub inputs: Vec<PathBuf>,
    /// Whether it was there.
    pub freshness: Freshness,
}

/// Whether a component was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// From an earlier build; no tool was started.
    Cached,
    /// Just built.
    Built,
}

/// Where a build is done.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) folders: &'a Folders,
    /// With `wit` and `plugin-sdk` in it.
    pub(crate) sdk: &'a Path,
    /// The component to write.
    pub(crate) out: &'a Path,
    /// For what is between source and component; gone afterwards.
    pub(crate) work: &'a Path,
}

/// What a language's tools say of a build.
#[derive(Debug)]
pub(crate) struct Made {
    /// The files that went in, as far as the tools know.
    pub(crate) inputs: Vec<PathBuf>,
}

impl Builder {
    /// For the user's folders.
    pub fn new(folders: Folders, missing: Missing) -> Self {
        Self { folders, missing }
    }

    /// Builds into a file; with the language's tools, whatever was built before.
    ///
    /// # Errors
    /// [`BuildError`] with what is wrong in the source, or what is missing to build it.
    pub fn build(&self, source: &Source, out: &Path) -> Result<Built, BuildError> {
        let inputs = inputs::of_build(source, &self.make(source, out)?.inputs);
        Ok(Built { component: out.to_owned(), inputs, freshness: Freshness::Built })
    }

    /// The component of a source from the cache; built if it is not there or no longer that of the source.
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn cached(&self, source: &Source, before_building: impl FnOnce()) -> Result<Built, BuildError> {
        let cache = Cache::new(&self.folders.cache);
        let tools = self.fingerprint(source);
        if let Some((component, inputs)) = cache.get(source, tools.as_deref()) {
            return Ok(Built { component, inputs, freshness: Freshness::Cached });
        }
        before_building();
        let work = self.work()?;
        let out = work.path().join(format!("{}.wasm", source.name));
        // The clocks of file systems are coarse; a file of this very moment counts as saved during the build.
        let begun = SystemTime::now();
        let files = inputs::of_build(source, &self.make(source, &out)?.inputs);
        let saved_meanwhile = Snapshot::of(source, &files).has_newer(begun);
        // Installing may have made it another one.
        let tools = self.fingerprint(source);
        let mut record = Record::of(&files, tools)?;
        if saved_meanwhile {
            // The component may be of the files as they were; the next start builds again.
            record.forget();
        }
        let component = cache.put(source, &record, &out)?;
        Ok(Built { component, inputs: files, freshness: Freshness::Built })
    }

    /// The commands that install a language's tools in the user's folder.
    pub fn installation(&self, language: Language) -> Installation {
        match language {
            Language::Rust => rust::installation(),
            Language::JavaScript | Language::TypeScript => javascript::installation(&self.folders),
            Language::Python => python::installation(&self.folders),
            Language::C => c::installation(&self.folders),
        }
    }

    /// Whether what [`Builder::installation`] installs is there, in the versions that it installs.
    pub fn is_installed(&self, language: Language) -> bool {
        match language {
            Language::Rust => rust::Toolchain::find().is_some(),
            Language::JavaScript | Language::TypeScript => javascript::is_installed(&self.folders),
            Language::Python => python::is_installed(&self.folders),
            Language::C => c::is_installed(&self.folders),
        }
    }

    fn make(&self, source: &Source, out: &Path) -> Result<Made, BuildError> {
        let made = self.make_with_what_is_there(source, out);
        match made {
            Err(missing @ BuildError::NoToolchain { .. }) if self.missing == Missing::Install => {
                let installation = self.installation(source.language);
                // Without npm or Python the way out is the one that was said.
                if !installation.can_run() {
                    return Err(missing);
                }
                for line in installation.lines() {
                    say(&format!("nephila: running {line}\n"));
                }
                installation.run()?;
                self.make_with_what_is_there(source, out)
            }
            made => made,
        }
    }

    fn make_with_what_is_there(&self, source: &Source, out: &Path) -> Result<Made, BuildError> {
        if !sdk::has(source.language) {
            return Err(BuildError::program(
                format!("{} is in {}", source.main.display(), source.language),
                "this nephila has no SDK for it",
            ));
        }
        let sdk = match source.own_sdk() {
            Some(sdk) => inputs::absolute(&sdk),
            None => sdk::in_cache(&self.folders.cache, source.language)?,
        };
        let work = self.work()?;
        let place = Place { folders: &self.folders, sdk: &sdk, out, work: work.path() };
        let made = match source.language {
            Language::Rust => rust::build(source, &place),
            Language::JavaScript | Language::TypeScript => javascript::build(source, &place),
            Language::Python => python::build(source, &place),
            Language::C => c::build(source, &place),
        };
        made.map_err(|error| match error {
            BuildError::Fault(fault) => BuildError::Fault(Box::new(fault.seen_from_here(&source.folder))),
            other => other,
        })
    }

    fn fingerprint(&self, source: &Source) -> Option<String> {
        match source.language {
            Language::Rust => rust::fingerprint(),
            Language::JavaScript | Language::TypeScript => javascript::fingerprint(source, &self.folders),
            Language::Python => python::fingerprint(source, &self.folders),
            Language::C => c::fingerprint(&self.folders),
        }
    }

    fn work(&self) -> Result<tempfile::TempDir, BuildError> {
        tempfile::Builder::new()
            .prefix("nephila-build-")
            .tempdir()
            .map_err(|cause| BuildError::file(std::env::temp_dir(), "written to", cause))
    }
}
