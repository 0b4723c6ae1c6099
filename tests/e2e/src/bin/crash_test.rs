//! Kills crawls at random moments and checks that nothing was lost and nothing doubled.
//!
//! Each crawl of the bookshop (failures that heal, failures that do not, redirects on and off the site, some of which converge) is killed up to
//! six times and resumed by the same command until it is done. Its statistics and its output must equal those of an undisturbed crawl. Half
//! as many crawls again are stopped by SIGTERM, and then nothing at all may be fetched twice.
//!
//! Every second crawl is one of the plugin `ledger` with sessions, at a site that blocks some of them: beside the same comparison, what it noted in its
//! items and in the state, the statistics, and the uses and scores of the sessions must balance.

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use nephila_e2e::{Crawl, Ended, balance, plugin, sorted_lines, test_plugin};
use nephila_site::{Running, Site, SiteConfig, Switches};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::path::{Path, PathBuf};
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

/// What is crawled with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Redirects of all kinds, without sessions.
    Books,
    /// Sessions and state.
    Ledger,
}

/// A site with the crawl that it gets, and what that comes to when nobody disturbs it.
struct Course {
    kind: Kind,
    site: Running,
    scratch: PathBuf,
    hops: u64,
    usual: Duration,
    truth: Truth,
}

#[tokio::main]
async fn main() -> Result<()> {
    let options = Options::parse();
    // Kept when the test fails, so that the job can be looked at.
    let scratch = tempfile::tempdir()?.keep();
    println!("jobs and outputs are in {}", scratch.display());
    let mut random = Random(options.seed);
    let begun = Instant::now();
    let courses = [Course::new(Kind::Books, &scratch).await?, Course::new(Kind::Ledger, &scratch).await?];

    let wanted = [(Signal::SIGKILL, options.points), (Signal::SIGTERM, options.points.div_ceil(4))];
    let mut crawls = 0;
    for (signal, points) in wanted {
        let mut done = 0;
        while done < points {
            let course = &courses[crawls % courses.len()];
            crawls += 1;
            let most = KILLS_A_CRAWL.min(points - done);
            let signals = course
                .disturbed(signal, most, &mut random)
                .with_context(|| format!("crawl {crawls} ({}), {signal}, --seed {}", course.kind.plugin(), options.seed))?;
            done += signals;
            println!("crawl {crawls} ({}): {signals} × {signal}, all equal ({done} of {points})", course.kind.plugin());
        }
    }
    std::fs::remove_dir_all(&scratch)?;
    let [(_, kills), (_, stops)] = wanted;
    println!("crash test passed: {kills} kills and {stops} stops in {crawls} crawls, {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

impl Kind {
    const fn plugin(self) -> &'static str {
        match self {
            Self::Books => "books",
            Self::Ledger => "ledger",
        }
    }

    fn switches(self) -> Switches {
        // Every hundredth book never heals.
        let never = nephila_site::books(Switches::default().seed).into_iter().step_by(100).map(|book| (book.path, 500)).collect();
        let faults = Switches { fail_ratio: 0.1, heal_after: 2, latency_ms: 2, status: never, ..Switches::default() };
        match self {
            Self::Books => Switches {
                redirect_ratio: 0.2,
                off_site_redirects: true,
                converge_ratio: 0.2,
                meta_refresh_ratio: 0.05,
                ..faults
            },
            Self::Ledger => Switches { visitors: true, block_every: Some(30), ..faults },
        }
    }

    fn settings(self) -> &'static [&'static str] {
        // A page that fails twice may redirect to one that fails twice more: six retries are within which both heal, whoever asks first.
        const RETRIES: [&str; 6] = ["--set", "max-retries=6", "--set", "retry-delay=20ms", "--set", "max-retry-delay=100ms"];
        const SESSIONS: [&str; 16] = [
            "--set",
            "max-retries=6",
            "--set",
            "retry-delay=20ms",
            "--set",
            "max-retry-delay=100ms",
            "--set",
            "session-pool=yes",
            "--set",
            "session-max-pool-size=12",
            "--set",
            "session-max-uses=20",
            "--set",
            "session-max-error-score=6",
            "--set",
            "session-error-score-decrement=0",
        ];
        match self {
            Self::Books => &RETRIES,
            Self::Ledger => &SESSIONS,
        }
    }

    fn file(self) -> Result<PathBuf> {
        match self {
            Self::Books => plugin("books"),
            Self::Ledger => test_plugin("ledger"),
        }
    }
}

