//! The benchmark as a command; `cargo xtask bench` builds everything and calls it.

use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};
use nephila_bench::{FIGURES, Machine, Programs, Report, Summary, Targets, Workload, compare, nephila_arguments, said};
use std::path::PathBuf;
use std::process::ExitCode;

/// Crawls two sites on this machine with Nephila and with a bare loop, in turn, and compares what they cost
///
/// Every run's output is compared with what the sites say; a wrong one ends the benchmark. docs/performance.md has what is
/// measured and why.
#[derive(Parser)]
#[command(name = "bench", version)]
struct Arguments {
    /// Pairs of runs that count
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..))]
    alternations: u16,
    /// Only this site
    #[arg(long, value_name = "SITE")]
    only: Option<Only>,
    /// Pages of each site, for a quick look (default: 10,000 of mesh, 2,000 of heavy)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pages: Option<u32>,
    /// Further arguments of `nephila run`, in one text: --nephila-args '--set plugin-reuse=16'. Its own `-c 16` and
    /// `--delay 0` give way to them
    #[arg(long, value_name = "ARGUMENTS", allow_hyphen_values = true)]
    nephila_args: Option<String>,
    #[command(flatten)]
    targets: Targets,
    /// Where runs keep their files; on the kind of disk that counts
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    folder: PathBuf,
    /// Another host than the one beside this program
    #[arg(long, value_name = "FILE")]
    nephila: Option<PathBuf>,
    /// Another plugin than ../test-plugins/bench.wasm
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Only {
    Mesh,
    Heavy,
}

fn main() -> ExitCode {
    said("bench", run(Arguments::parse()))
}

fn run(arguments: Arguments) -> Result<ExitCode> {
    let mut programs = Programs::beside_this_one()?;
    programs.nephila = arguments.nephila.unwrap_or(programs.nephila);
    programs.plugin = arguments.plugin.unwrap_or(programs.plugin);
    programs.nephila_arguments = nephila_arguments(arguments.nephila_args.as_deref(), &[])?;
    if let (Some(_), Some(file)) = (arguments.only, &arguments.targets.markdown) {
        let file = file.display();
        bail!("with --only, --markdown would take the other site's table out of {file}; leave out --only, or write to --json");
    }
    arguments.targets.check(FIGURES)?;
    programs.check()?;

    let (machine, alternations) = (Machine::this(), usize::from(arguments.alternations));
    let pages = arguments.pages.and_then(|pages| usize::try_from(pages).ok());
    let mut workloads = Vec::new();
    for (only, workload) in [(Only::Mesh, Workload::mesh(pages)), (Only::Heavy, Workload::heavy(pages))] {
        if arguments.only.is_none_or(|wanted| wanted == only) {
            let pairs = compare(&programs, workload, alternations, &arguments.folder)?;
            workloads.push(Summary::of(workload, pairs));
        }
    }
    let report = Report { machine, alternations, nephila_arguments: programs.nephila_arguments, workloads };
    println!("{report}");
    arguments.targets.write(FIGURES, &report, &report.to_string())?;
    Ok(ExitCode::SUCCESS)
}
