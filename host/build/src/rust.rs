//! Rust: cargo, for a target without any system, and the module encoded as a component.

mod diagnostics;
mod toolchain;

pub use toolchain::{DEBIAN, TARGET, Toolchain};

use crate::builder::{Made, Place};
use crate::process::shown;
use crate::tools::Installation;
use crate::{BuildError, Language, Source, component, sdk};
use diagnostics::Messages;
use std::path::{Path, PathBuf};
use std::process::Stdio;

pub(crate) fn build(source: &Source, place: &Place<'_>) -> Result<Made, BuildError> {
    let toolchain = Toolchain::find().ok_or_else(|| BuildError::NoToolchain {
        language: Language::Rust,
        needs: format!("building Rust needs cargo and the standard library for {TARGET} (running it does not)"),
        looked: ["the active toolchain", "/usr/bin/cargo with the library's source"].map(str::to_owned).into(),
        install: vec![
            installation().lines().concat(),
            format!(
                "sudo apt-get update && sudo apt-get install --no-install-recommends {} lld      (Debian 12, Ubuntu)",
                DEBIAN.join(" ")
            ),
        ],
    })?;
    let root = std::path::absolute(&source.folder).unwrap_or_else(|_| source.folder.clone());
    let mut command = toolchain.cargo_build(&remappings(&root, &toolchain));
    command.current_dir(&root).args(["--release", "--message-format", "json"]).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| BuildError::program(shown(&command), error))?;
    let messages = Messages::read(&String::from_utf8_lossy(&output.stdout));
    if !output.status.success() {
        return Err(messages
            .fault()
            .unwrap_or_else(|| BuildError::program(shown(&command), "it failed; its own words are above")));
    }
    let module = messages.module(&root.join("Cargo.toml"))?;
    sdk::write(place.out, &component::encode(&module)?)?;
    Ok(Made { inputs: inputs(&module) })
}

/// Which compiler a build would take, by its file: asking it would be starting it.
pub(crate) fn fingerprint() -> Option<String> {
    let compiler = crate::process::on_path("rustc")?;
    let file = compiler.metadata().ok()?;
    let age = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
    let chosen = std::env::var("RUSTUP_TOOLCHAIN").unwrap_or_default();
    Some(format!("{} {} of {age} {chosen}", compiler.display(), file.len()))
}

pub(crate) fn installation() -> Installation {
    Installation::new(["rustup".into(), "target".into(), "add".into(), TARGET.into()])
}

/// A panic names its file. Without the folders of this machine the same source gives the same component, and so the
/// same digest, on every machine.
pub fn remappings(root: &Path, toolchain: &Toolchain) -> Vec<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let pairs = [(Some(root.to_owned()), "."), (home, "/cargo"), (toolchain.sysroot(), "/rust")];
    let flag = |(from, to): (Option<PathBuf>, &str)| Some(format!("--remap-path-prefix={}={to}", from?.display()));
    pairs.into_iter().filter_map(flag).collect()
}

/// What went into a module, by the file that cargo writes beside it: `MODULE: FILE FILE …`, with spaces in names escaped.
fn inputs(module: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(module.with_extension("d")).unwrap_or_default();
    let Some((_, files)) = text.lines().next().and_then(|line| line.split_once(": ")) else { return Vec::new() };
    let files = files.replace("\\ ", "\0");
    files.split(' ').filter(|file| !file.is_empty()).map(|file| PathBuf::from(file.replace('\0', " "))).collect()
}
