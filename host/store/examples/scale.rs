//! Measures the SQLite store at the sizes that it is made for: what a request costs when it is accepted, and what a page costs when so many
//! are known.
//!
//! `cargo xtask bench-store [--sizes 10000,100000,1000000,10000000] [--sites 100000] [--pages 5000] [--group 16] [--links 20] [--json FILE]
//! [--dir FOLDER]`; `--help` says what each is.
//!
//! A size is filled with outcomes of 20 new links (`--links`), drained for a number of pages as a crawl does it (windows of many sites in turn,
//! 20 links a page of which 19 are known), closed, and opened and drained again by another process, which knows nothing of it. Each of
//! both runs in a process of its own, so that what it says of its memory is its own. What is measured is work of the processor (by thread,
//! as the kernel counts it), which other programs on the machine do not change much; the time on the clock is given beside it. All that is random
//! comes from one number, so that two runs do the same.
#![allow(clippy::expect_used, clippy::panic, reason = "a measurement ends at the first surprise")]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]

use clap::builder::RangedU64ValueParser;
use clap::{Parser, ValueEnum};
use nephila_model::{
    CommitLimits, Counter, CrawlId, CrawlerId, DatasetName, Effects, Group, ItemPush, NewRequest, Outcome, QueuedRequest, Shard,
    SiteBy, SiteId, SiteKey, StatsDelta, Subject, Verdict,
};
use nephila_store::{Company, CrawlOrder, CrawlSpec, Durability, JobDir, Leases, OpenedCrawl, SiteOrder, SqliteStore, Store};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use url::Url;

/// Links of a page.
const LINKS: u64 = 20;

/// Requests of a site, on average: where there are fewer requests there are fewer sites.
const PER_SITE: u64 = 100;

/// Rows that a crawl reads of a site at a time, and sites that it has in memory.
const WINDOW: usize = 64;
const SITES_IN_MEMORY: usize = 1_024;

/// Measures the SQLite store with many rows: what a request costs when it is accepted, and a page where so many are known
///
/// Each size is filled in a process of its own, some pages are handled, and then again by another process that has to open it. All times
/// are of the processor.
#[derive(Parser)]
#[command(name = "bench-store")]
struct Settings {
    /// Requests to fill a store with, one store for each
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "10000,100000,1000000,10000000", value_parser = least(1))]
    sizes: Vec<u64>,
    /// Sites that they are spread over at most; 100 requests of each in smaller stores
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = least(1))]
    sites: u64,
    /// Pages handled of each size, each of which finds one more
    #[arg(long, value_name = "N", default_value_t = 5_000, value_parser = least(1))]
    pages: u64,
    /// Outcomes in one transaction
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..))]
    group: u16,
    /// Links of an outcome while filling
    #[arg(long, value_name = "N", default_value_t = LINKS, value_parser = least(1))]
    links: u64,
    /// Write all figures to this file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Where the stores are kept while they are measured: for ten million requests some gigabytes
    #[arg(long, value_name = "DIR", default_value_os_t = std::env::temp_dir())]
    dir: PathBuf,
    /// In a child: which part it measures
    #[arg(long, hide = true)]
    part: Option<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Fill,
    Resume,
}

fn least(number: u64) -> RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(number..)
}

impl Settings {
    /// What can be wrong is said before anything is measured.
    fn check(&self) -> Result<(), String> {
        if !self.dir.is_dir() {
            return Err(format!("--dir: {} is no folder", self.dir.display()));
        }
        let Some(file) = &self.json else { return Ok(()) };
        let exists = file.exists();
        let opened = std::fs::OpenOptions::new().append(true).create(true).open(file);
        let written = opened.and_then(|_| if exists { Ok(()) } else { std::fs::remove_file(file) });
        written.map_err(|error| format!("--json: cannot write {}: {error}", file.display()))
    }
}

