//! Keeps the contract as it is today for ever: its files, and a plugin of each language that was built for it.
//!
//! Decision: the plugins are kept as they are, compressed, and not built again by tests: what has to be shown is that the binary of a
//! stranger, built with the tools of its day, goes on working.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use nephila_build::{Builder, Missing, Source};

use crate::folders::Folders;
use crate::{plugins, setup};

/// The plugins in languages that have a toolchain of their own; that in Rust is `books`.
const SOURCES: [&str; 4] = ["books-c", "books-js", "books-python", "books-ts"];

/// As small as it gets in some seconds.
const COMPRESSION: i32 = 19;

/// What to do about a release that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// A release does not change.
    Keep,
    /// It is not published yet.
    Replace,
}

/// Writes `wit/released/VERSION` and `tests/released/VERSION`.
pub(crate) fn write(folders: &Folders, existing: Existing) -> Result<()> {
    setup::for_tests(folders)?;
    let version = version(&folders.root.join("wit/types.wit"))?;
    let (wit, binaries) = (folders.root.join("wit/released").join(&version), folders.root.join("tests/released").join(&version));
    if existing == Existing::Keep && (wit.exists() || binaries.exists()) {
        bail!("{} is released: raise the version in wit/, or, if nobody has it yet, give --replace", version);
    }
    // Everything is built before anything is replaced.
    plugins::build_examples(folders)?;
    let mut components = vec![folders.plugins().join("books.wasm")];
    let builder =
        Builder::new(nephila_build::Folders { cache: folders.author_tools(), tools: folders.author_tools() }, Missing::Say);
    for name in SOURCES {
        let source = Source::find(&folders.root.join("plugins").join(name))?;
        let out = folders.target.join("released").join(format!("{name}.wasm"));
        fs::create_dir_all(folders.target.join("released"))?;
        components.push(builder.build(&source, &out)?.component);
    }
    for folder in [&wit, &binaries] {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
    }
    for entry in fs::read_dir(folders.root.join("wit"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "wit") {
            fs::copy(&path, wit.join(path.file_name().context("a name")?))?;
        }
    }
    components.iter().try_for_each(|component| keep(component, &binaries))
}

fn keep(component: &Path, folder: &Path) -> Result<()> {
    let bytes = fs::read(component).with_context(|| format!("{} cannot be read", component.display()))?;
    let name = component.file_name().and_then(|name| name.to_str()).context("a name")?;
    let file = folder.join(format!("{name}.zst"));
    let compressed = zstd::encode_all(bytes.as_slice(), COMPRESSION)?;
    println!("{}: {} kB of {} kB", file.display(), compressed.len() / 1_000, bytes.len() / 1_000);
    fs::write(&file, compressed).with_context(|| format!("{} cannot be written", file.display()))
}

/// The version in the first line of a contract's file, `package nephila:crawler@0.1.0;`.
fn version(file: &Path) -> Result<String> {
    let text = fs::read_to_string(file)?;
    let package = text.lines().find_map(|line| line.strip_prefix("package ")).context("wit/ names no package")?;
    let (_, version) = package.trim_end_matches(';').split_once('@').context("the package in wit/ has no version")?;
    Ok(version.trim().to_owned())
}