impl Course {
    async fn new(kind: Kind, scratch: &Path) -> Result<Self> {
        let site = Site::start(SiteConfig::bookshop().with(kind.switches())).await?;
        let hops = site.plan().iter().map(|page| page.hops as u64 + u64::from(page.meta_refresh)).max().unwrap_or(0);
        let (truth, usual) = (Truth::default(), Duration::ZERO);
        let mut course = Self { kind, site, scratch: scratch.to_owned(), hops, usual, truth };
        let begun = Instant::now();
        let ended = course.command("undisturbed")?.run()?.expect_code(0)?;
        course.usual = begun.elapsed();
        course.truth = course.check(&ended, "undisturbed").context("the undisturbed crawl")?;
        let (summary, seconds) = (course.truth.summary(), course.usual.as_secs_f64());
        println!("{} undisturbed: {summary} in {seconds:.1} s; up to {hops} hops", kind.plugin());
        Ok(course)
    }

    fn files(&self, name: &str) -> (PathBuf, PathBuf) {
        let of = |suffix: &str| self.scratch.join(format!("{}-{name}{suffix}", self.kind.plugin()));
        (of(""), of(".jsonl"))
    }

    fn command(&self, name: &str) -> Result<Crawl> {
        let (job, output) = self.files(name);
        Ok(Crawl::new(&self.scratch, ["run", "--delay", "0", "--json", "--allow-private"])
            .with(self.kind.settings())
            .with([self.kind.file()?.as_os_str(), self.site.url().as_ref()])
            .with(["--job".as_ref(), job.as_os_str(), "-o".as_ref(), output.as_os_str()]))
    }

    // What it came to; in itself it must balance.
    fn check(&self, ended: &Ended, name: &str) -> Result<Truth> {
        let (job, output) = self.files(name);
        if self.kind == Kind::Ledger {
            balance(&job, &output, ended, &self.site.gate().by_visitor)?;
        }
        Truth::of(self.kind, ended, &output)
    }

    fn disturbed(&self, signal: Signal, most: u64, random: &mut Random) -> Result<u64> {
        let name = "disturbed";
        self.site.reset();
        let command = self.command(name)?;
        let mut kills = 0;
        let mut done = None;
        while kills < most && done.is_none() {
            // Early, so that a crawl can be killed many times before it is done.
            let after = self.usual.mul_f64(random.share() * 0.6);
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
        let (found, truth) = (self.check(&ended, name)?, &self.truth);
        ensure!(found == *truth, "it differs from the undisturbed crawl:\n{}\n{}", found.summary(), truth.difference(&found));
        let fetches = ended.json()?["fetches"].as_u64().context("no count of fetches")?;
        let seen = self.site.stats().requests;
        let allowed = match signal {
            Signal::SIGKILL => fetches + kills * CONCURRENCY * (self.hops + 1),
            _ => fetches,
        };
        ensure!(
            seen >= fetches && seen <= allowed,
            "the site saw {seen} requests; {fetches} were committed, {allowed} are allowed"
        );
        // The same command again finds nothing to do.
        let again = command.run()?.expect_code(0)?;
        ensure!(self.check(&again, name)? == *truth, "running the finished job again changed it");
        let (job, output) = self.files(name);
        std::fs::remove_dir_all(&job)?;
        std::fs::remove_file(&output)?;
        Ok(kills)
    }
}

/// What must be the same however often a crawl was killed.
#[derive(PartialEq, Default)]
struct Truth {
    numbers: Vec<(&'static str, Value)>,
    lines: Vec<String>,
}

impl Truth {
    fn of(kind: Kind, ended: &Ended, output: &Path) -> Result<Self> {
        let json = ended.json()?;
        let names = ["status", "requestsTotal", "requestsPending", "requestsFinished", "requestsFailed", "requestsSkipped"];
        let mut numbers = names.map(|name| (name, json[name].clone())).to_vec();
        let lines = sorted_lines(output)?;
        if let Some(twice) = lines.windows(2).find(|pair| pair[0] == pair[1]) {
            bail!("this line stands twice in the output: {}", twice[0]);
        }
        let items = lines.iter().map(|line| serde_json::from_str(line).with_context(|| format!("a broken line: {line}")));
        let items: Vec<Value> = items.collect::<Result<_>>()?;
        let lines = match kind {
            Kind::Books => {
                numbers.push(("items", json["items"].clone()));
                lines
            }
            // Which session had a page, and at which attempt, is another each time.
            Kind::Ledger => {
                let pages = items.iter().filter_map(|item| item["page"].as_str().or(item["gave up"].as_str()));
                let mut pages: Vec<String> = pages.map(str::to_owned).collect();
                pages.sort();
                pages
            }
        };
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
