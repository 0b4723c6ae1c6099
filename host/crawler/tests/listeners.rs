//! A crawl whose plugin listens, with the test plugin `hostile` (`tests/hostile`) as `cargo xtask build --dev` leaves it.
#![allow(clippy::expect_used, reason = "tests")]

use nephila_autoscale::AutoscaleSettings;
use nephila_crawler::{
    CrawlReport, CrawlSettings, CrawlSetup, FinishReason, Load, NamedStorages, StopLevel, StopOrder, Stopper, run,
};
use nephila_events::{Event, EventName, Events, Listener, OwnName};
use nephila_fetch::{FetchConfig, Fetcher};
use nephila_model::{
    CrawlId, CrawlerId, DatasetName, Effects, EmittedEvent, EventId, Group, NewRequest, Outcome, Profile, Shard, SiteBy,
    StatsDelta, Subject,
};
use nephila_plugin::{CallSettings, HostConfig, Plugin, PluginHost};
use nephila_store::{Company, CrawlOrder, CrawlSpec, MemoryStore, OpenedCrawl, Store};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

fn wasm() -> PathBuf {
    let folder = std::env::var_os("NEPHILA_TEST_PLUGINS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-plugins")), PathBuf::from);
    let path = folder.join("hostile.wasm");
    assert!(path.exists(), "{} is not there: run `cargo xtask build --dev` first", path.display());
    path
}

fn call_settings() -> Arc<CallSettings> {
    Arc::new(CallSettings { input_json: "{\"listen\":[\"page\",\"aborting\"]}".to_owned(), ..CallSettings::default() })
}

async fn open(store: &Arc<dyn Store>) -> OpenedCrawl {
    let spec = CrawlSpec {
        company: Company::Alone,
        crawler_id: CrawlerId::new("main").expect("an id"),
        plugin_name: "hostile".to_owned(),
        plugin_digest: "d1".to_owned(),
        site_by: SiteBy::Hostname,
        order: CrawlOrder::Fifo,
        max_state_value: 1_000,
    };
    store.open_crawl(&spec).await.expect("opened")
}

