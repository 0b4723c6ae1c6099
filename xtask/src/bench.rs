//! The benchmarks. What they measure and how is said where they live; here they get what they run, all of it optimised.

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::build::{self, Profile};
use crate::folders::Folders;
use crate::process::{cargo, output, run, turn_into};
use crate::{plugins, setup};

/// Nephila against a bare loop, whole programs over whole sites (tests/bench).
pub(crate) fn programs(folders: &Folders, arguments: &[String]) -> Result<()> {
    harness(folders, "bench", arguments)
}

/// What a page costs where few and where many URLs are known (tests/bench).
pub(crate) fn known(folders: &Folders, arguments: &[String]) -> Result<()> {
    harness(folders, "known", arguments)
}

/// What a page costs in each language that plugins are written in (tests/bench).
pub(crate) fn languages(folders: &Folders, arguments: &[String]) -> Result<()> {
    setup::for_tests(folders)?;
    harness(folders, "languages", arguments)
}

fn harness(folders: &Folders, program: &str, arguments: &[String]) -> Result<()> {
    setup::run()?;
    plugins::build_all(folders)?;
    build::programs(folders, Profile::Release)?;
    // On its own: together with the host, cargo would give the bare loop features that it is better off without.
    let mut command = Command::new(cargo());
    run(command.current_dir(&folders.root).args(["build", "--release", "--package", "nephila-bench"]))?;
    let mut command = Command::new(folders.program(Profile::Release, program));
    command.env("NEPHILA_TOOLS", folders.author_tools());
    turn_into(command.current_dir(&folders.root).args(arguments))
}

/// The store with many rows (host/store/examples/scale.rs).
pub(crate) fn store(folders: &Folders, arguments: &[String]) -> Result<()> {
    let mut command = Command::new(cargo());
    command.current_dir(&folders.root).args(["run", "--release", "--package", "nephila-store", "--example", "scale", "--"]);
    turn_into(command.args(arguments))
}

/// Single functions: everything that a crate has in a folder `benches`.
pub(crate) fn micro(folders: &Folders, arguments: &[String]) -> Result<()> {
    let benches = find_benches(folders)?;
    if benches.is_empty() {
        bail!("no crate has a folder `benches`");
    }
    // One call for each crate: a name of a benchmark need not be the only one of its kind.
    for (package, names) in benches {
        println!("\n== {package}");
        let mut command = Command::new(cargo());
        command.current_dir(&folders.root).args(["bench", "--package", &package]);
        for name in &names {
            command.args(["--bench", name]);
        }
        run(command.arg("--").args(arguments))?;
    }
    Ok(())
}

/// The workspace's packages that have benchmarks, with their names.
fn find_benches(folders: &Folders) -> Result<Vec<(String, Vec<String>)>> {
    let mut command = Command::new(cargo());
    command.current_dir(&folders.root).args(["metadata", "--no-deps", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&output(&mut command)?).context("cargo's metadata is no JSON")?;
    let packages = metadata["packages"].as_array().context("cargo's metadata has no packages")?;
    let is_bench = |target: &&Value| target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "bench"));
    let of_package = |package: &Value| {
        let targets = package["targets"].as_array().into_iter().flatten().filter(is_bench);
        let names = targets.filter_map(|target| target["name"].as_str().map(str::to_owned)).collect::<Vec<_>>();
        Some((package["name"].as_str()?.to_owned(), names)).filter(|(_, names)| !names.is_empty())
    };
    Ok(packages.iter().filter_map(of_package).collect())
}
