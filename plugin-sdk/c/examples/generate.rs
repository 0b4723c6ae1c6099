//! Writes the generated files of the C SDK: the bindings of the contract in `wit/`, and the component type of each entry point.
//!
//! `cargo run --package nephila-sdk-c --example generate` writes them; with `--check` nothing is written, and files that are not current
//! are named.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

#[path = "../tests/bindings/mod.rs"]
mod bindings;

fn main() -> ExitCode {
    match run(std::env::args().any(|argument| argument == "--check")) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("cargo run --package nephila-sdk-c --example generate");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("failed: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Says whether all files are current now.
fn run(only_check: bool) -> Result<bool> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let stale = bindings::stale(folder)?;
    for (name, content) in &stale {
        if only_check {
            eprintln!("{name} is not current");
        } else {
            let file = folder.join(name);
            std::fs::write(&file, content).with_context(|| format!("cannot write {}", file.display()))?;
            println!("{name}: {} kB", content.len().div_ceil(1000));
        }
    }
    Ok(!only_check || stale.is_empty())
}
