//! Real crawls in this process, several at once, which share its event manager: what no child process can show.
//!
//! The orders in which two crawls begin and end are one test, since a process has one event manager.

use anyhow::{Context, Result, ensure};
use nephila_autoscale::AutoscaleSettings;
use nephila_crawler::{CrawlReport, CrawlSettings, CrawlSetup, FinishReason, Load, NamedStorages, StopLevel, Stopper};
use nephila_e2e::test_plugin;
use nephila_events::{
    CpuInfo, Event, EventConfig, EventName, Events, Interval, Listener, LocalEventManager, MemoryInfo, OwnName, Sampler,
    Subscription, SystemInfo,
};
use nephila_fetch::{AddressGuard, FetchConfig, Fetcher};
use nephila_model::{CrawlId, CrawlerId, DatasetName, EventId, KvStoreName, NewRequest, Profile, SiteBy, Timestamp};
use nephila_plugin::{CallSettings, HostConfig, Plugin, PluginHost};
use nephila_site::{Running, Site, SiteConfig};
use nephila_store::{Company, CrawlOrder, CrawlSpec, MemoryStore, Store, StoreError};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::JoinHandle;

const PAGES: usize = 25;
const SAMPLE_EVERY: u64 = 20;

/// A step of an order: crawls are 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Start(usize),
    Stop(usize),
    /// One ends, and the other begins in the same moment.
    Swap(usize, usize),
}

/// Who holds the event manager beside the crawls.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Held {
    ByTheProcess,
    ByCrawlsAlone,
}

/// Every order in which two crawls begin and end, with the two in which one begins while the other ends.
fn orders() -> Vec<Vec<Step>> {
    use Step::{Start, Stop, Swap};
    let of = |a, b| {
        [
            vec![Start(a), Start(b), Stop(a), Stop(b)],
            vec![Start(a), Start(b), Stop(b), Stop(a)],
            vec![Start(a), Stop(a), Start(b), Stop(b)],
            vec![Start(a), Swap(a, b), Stop(b)],
        ]
    };
    of(0, 1).into_iter().chain(of(1, 0)).collect()
}

/// Counts how often it was asked.
struct Counting(Arc<AtomicU64>);

impl Sampler for Counting {
    fn sample(&mut self) -> Option<SystemInfo> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let created_at = Timestamp::now();
        let memory = MemoryInfo { current_size: 1, total_size: 2, system_wide_used_size: 1, created_at };
        Some(SystemInfo { cpu: CpuInfo { used_ratio: 0.1, created_at }, memory })
    }
}

/// What the process itself hears.
struct Ear {
    heard: Arc<Mutex<Vec<Event>>>,
    samples: Subscription,
}

impl Ear {
    fn open(events: &Events) -> Result<Self> {
        let heard: Arc<Mutex<Vec<Event>>> = Arc::default();
        let notes = Arc::clone(&heard);
        let note = Listener::new(move |event: Event| {
            let notes = Arc::clone(&notes);
            async move { notes.lock().unwrap_or_else(PoisonError::into_inner).push(event) }
        });
        let page = EventName::from(OwnName::new("page")?);
        let names = [EventName::PersistState, EventName::CrawlStarted, EventName::CrawlFinished, page];
        events.on(names, note.named("the process's ear"))?;
        let samples = events.on(EventName::SystemInfo, Listener::without_event(|| async {}))?;
        Ok(Self { heard, samples })
    }

    fn count(&self, is_meant: impl Fn(&Event) -> bool) -> usize {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(|event| is_meant(event)).count()
    }

    fn persist_states(&self) -> usize {
        self.count(|event| matches!(event, Event::PersistState { .. }))
    }

    fn samples(&self) -> u64 {
        let stats = self.samples.stats();
        stats.handled + stats.replaced + stats.dropped
    }
}

/// What all crawls of the test have in common.
struct World {
    site: Running,
    plugin: Arc<Plugin>,
    load: Load,
    events: Events,
}

/// A crawl that runs.
struct Crawling {
    store: Arc<dyn Store>,
    id: CrawlId,
    stopper: Stopper,
    task: JoinHandle<Result<CrawlReport, StoreError>>,
}

