//! The project's tasks as cargo commands: `cargo xtask COMMAND`.
//!
//! Everything that a person or CI does with this repository more than once is here, in its own language: no make, no
//! shell scripts, nothing to install first but Rust. A task calls the ones that it needs, so each works on a fresh clone.

mod bench;
mod build;
mod crash_test;
mod demo;
mod folders;
mod packages;
mod plugin_api;
mod plugins;
mod process;
mod release_contract;
mod setup;
mod site;
mod test;
mod toolchain;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::build::Profile;
use crate::folders::Folders;
use crate::release_contract::Existing;

/// The project's tasks.
#[derive(Parser)]
#[command(name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Find or install what is needed to compile plugins, and say what was found and done
    Setup,
    /// Build the host, the test site, and every example plugin as target/plugins/NAME.wasm
    Build {
        /// The dev profile, which compiles faster, and what it makes runs slower
        #[arg(long)]
        dev: bool,
    },
    /// Build the plugins only, those of the tests too
    Plugins,
    /// Build, crawl a bookshop on this machine, and check the result
    Demo,
    /// Everything that must pass before a commit: format, lints, plugins, tests
    Test,
    /// What CI runs: `test`, then a short crash test
    Ci,
    /// Kill a crawl at random points, resume it, and compare the result
    CrashTest {
        /// How many times to kill it
        #[arg(long, default_value_t = 100)]
        points: u32,
        /// Further arguments of the crash test
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        more: Vec<String>,
    },
    /// Measure Nephila against a bare loop, all optimised: `cargo xtask bench --help` (docs/performance.md)
    #[command(disable_help_flag = true)]
    Bench {
        /// Arguments of the benchmark
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measure what a page costs where 10 thousand and where 10 million URLs are known
    #[command(disable_help_flag = true)]
    BenchKnown {
        /// Arguments of the benchmark
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measure what a page costs in each language that plugins are written in, in a fresh and in a reused sandbox
    #[command(disable_help_flag = true)]
    BenchLanguages {
        /// Arguments of the benchmark
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measure the store with many rows
    #[command(disable_help_flag = true)]
    BenchStore {
        /// Arguments of the benchmark
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Run the micro-benchmarks of all crates: `cargo xtask bench-micro FILTER`
    #[command(disable_help_flag = true)]
    BenchMicro {
        /// Arguments of divan
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Write docs/plugin-api.md from the contract in wit/
    PluginApi,
    /// Keep the contract as it is for ever: its files, and a plugin of each language that was built for it
    ReleaseContract {
        /// Of a version that nobody has yet: take the place of what is kept of it
        #[arg(long)]
        replace: bool,
    },
    /// Run the test site: `cargo xtask site bookshop --port 8000`
    #[command(disable_help_flag = true)]
    Site {
        /// Arguments of nephila-site
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nfailed: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    let folders = Folders::find()?;
    match task {
        Task::Setup => setup::run(),
        Task::Build { dev } => build::run(&folders, if dev { Profile::Dev } else { Profile::Release }),
        Task::Plugins => plugins::build_all(&folders),
        Task::Demo => demo::run(&folders),
        Task::Test => test::run(&folders),
        Task::Ci => {
            test::run(&folders)?;
            crash_test::run(&folders, 25, &[])
        }
        Task::CrashTest { points, more } => crash_test::run(&folders, points, &more),
        Task::Bench { arguments } => bench::programs(&folders, &arguments),
        Task::BenchKnown { arguments } => bench::known(&folders, &arguments),
        Task::BenchLanguages { arguments } => bench::languages(&folders, &arguments),
        Task::BenchStore { arguments } => bench::store(&folders, &arguments),
        Task::BenchMicro { arguments } => bench::micro(&folders, &arguments),
        Task::PluginApi => plugin_api::write(&folders),
        Task::ReleaseContract { replace } => {
            release_contract::write(&folders, if replace { Existing::Replace } else { Existing::Keep })
        }
        Task::Site { arguments } => site::forward(&folders, &arguments),
    }
}
