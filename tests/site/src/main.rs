//! The command `nephila-site`: a site of known answers as a process of its own, for tests that kill, pause and measure.

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};
use nephila_site::{Content, HeavyShape, MeshShape, Site, SiteConfig, Switches};
use std::future::Future;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Serves a deterministic test site on 127.0.0.1
///
/// GET /_site/stats tells what was asked (?brief leaves out the URLs), POST /_site/reset zeroes it, GET /_site/plan tells
/// what every page does to its visitors.
#[derive(Parser)]
#[command(name = "nephila-site", version)]
struct Cli {
    #[command(subcommand)]
    site: SiteCommand,
}

#[derive(Subcommand)]
enum SiteCommand {
    /// A shop of 50 listing pages and 1,000 books
    Bookshop {
        #[command(flatten)]
        process: Process,
        #[command(flatten)]
        switches: Switches,
    },
    /// Pages with links to each other
    Mesh {
        #[command(flatten)]
        process: Process,
        #[command(flatten)]
        shape: MeshShape,
        #[command(flatten)]
        switches: Switches,
    },
    /// Pages of 60 to 100 kB with 150 links and the markup of a real shop
    Heavy {
        #[command(flatten)]
        process: Process,
        #[command(flatten)]
        shape: HeavyShape,
        #[command(flatten)]
        switches: Switches,
    },
    /// One of each kind of pages to practise on: quotes on pages and without end, a login, a form, an API, files
    Practice {
        #[command(flatten)]
        process: Process,
        #[command(flatten)]
        switches: Switches,
    },
    /// A folder of real files, as a plain web server would serve it
    Files {
        /// The folder
        dir: PathBuf,
        #[command(flatten)]
        process: Process,
    },
}

#[derive(Args)]
struct Process {
    /// The port to listen on; 0: any free one
    #[arg(long, value_name = "P", default_value_t = 0)]
    port: u16,
    /// Threads that serve
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
}

fn main() -> ExitCode {
    match serve(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // In one line: where `main` returns an error, RUST_BACKTRACE puts fifty after it.
        Err(error) => {
            eprintln!("nephila-site: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn serve(cli: Cli) -> Result<()> {
    let (process, content, switches) = match cli.site {
        SiteCommand::Bookshop { process, switches } => (process, Content::Bookshop, switches),
        SiteCommand::Mesh { process, shape, switches } => (process, Content::Mesh(shape), switches),
        SiteCommand::Heavy { process, shape, switches } => (process, Content::Heavy(shape), switches),
        SiteCommand::Practice { process, switches } => (process, Content::Practice, switches),
        SiteCommand::Files { dir, process } => (process, Content::Files(dir), Switches::default()),
    };
    let mut runtime = match process.threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = runtime.worker_threads(usize::from(process.threads)).enable_all().build().context("no runtime")?;
    runtime.block_on(run(SiteConfig { port: process.port, content, switches }))
}

async fn run(config: SiteConfig) -> Result<()> {
    // Before the ready line: whoever reads it may send a signal at once.
    let stop = stop_signal()?;
    let site = Site::start(config).await?;
    let mut out = std::io::stdout();
    writeln!(out, "listening on {}", site.url()).and_then(|()| out.flush()).context("cannot print the address")?;
    if site.start_url() != site.url() {
        eprintln!("start at {}", site.start_url());
    }
    stop.await;
    site.stop().await;
    Ok(())
}

#[cfg(unix)]
fn stop_signal() -> Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot wait for SIGINT")?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn stop_signal() -> Result<impl Future<Output = ()>> {
    Ok(async {
        // An error means that no Ctrl-C can be heard; stopping then is all that is left.
        let _ = tokio::signal::ctrl_c().await;
    })
}