/// Goes with what is in it, also when the measurement fails.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nobody is there any more who could do something about it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// SplitMix64: the same numbers everywhere.
const fn mix(seed: u64) -> u64 {
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The page of a number, as a link to it is found. The new links of a page lead to pages of one site, as most links do.
fn page(number: u64, sites: u64, depth: u32) -> NewRequest {
    let site = mix(number / LINKS) % sites;
    let text = format!("http://www.site{site}.example/catalogue/category-{}/page-{number}.html", number % 17);
    NewRequest { depth, ..NewRequest::get(Url::parse(&text).expect("a URL"), SiteBy::Hostname) }
}

/// A moment, as the kernel's counters show it.
struct Moment {
    clock: Instant,
    writer: u64,
    reader: u64,
    all: u64,
}

impl Moment {
    fn now() -> Self {
        let mut moment = Self { clock: Instant::now(), writer: 0, reader: 0, all: 0 };
        for task in std::fs::read_dir("/proc/self/task").expect("threads") {
            let task = task.expect("a thread").path();
            let spent = std::fs::read_to_string(task.join("schedstat")).expect("a counter of the scheduler");
            let spent: u64 = spent.split(' ').next().and_then(|nanos| nanos.parse().ok()).expect("nanoseconds");
            moment.all += spent;
            match std::fs::read_to_string(task.join("comm")).expect("a name").trim() {
                "nephila-writer" => moment.writer += spent,
                "nephila-reader" => moment.reader += spent,
                _ => {}
            }
        }
        moment
    }

    /// Microseconds for each of `count` things since then: on the clock, and of work.
    fn per(&self, count: u64) -> Value {
        let now = Self::now();
        let each = |nanos: u64| (nanos as f64 / count as f64 / 10.0).round() / 100.0;
        let (writer, reader) = (now.writer - self.writer, now.reader - self.reader);
        json!({
            "count": count,
            "wallMicros": each(u64::try_from(self.clock.elapsed().as_nanos()).expect("a time")),
            "processMicros": each(now.all - self.all),
            "storeMicros": each(writer + reader),
            "writerMicros": each(writer),
            "readerMicros": each(reader),
        })
    }
}

/// Kibibytes, as the kernel names them in `status`.
fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
    line.trim_matches([':', ' ', '\t', 'k', 'B']).parse().expect("a number")
}

/// A crawl in a store.
struct Crawl {
    store: SqliteStore,
    id: CrawlId,
    leases: Leases,
    sites: u64,
    group: usize,
}

impl Crawl {
    async fn open(folder: &Path, sites: u64, group: usize) -> Self {
        let (dir, lock) = JobDir::open_or_create(folder).expect("a job");
        let store = SqliteStore::open(dir, lock, Durability::Kill).expect("a store");
        let spec = CrawlSpec {
            company: Company::Alone,
            crawler_id: CrawlerId::new("scale").expect("an id"),
            plugin_name: "scale".into(),
            plugin_digest: "0".into(),
            site_by: SiteBy::Hostname,
            order: CrawlOrder::Fifo,
            max_state_value: 1_000_000,
        };
        let OpenedCrawl { record, leases, .. } = store.open_crawl(&spec).await.expect("opened");
        Self { store, id: record.id, leases, sites, group }
    }

    fn of_crawl(&self, effects: Effects) -> Outcome {
        Outcome {
            subject: Subject::Crawl,
            lease: self.leases.of(Shard::CRAWL),
            verdict: None,
            effects,
            stats: StatsDelta::default(),
            site_next_allowed: None,
            session: None,
        }
    }

    async fn commit(&self, outcomes: Vec<Outcome>, new: u64) {
        let results = self.store.commit(self.id, Group { outcomes, limits: CommitLimits::default() }).await.expect("committed");
        let accepted: usize = results.iter().map(|result| result.as_ref().expect("applied").accepted.len()).sum();
        assert_eq!(accepted as u64, new);
    }

