//! Kills crawls at random moments and checks that nothing was lost and nothing doubled.
//!
//! Each crawl of the bookshop (failures that heal, failures that do not, redirects on and off the site, some of which converge) is killed up to
//! six times and resumed by the same command until it is done. Its statistics and its output must equal those of an undisturbed crawl. Half
//! as many crawls again are stopped by SIGTERM, and then nothing at all may be fetched twice.

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use nephila_e2e::{Crawl, Ended, plugin, sorted_lines};
use nephila_site::{Running, Site, SiteConfig, Switches};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// Kills of one crawl at most.
const KILLS_A_CRAWL: u64 = 6;
const CONCURRENCY: u64 = 16;

#[derive(Parser)]
struct Options {
    /// How many kills in all.
    #[arg(long, default_value_t = 200)]
    points: u64,
    /// What the moments are drawn from; a failure prints it.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[tokio::main]
async fn main() -> Result<()> {
    let options = Options::parse();
    let site = Site::start(SiteConfig::bookshop().with(switches())).await?;
    let hops = site.plan().iter().map(|page| page.hops as u64 + u64::from(page.meta_refresh)).max().unwrap_or(0);
    // Kept when the test fails, so that the job can be looked at.
    let scratch = tempfile::tempdir()?.keep();
    println!("jobs and outputs are in {}", scratch.display());
    let mut random = Random(options.seed);

    let begun = Instant::now();
    let truth = Truth::of(&undisturbed(&site, &scratch)?, &scratch.join("undisturbed.jsonl"))?;
    let usual = begun.elapsed();
    println!("undisturbed: {} in {:.1} s; up to {hops} hops", truth.summary(), usual.as_secs_f64());

    let (mut killed, mut crawls) = (0, 0);
    while killed < options.points {
        crawls += 1;
        let most = KILLS_A_CRAWL.min(options.points - killed);
        let kills = disturbed(&site, &scratch, &truth, Signal::SIGKILL, most, usual, hops, &mut random)
            .with_context(|| format!("crawl {crawls}, SIGKILL, --seed {}", options.seed))?;
        killed += kills;
        println!("crawl {crawls}: {kills} kills, all equal ({killed} of {})", options.points);
    }
    let (mut stopped, wanted) = (0, options.points.div_ceil(4));
    while stopped < wanted {
        crawls += 1;
        let most = KILLS_A_CRAWL.min(wanted - stopped);
        let stops = disturbed(&site, &scratch, &truth, Signal::SIGTERM, most, usual, hops, &mut random)
            .with_context(|| format!("crawl {crawls}, SIGTERM, --seed {}", options.seed))?;
        stopped += stops;
        println!("crawl {crawls}: {stops} stops by SIGTERM, all equal, nothing fetched twice ({stopped} of {wanted})");
    }
    std::fs::remove_dir_all(&scratch)?;
    println!("crash test passed: {killed} kills and {stopped} stops in {crawls} crawls, {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

fn switches() -> Switches {
    // Every hundredth book never heals.
    let never = nephila_site::books(Switches::default().seed).into_iter().step_by(100).map(|book| (book.path, 500)).collect();
    Switches {
        fail_ratio: 0.1,
        heal_after: 2,
        redirect_ratio: 0.2,
        off_site_redirects: true,
        converge_ratio: 0.2,
        meta_refresh_ratio: 0.05,
        latency_ms: 2,
        status: never,
        ..Switches::default()
    }
}

fn command(site: &Running, folder: &Path, name: &str) -> Result<Crawl> {
    // A page that fails twice may redirect to one that fails twice more: six retries are within which both heal, whoever asks first.
    let retries = ["--set", "max-retries=6", "--set", "retry-delay=20ms", "--set", "max-retry-delay=100ms"];
    let arguments = ["run", "--delay", "0", "--json", "--allow-private"].into_iter().chain(retries);
    let (job, output) = (folder.join(name), folder.join(format!("{name}.jsonl")));
    Ok(Crawl::new(folder, arguments).with([plugin("books")?.as_os_str(), site.url().as_ref()]).with([
        "--job".as_ref(),
        job.as_os_str(),
        "-o".as_ref(),
        output.as_os_str(),
    ]))
}

fn undisturbed(site: &Running, folder: &Path) -> Result<Ended> {
    site.reset();
    command(site, folder, "undisturbed")?.run()?.expect_code(0)
}

#[allow(clippy::too_many_arguments, reason = "the parameters of one experiment, used once")]
fn disturbed(
    site: &Running,
    folder: &Path,
    truth: &Truth,
    signal: Signal,
    most: u64,
    usual: Duration,
    hops: u64,
    random: &mut Random,
) -> Result<u64> {
    let name = "disturbed";
    let (job, output) = (folder.join(name), folder.join(format!("{name}.jsonl")));
    site.reset();
    let command = command(site, folder, name)?;
    let mut kills = 0;
    let mut done = None;
    while kills < most && done.is_none() {
        // Early, so that a crawl can be killed many times before it is done.
        let after = usual.mul_f64(random.share() * 0.6);
        let ended = command.run_until(after, signal)?;
        match (ended.code, signal) {
            (Some(0), _) => done = Some(ended),
            (None, Signal::SIGKILL) => kills += 1,
            (Some(3), Signal::SIGTERM) => kills += 1,
            // Before the handler was installed, SIGTERM ends the process like SIGKILL.
            (None, Signal::SIGTERM) => {}
            _ => bail!("unexpected end {:?}: {}", ended.code, ended.stderr),
        }
    }
    let ended = match done {
        Some(ended) => ended,
        None => command.run()?.expect_code(0)?,
    };
    let found = Truth::of(&ended, &output)?;
    ensure!(found == *truth, "it differs from the undisturbed crawl:\n{}\n{}", found.summary(), truth.difference(&found));
    let fetches = ended.json()?["fetches"].as_u64().context("no count of fetches")?;
    let seen = site.stats().requests;
    let allowed = match signal {
        Signal::SIGKILL => fetches + kills * CONCURRENCY * (hops + 1),
        _ => fetches,
    };
    ensure!(seen >= fetches && seen <= allowed, "the site saw {seen} requests; {fetches} were committed, {allowed} are allowed");
    // The same command again finds nothing to do.
    let again = command.run()?.expect_code(0)?;
    ensure!(Truth::of(&again, &output)? == *truth, "running the finished job again changed it");
    std::fs::remove_dir_all(&job)?;
    std::fs::remove_file(&output)?;
    Ok(kills)
}

/// What must be the same however often a crawl was killed.
#[derive(PartialEq)]
struct Truth {
    numbers: Vec<(&'static str, Value)>,
    lines: Vec<String>,
}

impl Truth {
    fn of(ended: &Ended, output: &Path) -> Result<Self> {
        let json = ended.json()?;
        let names =
            ["status", "requestsTotal", "requestsPending", "requestsFinished", "requestsFailed", "requestsSkipped", "items"];
        let numbers = names.map(|name| (name, json[name].clone())).to_vec();
        let lines = sorted_lines(output)?;
        if let Some(twice) = lines.windows(2).find(|pair| pair[0] == pair[1]) {
            bail!("this line stands twice in the output: {}", twice[0]);
        }
        for line in &lines {
            serde_json::from_str::<Value>(line).with_context(|| format!("a broken line: {line}"))?;
        }
        Ok(Self { numbers, lines })
    }

    fn summary(&self) -> String {
        let numbers: Vec<String> = self.numbers.iter().map(|(name, value)| format!("{name} {value}")).collect();
        format!("{}, {} lines", numbers.join(", "), self.lines.len())
    }

    fn difference(&self, other: &Self) -> String {
        let missing = self.lines.iter().filter(|line| !other.lines.contains(line)).take(3).map(|line| format!("missing: {line}"));
        let extra = other.lines.iter().filter(|line| !self.lines.contains(line)).take(3).map(|line| format!("extra: {line}"));
        std::iter::once(self.summary()).chain(missing).chain(extra).collect::<Vec<_>>().join("\n")
    }
}

/// The generator splitmix64: reproducible, and good enough for moments.
struct Random(u64);

impl Random {
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let a = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let b = (a ^ (a >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((b ^ (b >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