impl Crawling {
    async fn start(world: &World, store: &Arc<dyn Store>, crawler: &str) -> Result<Self> {
        let settings = {
            let mut settings = CrawlSettings::default();
            // It ends when it is told to.
            for (name, value) in [("delay", "0"), ("keep-alive", "yes")] {
                settings.set(name, value)?;
            }
            Arc::new(settings)
        };
        let spec = CrawlSpec {
            company: Company::Shared,
            crawler_id: CrawlerId::new(crawler).context("an id")?,
            plugin_name: world.plugin.name().to_owned(),
            plugin_digest: world.plugin.digest().to_owned(),
            site_by: SiteBy::Hostname,
            order: CrawlOrder::Fifo,
            max_state_value: settings.max_state_value,
        };
        let opened = store.open_crawl(&spec).await?;
        let id = opened.record.id;
        let listen = ["crawlStarted", "crawlFinished", "persistState", "systemInfo", "page"];
        let input = json!({ "listen": listen, "pages": { "/p/": "follow-count-and-emit" } });
        let start = world.site.url().parse()?;
        let (stopper, stop) = Stopper::new();
        let setup = CrawlSetup {
            store: Arc::clone(store),
            opened,
            pipelines: Vec::new(),
            listeners: Vec::new(),
            plugin: watch::channel(Arc::clone(&world.plugin)).1,
            fetcher: Arc::new(Fetcher::new(FetchConfig {
                guard: AddressGuard::new().allow_all_private(),
                ..FetchConfig::default()
            })?),
            settings,
            call_settings: Arc::new(CallSettings { input_json: input.to_string(), ..CallSettings::default() }),
            block_rules: Vec::new(),
            starts: vec![NewRequest::get(start, SiteBy::Hostname)],
            stop,
            progress: watch::channel(Default::default()).0,
            items: watch::channel(0).0,
            events: world.events.clone(),
            load: world.load.clone(),
            named_storages: NamedStorages::Kept,
            profile: Arc::new(Profile::default()),
        };
        Ok(Self { store: Arc::clone(store), id, stopper, task: tokio::spawn(nephila_crawler::run(setup)) })
    }

    /// What its listener has heard, by name.
    async fn heard(&self) -> Result<BTreeMap<String, usize>> {
        heard(&self.store, self.id).await
    }

    async fn handled(&self) -> Result<u64> {
        Ok(self.store.counts(self.id).await?.handled)
    }

    /// Waits until all is done that it can do by itself.
    async fn is_done(&self) -> Result<()> {
        until("all pages and their events", async || {
            let waits = !self.store.events(self.id, EventId(0), 1).await?.is_empty();
            Ok(self.handled().await? == PAGES as u64 && !waits && self.heard().await?.get("page") == Some(&(PAGES - 1)))
        })
        .await
    }

    /// Waits until its listener has heard of two more samples.
    async fn hears_of_samples(&self) -> Result<()> {
        let samples = async || anyhow::Ok(self.heard().await?.get("systemInfo").copied().unwrap_or(0));
        let before = samples().await?;
        until("two more samples", async || Ok(samples().await? >= before + 2)).await
    }

    async fn stop(self) -> Result<CrawlReport> {
        self.is_done().await?;
        self.stopper.stop(StopLevel::Graceful);
        Ok(self.task.await??)
    }
}