    /// Requests that nobody knew, as pages find them.
    async fn fill(&self, requests: u64, links: u64) {
        let mut next = 0;
        while next < requests {
            let (mut outcomes, first) = (Vec::new(), next);
            while outcomes.len() < self.group && next < requests {
                let end = requests.min(next + links);
                let links = (next..end).map(|number| page(number, self.sites, 1)).collect();
                outcomes.push(self.of_crawl(Effects { requests: links, ..Effects::default() }));
                next = end;
            }
            self.commit(outcomes, next - first).await;
        }
    }

    /// Takes pages of many sites in turn, until so many are done. Each is asked for what it knows, as a plugin's links are, and each
    /// finds one page that nobody knew; gives the first number that is still unknown.
    async fn drain(&self, pages: u64, known: u64, mut dice: u64) -> u64 {
        let (mut windows, mut new, mut done) = (VecDeque::new(), known, 0);
        // As many sites as it takes to use up what is read of them.
        let sites = usize::try_from(pages / PER_SITE.min(WINDOW as u64)).expect("a number").clamp(1, SITES_IN_MEMORY);
        let mut outcomes = Vec::new();
        while done < pages {
            if windows.is_empty() {
                // What is still pending would be read again.
                let count = outcomes.len() as u64;
                self.commit(std::mem::take(&mut outcomes), count).await;
                for head in self.store.ready_sites(self.id, SiteOrder::ByTurn, sites).await.expect("sites") {
                    windows.push_back(self.window(head.id).await);
                }
            }
            let mut window = windows.pop_front().expect("a site is ready");
            let Some(request) = window.pop_front() else { continue };
            windows.push_back(window);
            let mut links: Vec<NewRequest> = Vec::new();
            for _ in 1..LINKS {
                dice = dice.wrapping_add(1);
                links.push(page(mix(dice) % known, self.sites, 2));
            }
            links.push(page(new, self.sites, 2));
            new += 1;
            let keys: Vec<_> = links.iter().map(|link| link.unique_key).collect();
            let found = self.store.known(self.id, &keys).await.expect("answers");
            assert!(found[..19].iter().all(|known| *known) && !found[19]);
            outcomes.push(self.handled(request, links));
            done += 1;
            if outcomes.len() == self.group || done == pages {
                let count = outcomes.len() as u64;
                self.commit(std::mem::take(&mut outcomes), count).await;
            }
        }
        new
    }

    async fn window(&self, site: SiteId) -> VecDeque<QueuedRequest> {
        self.store.site_window(self.id, site, WINDOW).await.expect("a window").requests.into()
    }

    fn handled(&self, request: QueuedRequest, requests: Vec<NewRequest>) -> Outcome {
        let json = format!("{{\"url\":\"{}\",\"title\":\"A page of no importance\",\"price\":12.5}}", request.url);
        let mut stats = StatsDelta::default();
        for (counter, by) in [
            (Counter::Fetches, 1),
            (Counter::Status(200), 1),
            (Counter::BodyBytes, 3_700),
            (Counter::FinishedMillis, 12),
            (Counter::PluginMicros, 80),
        ] {
            stats.add(counter, by);
        }
        Outcome {
            subject: Subject::Request(request.id),
            lease: self.leases.of(SiteKey::of(&request.url, SiteBy::Hostname).shard()),
            verdict: Some(Verdict::Handled { final_key: request.unique_key, final_url: request.url, status: 200 }),
            stats,
            site_next_allowed: Some(nephila_model::Timestamp::from_millis(1)),
            ..self.of_crawl(Effects {
                requests,
                items: vec![ItemPush { dataset: DatasetName::Default, json }],
                ..Effects::default()
            })
        }
    }
}