/// Has events wait, as if pages had emitted them.
async fn emit(store: &Arc<dyn Store>, opened: &OpenedCrawl, count: u32) {
    let event = |number: u32| EmittedEvent { name: "page".to_owned(), payload: format!("{{\"number\":{number}}}") };
    let outcome = Outcome {
        subject: Subject::Crawl,
        lease: opened.leases.of(Shard::CRAWL),
        verdict: None,
        effects: Effects { events: (1..=count).map(event).collect(), ..Effects::default() },
        stats: StatsDelta::default(),
        site_next_allowed: None,
        session: None,
    };
    let group = Group { outcomes: vec![outcome], ..Group::default() };
    let results = store.commit(opened.record.id, group).await.expect("committed");
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

/// A crawl that has nothing to do but to hear what waits.
async fn crawl(store: &Arc<dyn Store>, opened: OpenedCrawl, plugin: &Plugin, events: &Events) -> CrawlReport {
    let (_stopper, stop) = Stopper::new();
    run(setup(store, opened, plugin, events, stop)).await.expect("a report")
}

fn setup(
    store: &Arc<dyn Store>,
    opened: OpenedCrawl,
    plugin: &Plugin,
    events: &Events,
    stop: watch::Receiver<StopOrder>,
) -> CrawlSetup {
    CrawlSetup {
        store: Arc::clone(store),
        opened,
        pipelines: Vec::new(),
        listeners: Vec::new(),
        plugin: watch::channel(Arc::new(plugin.clone())).1,
        fetcher: Arc::new(Fetcher::new(FetchConfig::default()).expect("a fetcher")),
        settings: Arc::new(CrawlSettings::default()),
        call_settings: call_settings(),
        block_rules: Vec::new(),
        starts: Vec::new(),
        stop,
        progress: watch::Sender::default(),
        items: watch::Sender::default(),
        events: events.clone(),
        load: Load { settings: AutoscaleSettings::default(), samples: watch::channel(None).1 },
        named_storages: NamedStorages::Kept,
        profile: Arc::new(Profile::default()),
    }
}

async fn waiting(store: &Arc<dyn Store>, crawl: CrawlId) -> usize {
    store.events(crawl, EventId(0), 100).await.expect("events").len()
}

/// How often the listener has heard this.
async fn heard(store: &Arc<dyn Store>, crawl: CrawlId, what: &str) -> usize {
    let items = store.dataset_slice(crawl, &DatasetName::Default, 0, 100, usize::MAX).await.expect("items");
    items.rows.iter().filter(|row| row.json.contains(what)).count()
}

#[tokio::test]
async fn where_the_host_is_at_fault_a_crawl_ends_and_its_events_wait_for_the_next_start() {
    let host = PluginHost::new(HostConfig { sandboxes: 2, ..HostConfig::default() }).expect("a host");
    let plugin = host.load(wasm()).await.expect("it loads");
    // Another listener has all the room that listeners may take.
    let mut other = plugin.listener(call_settings());
    other.subscriptions().await.expect("it has room");

    let events = Events::new();
    let told: Arc<Mutex<Vec<Event>>> = Arc::default();
    let diary = Arc::clone(&told);
    let listener = Listener::blocking(move |event: Event| diary.lock().unwrap_or_else(PoisonError::into_inner).push(event));
    events.on(EventName::Named(OwnName::new("page").expect("a name")), listener).expect("registered");
    let times_told = || told.lock().unwrap_or_else(PoisonError::into_inner).len();

    let store: Arc<dyn Store> = Arc::new(MemoryStore::new().expect("a store"));
    let opened = open(&store).await;
    emit(&store, &opened, 3).await;
    // As after a crash, so that each event is tried behind a mark.
    let opened = open(&store).await;
    let report = crawl(&store, opened, &plugin, &events).await;
    assert_eq!((&report.reason, report.is_resumable()), (&FinishReason::EventsUnheard, true));
    assert!(!report.record.finish_done, "what is heard of these events comes before the finish");
    assert_eq!(waiting(&store, report.record.id).await, 3, "none was given up");
    events.wait_for_listeners(None).await.expect("told");
    assert_eq!(times_told(), 1, "the first, once, however often it was tried");

    drop(other);
    let report = crawl(&store, open(&store).await, &plugin, &events).await;
    assert_eq!((report.reason, waiting(&store, report.record.id).await), (FinishReason::Finished, 0));
    assert!(report.record.finish_done);
    assert_eq!(heard(&store, report.record.id, "\"page\"").await, 3, "each was heard");
    events.wait_for_listeners(None).await.expect("told");
    assert_eq!(times_told(), 4);
}

#[tokio::test]
async fn a_listener_that_the_host_could_not_ask_is_asked_again_when_the_host_is_well() {
    let host = PluginHost::new(HostConfig { sandboxes: 2, ..HostConfig::default() }).expect("a host");
    let plugin = host.load(wasm()).await.expect("it loads");
    let mut other = plugin.listener(call_settings());
    other.subscriptions().await.expect("it has room");

    let (events, store) = (Events::new(), Arc::new(MemoryStore::new().expect("a store")) as Arc<dyn Store>);
    let mut settings = CrawlSettings::default();
    for (name, value) in [("keep-alive", "yes"), ("max-retries", "0")] {
        settings.set(name, value).expect("a setting");
    }
    let opened = open(&store).await;
    let (id, (stopper, stop)) = (opened.record.id, Stopper::new());
    // An address that may not be reached: the crawl has begun, and its listener was asked, when that has failed.
    let unreachable = "http://127.0.0.1:9/".parse().expect("a URL");
    let starts = vec![NewRequest::get(unreachable, SiteBy::Hostname)];
    let setup = CrawlSetup { settings: Arc::new(settings), starts, ..setup(&store, opened, &plugin, &events, stop) };
    let task = tokio::spawn(run(setup));
    while store.counts(id).await.expect("counts").failed == 0 {
        tokio::task::yield_now().await;
    }
    drop(other);
    while heard(&store, id, "\"aborting\"").await == 0 {
        events.emit(Event::Aborting).expect("emitted");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    stopper.stop(StopLevel::Graceful);
    let report = task.await.expect("no panic").expect("a report");
    assert_eq!(report.reason, FinishReason::Signal);
}
