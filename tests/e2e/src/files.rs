//! Where built things are, and reading what a crawl has written.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

// target/debug/deps/test-1234 → target/debug
fn profile_folder() -> Result<PathBuf> {
    let mut folder = std::env::current_exe()?;
    folder.pop();
    if folder.ends_with("deps") {
        folder.pop();
    }
    Ok(folder)
}

fn built(path: PathBuf) -> Result<PathBuf> {
    if !path.is_file() {
        bail!("{} is not built; run `cargo xtask build --dev` first", path.display());
    }
    Ok(path)
}

/// A binary of this workspace, of the profile that this program was built with.
///
/// # Errors
/// If it is not built; with the command that builds it.
pub fn binary(name: &str) -> Result<PathBuf> {
    built(profile_folder()?.join(name))
}

fn guest(folder: &str, name: &str) -> Result<PathBuf> {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target").join(folder);
    let target = std::fs::canonicalize(&target).unwrap_or(target);
    built(target.join(format!("{name}.wasm")))
}

/// An example plugin.
///
/// # Errors
/// If it is not built; with the command that builds it.
pub fn plugin(name: &str) -> Result<PathBuf> {
    guest("plugins", name)
}

/// A plugin that only tests use.
///
/// # Errors
/// If it is not built; with the command that builds it.
pub fn test_plugin(name: &str) -> Result<PathBuf> {
    guest("test-plugins", name)
}

/// The lines of a file.
///
/// # Errors
/// If it cannot be read, or if its last line is cut off.
pub fn lines(file: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    if !text.is_empty() && !text.ends_with('\n') {
        bail!("the last line of {} is cut off", file.display());
    }
    Ok(text.lines().map(str::to_owned).collect())
}

/// The lines of a file, in order.
///
/// # Errors
/// As [`lines`].
pub fn sorted_lines(file: &Path) -> Result<Vec<String>> {
    let mut lines = lines(file)?;
    lines.sort();
    Ok(lines)
}