/// A child: measures its part of a size, and says so on its standard output.
async fn measure(settings: &Settings, part: Part) {
    let size = settings.sizes[0];
    let sites = settings.sites.min(size / PER_SITE).max(1);
    let folder = settings.dir.clone();
    let opening = Moment::now();
    let crawl = Crawl::open(&folder, sites, settings.group.into()).await;
    let mut report = json!({ "opened": opening.per(1) });
    let (mut known, mut dice) = (size, 1 << 40);
    if part == Part::Fill {
        let start = Moment::now();
        crawl.fill(size, settings.links).await;
        report["fill"] = start.per(size);
        report["filledRssKib"] = memory("VmRSS").into();
    } else {
        // What the first one found is known too.
        (known, dice) = (size + settings.pages, 1 << 41);
    }
    let start = Moment::now();
    crawl.drain(settings.pages, known, dice).await;
    report["drain"] = start.per(settings.pages);
    report["rssKib"] = memory("VmRSS").into();
    report["peakRssKib"] = memory("VmHWM").into();
    let start = Moment::now();
    crawl.store.close().await.expect("closed");
    report["closed"] = json!({ "wallMicros": u64::try_from(start.clock.elapsed().as_micros()).expect("a time") });
    let bytes = std::fs::metadata(folder.join("nephila.db")).expect("a file").len();
    report["bytesPerRequest"] = (bytes / size).into();
    println!("{report}");
}

fn child(settings: &Settings, size: u64, folder: &Path, part: &str) -> Value {
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
    let numbers = [
        ("--sizes", size),
        ("--sites", settings.sites),
        ("--pages", settings.pages),
        ("--group", settings.group.into()),
        ("--links", settings.links),
    ];
    for (name, number) in numbers {
        command.args([name, &number.to_string()]);
    }
    let output = command.arg("--dir").arg(folder).args(["--part", part]).stderr(std::process::Stdio::inherit()).output();
    let output = output.expect("a process");
    assert!(output.status.success(), "the process that measures {size} ended with {}", output.status);
    serde_json::from_slice(&output.stdout).expect("a report")
}

fn main() -> ExitCode {
    let settings = Settings::parse();
    if let Some(part) = settings.part {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(measure(&settings, part));
        return ExitCode::SUCCESS;
    }
    if let Err(wrong) = settings.check() {
        eprintln!("bench-store: {wrong}");
        return ExitCode::from(2);
    }
    println!("µs of CPU in the store's threads (of the whole process, measuring included); {} pages drained", settings.pages);
    println!(
        "{:>10} {:>7} {:>18} {:>18} {:>18} {:>9} {:>9} {:>9}",
        "requests", "B/req", "fill µs/request", "drain µs/page", "resumed µs/page", "filled MB", "peak MB", "resumed"
    );
    let mut reports = Vec::new();
    for size in &settings.sizes {
        let folder = Scratch(settings.dir.join(format!("nephila-scale-{}-{size}", std::process::id())));
        let filled = child(&settings, *size, &folder.0, "fill");
        let resumed = child(&settings, *size, &folder.0, "resume");
        drop(folder);
        let cpu = |of: &Value| format!("{:.1} ({:.1})", number(&of["storeMicros"]), number(&of["processMicros"]));
        let mib = |kib: &Value| number(kib) / 1_024.0;
        println!(
            "{size:>10} {:>7} {:>18} {:>18} {:>18} {:>9.1} {:>9.1} {:>9.1}",
            filled["bytesPerRequest"],
            cpu(&filled["fill"]),
            cpu(&filled["drain"]),
            cpu(&resumed["drain"]),
            mib(&filled["filledRssKib"]),
            mib(&filled["peakRssKib"]),
            mib(&resumed["peakRssKib"]),
        );
        reports.push(json!({ "requests": size, "sites": settings.sites.min(size / PER_SITE).max(1), "filled": filled, "resumed": resumed }));
    }
    if let Some(path) = &settings.json {
        let report = json!({ "group": settings.group, "pages": settings.pages, "linksPerPage": LINKS, "sizes": reports });
        std::fs::write(path, format!("{report:#}\n")).expect("written");
    }
    ExitCode::SUCCESS
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}
