//! Puts the contract, the SDKs and the templates into the program, so that `nephila new` and `nephila build` need no checkout and no network.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

/// Folders that are no part of an SDK: made by tools, or for those who work on it.
const SKIPPED: [&str; 7] = ["node_modules", "target", "__pycache__", "tests", "test", "examples", "dist"];

/// Of the SDK for C, what makes it a package of this repository.
const SKIPPED_OF_C: [&str; 2] = ["plugin-sdk/c/src", "plugin-sdk/c/Cargo.toml"];

fn main() -> io::Result<()> {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let root = here.join("../..").canonicalize()?;
    let mut contract = Vec::new();
    for folder in ["wit", "plugin-sdk"] {
        collect(&root.join(folder), folder, &mut contract)?;
    }
    let mut templates = Vec::new();
    collect(&here.join("templates"), "", &mut templates)?;

    let workspace = root.join("Cargo.toml");
    println!("cargo::rerun-if-changed={}", workspace.display());
    let mut text = String::new();
    table(&mut text, "SDK", &mut contract);
    table(&mut text, "TEMPLATES", &mut templates);
    let _ = writeln!(text, "static WORKSPACE: &str = include_str!({:?});", workspace);
    std::fs::write(Path::new(&variable("OUT_DIR")?).join("embedded.rs"), text)
}

fn variable(name: &str) -> io::Result<String> {
    std::env::var(name).map_err(|error| io::Error::other(format!("{name}: {error}")))
}

fn collect(folder: &Path, name: &str, into: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let own = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let full = if name.is_empty() { own.clone() } else { format!("{name}/{own}") };
        if own.starts_with('.') || SKIPPED_OF_C.contains(&full.as_str()) {
            continue;
        }
        if path.is_dir() {
            // A template may have tests.
            if name.starts_with("plugin-sdk") && SKIPPED.contains(&own.as_str()) {
                continue;
            }
            collect(&path, &full, into)?;
        } else if !own.ends_with(".pyc") {
            println!("cargo::rerun-if-changed={}", path.display());
            into.push((full, path));
        }
    }
    Ok(())
}

fn table(text: &mut String, name: &str, files: &mut [(String, PathBuf)]) {
    files.sort();
    let _ = writeln!(text, "static {name}: &[(&str, &[u8])] = &[");
    for (file, path) in files {
        let _ = writeln!(text, "    ({file:?}, include_bytes!({path:?})),");
    }
    let _ = writeln!(text, "];");
}
