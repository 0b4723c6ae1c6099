//! What a page costs in each language that plugins are written in, as a command; `cargo xtask bench-languages` builds everything and calls it.

use anyhow::Result;
use clap::Parser;
use nephila_bench::{
    LANGUAGE_FIGURES, Language, LanguagesReport, Machine, Programs, Targets, Workload, measure_languages, nephila_arguments, said,
};
use std::path::PathBuf;
use std::process::ExitCode;

/// Crawls a mesh on this machine with the same plugin in each language, in fresh and in reused sandboxes, and with the bare loop
///
/// Every run's output is compared with what the site says. docs/performance.md has more.
#[derive(Parser)]
#[command(name = "languages", version)]
struct Arguments {
    /// Rounds that count
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Only these languages
    #[arg(long, value_name = "LANGUAGE", value_delimiter = ',')]
    only: Vec<Language>,
    /// Pages of the mesh
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..))]
    pages: u32,
    /// Further arguments of `nephila run`, in one text
    #[arg(long, value_name = "ARGUMENTS", allow_hyphen_values = true)]
    nephila_args: Option<String>,
    #[command(flatten)]
    targets: Targets,
    /// Where runs keep their files; on the kind of disk that counts
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    folder: PathBuf,
    /// Where the plugins' sources are
    #[arg(long, value_name = "DIR", default_value = "tests/bench/languages")]
    sources: PathBuf,
    /// Another host than the one beside this program
    #[arg(long, value_name = "FILE")]
    nephila: Option<PathBuf>,
}

fn main() -> ExitCode {
    said("languages", run(Arguments::parse()))
}

fn run(arguments: Arguments) -> Result<ExitCode> {
    let mut programs = Programs::beside_this_one()?;
    programs.nephila = arguments.nephila.unwrap_or(programs.nephila);
    programs.nephila_arguments = nephila_arguments(arguments.nephila_args.as_deref(), &[])?;
    arguments.targets.check(LANGUAGE_FIGURES)?;
    programs.check()?;

    let machine = Machine::this();
    let languages = if arguments.only.is_empty() { Language::ALL.to_vec() } else { arguments.only };
    let workload = Workload::mesh(usize::try_from(arguments.pages).ok());
    let rounds = usize::from(arguments.rounds);
    let rounds = measure_languages(&programs, &arguments.sources, &languages, workload, rounds, &arguments.folder)?;
    let report = LanguagesReport::of(machine, workload, programs.nephila_arguments, rounds);
    println!("{report}");
    arguments.targets.write(LANGUAGE_FIGURES, &report, &report.to_string())?;
    Ok(ExitCode::SUCCESS)
}