async fn heard(store: &Arc<dyn Store>, crawl: CrawlId) -> Result<BTreeMap<String, usize>> {
    let slice = store.dataset_slice(crawl, &DatasetName::Default, 0, usize::MAX, usize::MAX).await?;
    let (mut counts, mut ids) = (BTreeMap::new(), BTreeSet::new());
    for row in slice.rows {
        let item: Value = serde_json::from_str(&row.json)?;
        if let Some(name) = item["name"].as_str() {
            *counts.entry(name.to_owned()).or_default() += 1;
            ensure!(ids.insert(item["id"].to_string()), "{item} was heard twice");
        }
    }
    Ok(counts)
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds().await? {
        ensure!(Instant::now() < deadline, "waited for {what} for a minute");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok(())
}

/// Goes through an order, and gives the ears that were opened: one, or one for each time that the manager started.
async fn go_through(world: &World, order: &[Step], held: Held, first: Option<Ear>) -> Result<Vec<Ear>> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new()?);
    let mut running: [Option<Crawling>; 2] = [None, None];
    let mut ears: Vec<Ear> = first.into_iter().collect();
    let names = ["first", "second"];
    for step in order {
        let stopped = match *step {
            Step::Start(crawl) => {
                let begun = Crawling::start(world, &store, names[crawl]).await?;
                until("the first page", async || Ok(begun.handled().await? > 0)).await?;
                if held == Held::ByCrawlsAlone && running.iter().all(Option::is_none) {
                    ears.push(Ear::open(&world.events)?);
                }
                running[crawl] = Some(begun);
                None
            }
            Step::Stop(crawl) => running[crawl].take().context("it runs")?.stop().await.map(Some)?,
            Step::Swap(ends, begins) => {
                let ending = running[ends].take().context("it runs")?;
                ending.is_done().await?;
                let (stopped, begun) = tokio::join!(ending.stop(), Crawling::start(world, &store, names[begins]));
                running[begins] = Some(begun?);
                Some(stopped?)
            }
        };
        if let Some(report) = stopped {
            assert_eq!((report.reason, report.counts.handled), (FinishReason::Signal, PAGES as u64), "{order:?}");
            let heard = heard(&store, report.record.id).await?;
            assert_eq!((heard["crawlStarted"], heard["crawlFinished"], heard["page"]), (1, 1, PAGES - 1), "{order:?}: {heard:?}");
            assert!(heard["persistState"] >= 2, "at its start and at its end: {order:?}: {heard:?}");
        }
        // Whoever ended has stopped nothing, and whoever began has taken nothing away.
        for crawl in running.iter().flatten() {
            crawl.hears_of_samples().await?;
        }
    }
    Ok(ears)
}

#[tokio::test(flavor = "multi_thread")]
async fn two_crawls_in_one_process_share_its_event_manager_whatever_the_order() -> Result<()> {
    let samples = Arc::new(AtomicU64::new(0));
    let config = EventConfig {
        persist_state_interval: Interval::from_millis(3_600_000).context("an interval")?,
        system_info_interval: Interval::from_millis(SAMPLE_EVERY).context("an interval")?,
        ..EventConfig::default()
    };
    nephila_events::install(LocalEventManager::new(config.with_sampler(Counting(Arc::clone(&samples))))?)?;
    let host = PluginHost::new(HostConfig::default())?;
    let world = World {
        site: Site::start(SiteConfig::mesh(PAGES, 6, 500)).await?,
        plugin: Arc::new(host.load(&test_plugin("hostile")?).await?),
        load: Load { settings: AutoscaleSettings::from_env(|_| None)?, samples: watch::channel(None).1 },
        events: nephila_events::manager(),
    };
    let sampled = || samples.load(Ordering::SeqCst);
    for held in [Held::ByTheProcess, Held::ByCrawlsAlone] {
        for order in orders() {
            let (began, before) = (Instant::now(), sampled());
            let ears = match held {
                // As the host's own program does it.
                Held::ByTheProcess => {
                    let all = async { go_through(&world, &order, held, Some(Ear::open(&world.events)?)).await };
                    nephila_events::run(all).await??
                }
                Held::ByCrawlsAlone => go_through(&world, &order, held, None).await?,
            };
            let taken = sampled() - before;
            let most = u64::try_from(began.elapsed().as_millis())? / SAMPLE_EVERY;
            let starts = u64::try_from(ears.len())?;
            // One at each start, and one for each interval: two loops would take twice as many.
            assert!(taken <= most + 2 * starts, "{held:?}, {order:?}: {taken} samples in {most} intervals");
            tokio::time::sleep(Duration::from_millis(5 * SAMPLE_EVERY)).await;
            assert_eq!(sampled() - before, taken, "{held:?}, {order:?}: it has stopped");

            let swaps = order.iter().any(|step| matches!(step, Step::Swap(..)));
            for ear in &ears {
                let last = ear.persist_states();
                // The one that begins while the other ends may come too late to keep it from its last.
                let allowed = if swaps && held == Held::ByCrawlsAlone { 1..=2 } else { 1..=1 };
                assert!(allowed.contains(&last), "{held:?}, {order:?}: {last} times the last persistState");
            }
            if held == Held::ByTheProcess {
                let [ear] = ears.as_slice() else { anyhow::bail!("one ear") };
                // The last sample may be taken in the moment in which the manager stops.
                assert!((ear.samples()..=ear.samples() + 1).contains(&taken), "{order:?}: {taken} and {}", ear.samples());
                for crawler in ["first", "second"] {
                    let is_of = |id: &CrawlerId| id.as_str() == crawler;
                    let began = ear.count(|event| matches!(event, Event::CrawlStarted { crawler_id } if is_of(crawler_id)));
                    let ended = ear.count(|event| matches!(event, Event::CrawlFinished { crawler_id, .. } if is_of(crawler_id)));
                    assert_eq!((began, ended), (1, 1), "{order:?}: {crawler}");
                }
                let pages = ear.count(|event| matches!(event, Event::Named { .. }));
                assert_eq!(pages, 2 * (PAGES - 1), "{order:?}: what pages of both emitted");
            }
        }
    }
    Ok(())
}

