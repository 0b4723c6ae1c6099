//! Everything that must pass before a commit. One profile for all of it, so that every dependency is compiled once.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::build::{Profile, programs};
use crate::folders::Folders;
use crate::process::{cargo, run as run_program};
use crate::{plugins, setup};

/// Packages whose tests need features (tokio's paused clock, what loom brings) that no program has: together with the others they would make
/// cargo compile everything that has them a second time, wasmtime included.
const APART: [&str; 2] = ["nephila-events", "nephila-autoscale"];

/// Runs the steps in order, and stops at the first that fails.
pub(crate) fn run(folders: &Folders) -> Result<()> {
    let mut steps = Steps::default();
    steps.step("setup", || setup::for_tests(folders))?;
    steps.step("format", || of_cargo(folders, &["fmt", "--all", "--check"]))?;
    steps.step("lints", || of_cargo(folders, &["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))?;
    steps.step("plugins", || plugins::build_all(folders))?;
    steps.step("programs", || programs(folders, Profile::Dev))?;
    let but = APART.iter().flat_map(|package| ["--exclude", package]);
    let all_but: Vec<&str> = ["test", "--workspace"].into_iter().chain(but).collect();
    steps.step("tests", || of_cargo(folders, &all_but))?;
    let apart: Vec<&str> = ["test"].into_iter().chain(APART.iter().flat_map(|package| ["--package", package])).collect();
    steps.step("tests apart", || of_cargo(folders, &apart))?;
    steps.summary();
    Ok(())
}

fn of_cargo(folders: &Folders, arguments: &[&str]) -> Result<()> {
    run_program(Command::new(cargo()).current_dir(&folders.root).env("NEPHILA_TOOLS", folders.author_tools()).args(arguments))
}

/// What was done, and how long it took.
#[derive(Debug, Default)]
struct Steps {
    done: Vec<(&'static str, Duration)>,
}

impl Steps {
    fn step(&mut self, name: &'static str, work: impl FnOnce() -> Result<()>) -> Result<()> {
        println!("\n== {name}");
        let started = Instant::now();
        let result = work();
        let time = started.elapsed();
        self.done.push((name, time));
        if result.is_err() {
            self.summary();
        }
        result.with_context(|| format!("the step `{name}` after {:.1} s", time.as_secs_f64()))
    }

    fn summary(&self) {
        println!("\n== steps");
        for (name, time) in &self.done {
            println!("{name:<11} {:>7.1} s", time.as_secs_f64());
        }
    }
}
