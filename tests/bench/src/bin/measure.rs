//! `measure FILE PROGRAM [ARGUMENT]...` runs a program to its end and writes to FILE what it cost, as JSON.
//!
//! A process of its own, and a small one, because Linux counts into a program's peak of memory that of the process which
//! started it: started by the benchmark itself, with the truth about 10,000 pages in its memory, every program would look
//! large. Its exit code is the program's; 255 if there is none.

use anyhow::{Context, Result};
use nephila_bench::{Cost, leashed, said};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    said("measure", run())
}

fn run() -> Result<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let file = arguments.next().context("usage: measure FILE PROGRAM [ARGUMENT]...")?;
    let program: PathBuf = arguments.next().map(PathBuf::from).context("usage: measure FILE PROGRAM [ARGUMENT]...")?;
    let mut command = leashed(&program)?;
    command.args(arguments);
    let started = Instant::now();
    let child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
    let (code, cost) = Cost::of(child, started)?;
    std::fs::write(&file, serde_json::to_vec(&cost)?).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(255)))
}