/// A world whose event manager is its own, so that the test knows all that happens in it.
async fn apart(interval: u64) -> Result<World> {
    let events = Events::new();
    let every = Interval::from_millis(interval).context("an interval")?;
    events.install(LocalEventManager::new(EventConfig { persist_state_interval: every, ..EventConfig::default() })?)?;
    let host = PluginHost::new(HostConfig::default())?;
    Ok(World {
        site: Site::start(SiteConfig::mesh(PAGES, 6, 500)).await?,
        plugin: Arc::new(host.load(&test_plugin("hostile")?).await?),
        load: Load { settings: AutoscaleSettings::from_env(|_| None)?, samples: watch::channel(None).1 },
        events,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_records_are_written_on_each_persist_state_and_the_event_manager_waits_for_that() -> Result<()> {
    let world = apart(3_600_000).await?;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new()?);
    let crawl = Crawling::start(&world, &store, "shop").await?;
    let record = async |key: &str| -> Result<Value> {
        let value = store.kv_get(crawl.id, &KvStoreName::Default, key).await?.with_context(|| format!("no record {key}"))?;
        Ok(serde_json::from_slice(&value.value)?)
    };
    crawl.is_done().await?;
    let mut before = None;
    for _ in 0..3 {
        world.events.emit(Event::PersistState { is_migrating: false })?;
        // Nothing else is waited for.
        world.events.wait_for_listeners(None).await?;
        let (statistics, state) = (record("__CRAWLER_STATISTICS_shop").await?, record("CRAWLEE_STATE_shop").await?);
        assert_eq!(statistics["requestsFinished"].as_u64(), Some(PAGES as u64));
        assert_eq!(state, json!({ "counter": PAGES - 1 }));
        let at = statistics["statsPersistedAt"].clone();
        assert!(at.is_string() && before.as_ref() != Some(&at), "written anew: {at}, and {before:?} before");
        before = Some(at);
        // Times are shown in milliseconds.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    crawl.stopper.stop(StopLevel::Graceful);
    crawl.task.await??;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_crawlers_with_one_id_in_a_store_the_later_goes_on_and_nothing_is_doubled() -> Result<()> {
    let world = apart(3_600_000).await?;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new()?);
    let first = Crawling::start(&world, &store, "shop").await?;
    until("the first page", async || Ok(first.handled().await? > 0)).await?;
    let second = Crawling::start(&world, &store, "shop").await?;
    assert_eq!(first.id, second.id, "they are one crawl");
    // It changes nothing any more, and says why it ends.
    let report = first.task.await??;
    assert_eq!(report.reason, FinishReason::TakenOver);
    second.is_done().await?;
    second.stopper.stop(StopLevel::Graceful);
    let report = second.task.await??;
    assert_eq!((report.reason, report.counts.handled, report.counts.failed), (FinishReason::Signal, PAGES as u64, 0));
    let counter = store.state_get(&report.record.crawler_id, "counter").await?.value;
    assert_eq!(counter, Some((PAGES - 1).to_string()), "each page has counted itself once");
    assert_eq!(heard(&store, report.record.id).await?["page"], PAGES - 1);
    Ok(())
}
