//! The contract and the SDKs that are inside of this program, and how they get into a folder.
//!
//! Decision: they are unpacked in the layout of the repository (`wit`, `plugin-sdk/LANGUAGE`), because the SDKs find the contract by it; into
//! each project as `sdk`, so that editors and type checkers find them and a colleague with another nephila builds the same, and for single
//! files into the cache, under the digest of all of it.

use crate::{BuildError, Language};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::OnceLock;

mod embedded {
    #![allow(missing_docs, reason = "generated")]
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

    pub(super) static FILES: &[(&str, &[u8])] = SDK;
    pub(super) static SCAFFOLDS: &[(&str, &[u8])] = TEMPLATES;
    pub(super) static ROOT: &str = WORKSPACE;
}

/// The file that says which state of contract and SDKs a folder has.
const STAMP: &str = "DIGEST";

/// The digest of the contract and all SDKs.
pub(crate) fn digest() -> &'static str {
    static DIGEST: OnceLock<String> = OnceLock::new();
    DIGEST.get_or_init(|| {
        let mut hash = Sha256::new();
        for (name, bytes) in embedded::FILES {
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        crate::record::hex(&hash.finalize())
    })
}

/// A template's files, with their names in it.
pub(crate) fn template(wanted: &'static str) -> impl Iterator<Item = (&'static str, &'static [u8])> {
    let of = move |(name, bytes): &(&'static str, &'static [u8])| {
        let (folder, name) = name.split_once('/')?;
        (folder == wanted).then_some((name, *bytes))
    };
    embedded::SCAFFOLDS.iter().filter_map(of)
}

/// A file of an SDK, as text.
#[cfg(test)]
pub(crate) fn text(name: &str) -> Option<&'static str> {
    let (_, bytes) = embedded::FILES.iter().find(|(known, _)| *known == name)?;
    std::str::from_utf8(bytes).ok()
}

/// Whether this program has an SDK for a language.
pub(crate) fn has(language: Language) -> bool {
    embedded::FILES.iter().any(|(name, _)| belongs(name, language) && name.starts_with("plugin-sdk/"))
}

fn belongs(name: &str, language: Language) -> bool {
    let sdk = name.strip_prefix("plugin-sdk/").and_then(|name| name.strip_prefix(language.sdk()));
    name.starts_with("wit/") || sdk.is_some_and(|rest| rest.starts_with('/'))
}

/// Whether the SDK in a folder is this program's.
pub fn is_current(folder: &Path) -> bool {
    std::fs::read_to_string(folder.join(STAMP)).is_ok_and(|text| text.trim() == digest())
}

/// Puts the contract and one language's SDK into a folder, in place of what is there. A reader sees the old ones or the new ones.
///
/// # Errors
/// If the folder cannot be written.
pub fn unpack(folder: &Path, language: Language) -> Result<(), BuildError> {
    let place = folder.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(place).map_err(|cause| BuildError::file(place, "made", cause))?;
    let beside = tempfile::Builder::new().prefix(".nephila-sdk-").tempdir_in(place);
    let beside = beside.map_err(|cause| BuildError::file(place, "written to", cause))?;
    let fresh = beside.path().join("new");
    for (name, bytes) in embedded::FILES.iter().filter(|(name, _)| belongs(name, language)) {
        let alone = (*name == "plugin-sdk/rust/Cargo.toml").then(|| standalone(&String::from_utf8_lossy(bytes), embedded::ROOT));
        write(&fresh.join(name), alone.as_deref().map_or(*bytes, str::as_bytes))?;
    }
    write(&fresh.join(STAMP), format!("{}\n", digest()).as_bytes())?;
    if folder.exists() {
        std::fs::rename(folder, beside.path().join("old")).map_err(|cause| BuildError::file(folder, "replaced", cause))?;
    }
    match std::fs::rename(&fresh, folder) {
        // Somebody else was faster, and has put the same there.
        Err(_) if is_current(folder) => Ok(()),
        renamed => renamed.map_err(|cause| BuildError::file(folder, "written", cause)),
    }
}

/// The SDK of a language in the cache; unpacked there if it is not yet.
pub(crate) fn in_cache(cache: &Path, language: Language) -> Result<std::path::PathBuf, BuildError> {
    let folder = cache.join("sdk").join(format!("{}-{}", language.sdk(), &digest()[..16]));
    if !is_current(&folder) {
        unpack(&folder, language)?;
    }
    Ok(folder)
}

pub(crate) fn write(file: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|cause| BuildError::file(folder, "made", cause))?;
    }
    std::fs::write(file, bytes).map_err(|cause| BuildError::file(file, "written", cause))
}

/// A package's manifest without its workspace: what it inherits from there is written out, and the lints of the repository are left away.
///
/// Both are this repository's own, and each inherited thing stands on a line; a test builds the result.
fn standalone(manifest: &str, workspace: &str) -> String {
    let mut alone = String::new();
    let mut section = "";
    for line in manifest.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name;
        }
        if section == "lints" {
            continue;
        }
        let from = if section == "package" { "[workspace.package]" } else { "[workspace.dependencies]" };
        let inherited = line.strip_suffix(".workspace = true").and_then(|key| inherited(workspace, from, key.trim()));
        alone.push_str(inherited.unwrap_or(line));
        alone.push('\n');
    }
    // No workspace above it, wherever it is put, claims it.
    alone.push_str("\n[workspace]\n");
    alone
}

fn inherited<'a>(workspace: &'a str, section: &str, key: &str) -> Option<&'a str> {
    let mut lines = workspace.lines().skip_while(|line| *line != section).skip(1).take_while(|line| !line.starts_with('['));
    lines.find(|line| line.split('=').next().is_some_and(|name| name.trim() == key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_and_the_rust_sdk_are_inside() {
        for name in ["wit/worlds.wit", "plugin-sdk/rust/src/lib.rs"] {
            assert!(text(name).is_some(), "{name}");
        }
        assert!(has(Language::Rust));
        let made = |name: &str| name.contains("node_modules") || name.contains("__pycache__") || name.contains("/.");
        assert_eq!(embedded::FILES.iter().map(|(name, _)| *name).find(|name| made(name)), None);
    }

    #[test]
    fn a_manifest_inherits_nothing_once_it_stands_alone() {
        let alone = standalone(text("plugin-sdk/rust/Cargo.toml").unwrap(), embedded::ROOT);
        assert!(!alone.contains("workspace = true"), "{alone}");
        for line in ["edition = \"2024\"", "serde = { version = \"1\", features = [\"derive\"] }", "[workspace]"] {
            assert!(alone.lines().any(|own| own == line), "{line} in {alone}");
        }
    }

    #[test]
    fn what_is_unpacked_is_this_programs_and_replaces_what_was_there() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("sdk");
        write(&folder.join("plugin-sdk/rust/src/gone.rs"), b"old").unwrap();
        assert!(!is_current(&folder));
        unpack(&folder, Language::Rust).unwrap();
        assert!(is_current(&folder));
        assert!(folder.join("wit/worlds.wit").is_file() && folder.join("plugin-sdk/rust/src/lib.rs").is_file());
        assert!(!folder.join("plugin-sdk/rust/src/gone.rs").exists());
        assert!(!folder.join("plugin-sdk/js").exists());
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left beside it");
    }
}
