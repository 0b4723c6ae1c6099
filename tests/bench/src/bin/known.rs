//! What a page costs where few and where many URLs are known, as a command; `cargo xtask bench-known` builds everything and calls it.

use anyhow::Result;
use clap::Parser;
use nephila_bench::{
    KNOWN_FIGURES, KnownReport, KnownSize, Machine, Programs, Targets, WorkFolder, measure_known, nephila_arguments, said,
};
use std::path::PathBuf;
use std::process::ExitCode;

/// Resumes crawls that know few and many URLs, and compares what a page costs them
///
/// For each size a job is begun, filled with requests for as many pages, and resumed twice from a copy, for fewer and for more
/// pages. A page costs what the second run costs more than the first, for each page that it handles more; nineteen of twenty links of
/// a page are known, the last one is new. Runs of few pages are made ten times and added up. What the jobs and the site say is compared after each run. docs/performance.md has more.
#[derive(Parser)]
#[command(name = "known", version)]
struct Arguments {
    /// Known URLs, with the pages of the shorter and of the longer run if they are to be others than usual (a fifth and four fifths, 60,000
    /// and 160,000 at most). The shorter run must last until all keys are read back: some seconds for ten million
    #[arg(long, value_name = "KNOWN[:SHORT:LONG]", value_delimiter = ',', default_value = "10000,10000000")]
    sizes: Vec<KnownSize>,
    /// Times that each size is measured
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    alternations: u16,
    /// Further arguments of `nephila run`, in one text
    #[arg(long, value_name = "ARGUMENTS", allow_hyphen_values = true)]
    nephila_args: Option<String>,
    #[command(flatten)]
    targets: Targets,
    /// Where jobs are kept, until it ends however it ends: for ten million URLs two of some gigabytes. What a kill left there is removed
    /// at the next start
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    folder: PathBuf,
    /// Another host than the one beside this program
    #[arg(long, value_name = "FILE")]
    nephila: Option<PathBuf>,
    /// Another plugin than ../test-plugins/bench.wasm
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,
}

fn main() -> ExitCode {
    said("known", run(Arguments::parse()))
}

fn run(arguments: Arguments) -> Result<ExitCode> {
    let mut programs = Programs::beside_this_one()?;
    programs.nephila = arguments.nephila.unwrap_or(programs.nephila);
    programs.plugin = arguments.plugin.unwrap_or(programs.plugin);
    programs.nephila_arguments = nephila_arguments(arguments.nephila_args.as_deref(), &["--max-requests"])?;
    arguments.targets.check(KNOWN_FIGURES)?;
    programs.check()?;

    let machine = Machine::this();
    let work = WorkFolder::open(&arguments.folder)?;
    work.empty_on_signals()?;
    let runs = measure_known(&programs, &arguments.sizes, usize::from(arguments.alternations), &work)?;
    let measured = arguments.sizes.into_iter().zip(runs).collect();
    let report = KnownReport::of(machine, programs.nephila_arguments, measured);
    println!("{report}");
    arguments.targets.write(KNOWN_FIGURES, &report, &report.to_string())?;
    Ok(ExitCode::SUCCESS)
}
