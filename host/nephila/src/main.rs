//! `nephila`: the command line. Wires the rooms of the house together and knows no algorithm.

mod build;
mod check;
mod cli;
mod companions;
mod exit;
mod export;
mod fetch;
mod happenings;
mod input;
mod inspect;
mod job_list;
mod list;
mod logging;
mod moment;
mod new;
mod one_page;
mod outputs;
mod parse;
mod plugin_host;
mod plugins;
mod progress_line;
mod report;
mod resources;
mod run;
mod runs;
mod sessions;
mod signals;
mod sources;
mod status;
mod stores;
mod trial_text;
mod voice;
mod watching;

use clap::Parser;
use cli::{Cli, Command};
use exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    // clap ends the process itself for --help (0) and for wrong usage (2).
    let cli = Cli::parse();
    logging::start();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            return exit::refuse(&anyhow::Error::new(error).context("the asynchronous runtime could not be started")).code();
        }
    };
    // A crawl's result is its job; that of the other commands is what they print.
    let is_printed = !matches!(cli.command, Command::Run(_));
    let exit = runtime.block_on(async {
        match cli.command {
            Command::New(options) => new::new(&options),
            Command::Build(options) => build::build(&options).await,
            Command::Check(options) => check::check(&options).await,
            Command::Fetch(options) => fetch::fetch(&options).await,
            Command::Parse(options) => parse::parse(&options).await,
            Command::Run(options) => {
                let load = happenings::install()?;
                // Whatever becomes of the crawl, its process's listeners hear the end.
                nephila_events::run(run::run(*options, load)).await?
            }
            Command::List(options) => list::list(&options).await,
            Command::Inspect(options) => inspect::inspect(&options).await,
            Command::Status(options) => status::status(&options),
            Command::Export(options) => export::export(&options).await,
        }
    });
    // A fetch that hangs must not hold the process.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    match exit {
        Ok(Exit::Done) if is_printed && let Some(cause) = voice::unprinted() => {
            exit::refuse(&anyhow::anyhow!("standard output could not be written: {cause}; write to another place")).code()
        }
        Ok(exit) => exit.code(),
        Err(error) => exit::refuse(&error).code(),
    }
}
