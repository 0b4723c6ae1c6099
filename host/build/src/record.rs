//! What a component was built of, so that the next start can tell without any tool whether it is still that.

use crate::inputs;
use crate::{BuildError, Source, sdk};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What a component was built of.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The digest of contract and SDKs.
    sdk: String,
    /// The tools, where they could be told.
    tools: Option<String>,
    /// All files that went in, with their digests.
    inputs: Vec<Input>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Input {
    path: PathBuf,
    digest: String,
}

impl Record {
    /// Reads the files as they are now.
    pub(crate) fn of(files: &[PathBuf], tools: Option<String>) -> Result<Self, BuildError> {
        let input = |path: &PathBuf| {
            let bytes = std::fs::read(path).map_err(|cause| BuildError::file(path, "read", cause))?;
            Ok(Input { path: path.clone(), digest: digest(&bytes) })
        };
        let mut inputs = files.iter().map(input).collect::<Result<Vec<_>, BuildError>>()?;
        inputs.sort();
        Ok(Self { sdk: sdk::digest().to_owned(), tools, inputs })
    }

    /// Whether a build would come to the same: the same files with the same content, the same SDK and tools. Tools that are gone are no
    /// reason to build.
    pub(crate) fn holds(&self, source: &Source, tools: Option<&str>) -> bool {
        if self.sdk != sdk::digest() || (tools.is_some() && tools != self.tools.as_deref()) {
            return false;
        }
        let is_known = |path: &PathBuf| self.inputs.iter().any(|input| input.path == *path);
        inputs::of_project(source).iter().all(is_known)
            && self.inputs.iter().all(|input| std::fs::read(&input.path).is_ok_and(|bytes| digest(&bytes) == input.digest))
    }

    /// The name of the component that this makes. Where the files are is no part of it.
    pub(crate) fn key(&self, source: &Source) -> String {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        for text in [source.language.word(), &source.name, &self.sdk, self.tools.as_deref().unwrap_or_default()] {
            add(text);
        }
        let folder = inputs::absolute(&source.folder);
        for input in &self.inputs {
            add(&input.path.strip_prefix(&folder).unwrap_or(&input.path).to_string_lossy());
            add(&input.digest);
        }
        hex(&hash.finalize())
    }

    /// Makes it one that never holds.
    pub(crate) fn forget(&mut self) {
        "saved while it was built".clone_into(&mut self.sdk);
    }

    /// The files that went in.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.inputs.iter().map(|input| input.path.clone()).collect()
    }

    pub(crate) fn read(file: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(file).ok()?).ok()
    }

    /// A reader sees the old record or the new one.
    pub(crate) fn write(&self, file: &Path) -> Result<(), BuildError> {
        let text = serde_json::to_vec(self).map_err(|error| BuildError::program("the record of a build", error))?;
        let part = file.with_extension(format!("part-{}", std::process::id()));
        sdk::write(&part, &text)?;
        std::fs::rename(&part, file).map_err(|cause| BuildError::file(file, "written", cause))
    }
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_holds_until_a_file_the_tools_or_the_list_of_files_changes() {
        let place = tempfile::tempdir().unwrap();
        for (name, text) in [("package.json", "{}"), ("crawler.js", "one")] {
            std::fs::write(place.path().join(name), text).unwrap();
        }
        let source = Source::find(place.path()).unwrap();
        let now = || Record::of(&inputs::of_project(&source), Some("esbuild 1".into())).unwrap();
        let record = now();
        assert!(record.holds(&source, Some("esbuild 1")));
        assert!(record.holds(&source, None), "tools that are gone change nothing");
        assert!(!record.holds(&source, Some("esbuild 2")));

        let key = record.key(&source);
        std::fs::write(place.path().join("crawler.js"), "two").unwrap();
        assert!(!record.holds(&source, None));
        assert_ne!(now().key(&source), key);
        std::fs::write(place.path().join("crawler.js"), "one").unwrap();
        assert_eq!(now().key(&source), key);

        std::fs::write(place.path().join("text.js"), "").unwrap();
        assert!(!record.holds(&source, None), "a file more");
        std::fs::remove_file(place.path().join("text.js")).unwrap();
        std::fs::remove_file(place.path().join("crawler.js")).unwrap();
        assert!(!record.holds(&source, None), "a file less");
    }

    #[test]
    fn the_same_source_elsewhere_has_the_same_key() {
        let key = || {
            let place = tempfile::tempdir().unwrap();
            let file = place.path().join("crawler.js");
            std::fs::write(&file, "same").unwrap();
            let source = Source::find(&file).unwrap();
            Record::of(&[inputs::absolute(&file)], None).unwrap().key(&source)
        };
        assert_eq!(key(), key());
    }
}
