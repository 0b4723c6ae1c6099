//! What calls come to, with a plugin that misbehaves on demand (`tests/hostile`).
//!
//! It is looked for in the folder that `NEPHILA_TEST_PLUGINS` names, or else in `target/test-plugins`. Without it these tests fail:
//! limits that were never tried are worth nothing.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests end with the first thing that is wrong")]

#[path = "hostile_calls/events.rs"]
mod events;
#[path = "hostile_calls/items.rs"]
mod items;
#[path = "hostile_calls/limits.rs"]
mod limits;
#[path = "hostile_calls/log_names.rs"]
mod log_names;
#[path = "hostile_calls/sessions.rs"]
mod sessions;

use async_trait::async_trait;
use nephila_model::{
    AutoSaved, ContentType, DatasetName, FailureCode, FailureReason, KeyStanding, KvStoreName, KvValue, Page, Position,
    QueuedRequest, RefusedReason, RequestId, RequestSpec, RequestStatus, SiteId, StateOp, StateRead, StateVersion, Timings,
    UniqueKey,
};
use nephila_plugin::{
    Call, CallFailure, CallReport, CallSettings, DatasetSlice, HostConfig, InstancePolicy, Limits, ParsedPage, Plugin,
    PluginHost, ReadError, Reads,
};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use url::Url;

fn wasm() -> PathBuf {
    log_names::listen();
    let folder = std::env::var_os("NEPHILA_TEST_PLUGINS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-plugins")), PathBuf::from);
    let path = folder.join("hostile.wasm");
    assert!(path.exists(), "{} is not there: run `cargo xtask build --dev` first", path.display());
    path
}

/// What is committed, as far as these tests need it.
#[derive(Default)]
struct Store {
    known: Vec<UniqueKey>,
    counter: Option<String>,
    /// Reading the state never ends.
    stuck: bool,
    /// Reading the state fails.
    broken: bool,
}

#[async_trait]
impl Reads for Store {
    async fn standing(&self, keys: &[UniqueKey], _: u32) -> Result<Vec<KeyStanding>, ReadError> {
        let standing = |key| if self.known.contains(key) { KeyStanding::MayBeDeeper } else { KeyStanding::New };
        Ok(keys.iter().map(standing).collect())
    }

    async fn lookup(&self, keys: &[UniqueKey]) -> Result<Vec<Option<RequestStatus>>, ReadError> {
        Ok(vec![None; keys.len()])
    }

    async fn state_get(&self, _: &str) -> Result<(Option<String>, StateVersion), ReadError> {
        if self.stuck {
            std::future::pending::<()>().await;
        }
        if self.broken {
            return Err(ReadError::Store("for the test".into()));
        }
        Ok((self.counter.clone(), StateVersion(7)))
    }

    async fn state_keys(&self) -> Result<(Vec<String>, StateVersion), ReadError> {
        Ok((Vec::new(), StateVersion(7)))
    }

    async fn kv_get(&self, _: &KvStoreName, _: &str) -> Result<Option<KvValue>, ReadError> {
        Ok(None)
    }

    async fn dataset_slice(&self, _: &DatasetName, _: Option<&str>, _: u32, _: usize) -> Result<DatasetSlice, ReadError> {
        Ok(DatasetSlice::default())
    }
}

const BODY: &str =
    "<title>A &amp; B</title><a href=/one>1</a><a href=/two#x>2</a><a href=/two>2</a><a href=http://other.example/>3</a>";

fn call(word: &str, limits: Limits, store: Store) -> Call {
    page_call(word, BODY, limits, store)
}

fn page_call(word: &str, body: &str, limits: Limits, store: Store) -> Call {
    let url = Url::parse("http://example.com/page").expect("a URL");
    let request = QueuedRequest {
        id: RequestId(1),
        site: SiteId(1),
        position: Position { priority: 0, rank: 0 },
        unique_key: UniqueKey::explicit("page"),
        url: url.clone(),
        original_url: url.clone(),
        label: None,
        depth: 0,
        retry_count: 0,
        chain: Vec::new(),
        spec: RequestSpec { user_data: Some(format!("{{\"do\":\"{word}\"}}")), ..RequestSpec::default() },
    };
    let page = Page {
        url,
        status: 200,
        headers: Vec::new(),
        content_type: ContentType::parse("text/html"),
        body: body.to_owned().into(),
        charset: Some("UTF-8"),
        chain: Vec::new(),
        timings: Timings::default(),
        text: OnceLock::new(),
    };
    Call {
        request: Some(Arc::new(request)),
        page: Some(Arc::new(ParsedPage::new(Arc::new(page)))),
        session: None,
        pool: None,
        reads: Arc::new(store),
        earlier: Vec::new(),
        settings: Arc::new(CallSettings { limits, ..CallSettings::default() }),
    }
}

fn host(sandboxes: u32, instances: InstancePolicy) -> PluginHost {
    let limits = Limits { memory: 512 << 20, ..Limits::default() };
    PluginHost::new(HostConfig { sandboxes, instances, limits, ..HostConfig::default() }).expect("a host")
}

async fn plugin() -> Plugin {
    host(4, InstancePolicy::Fresh).load(wasm()).await.expect("it loads")
}

async fn run(word: &str) -> CallReport {
    run_with(word, Limits::default(), Store::default()).await
}

async fn run_with(word: &str, limits: Limits, store: Store) -> CallReport {
    let report = plugin().await.handle(call(word, limits, store)).await;
    if let Err(failure) = &report.ended {
        let text = failure.to_string();
        assert!(!text.chars().any(char::is_control), "in one line: {text:?}");
        assert!(report.effects.items.is_empty() && report.effects.requests.is_empty() && report.effects.state_ops.is_empty());
        assert!(report.effects.events.is_empty());
    }
    report
}

fn code(report: &CallReport) -> &str {
    report.ended.as_ref().map_or_else(CallFailure::code, |()| "ok")
}

#[tokio::test]
async fn it_says_what_it_is() {
    let plugin = plugin().await;
    assert_eq!((plugin.name(), plugin.manifest().name.as_str(), plugin.digest().len()), ("hostile", "hostile", 64));
    let entry_points = plugin.entry_points();
    assert!(
        entry_points.handler && entry_points.manifest && entry_points.failure && entry_points.finish && entry_points.pipeline
    );
    assert!(entry_points.listener && entry_points.sessions);
    assert!(plugin.imports().iter().any(|import| import == "nephila:crawler/context@0.1.0"), "{:?}", plugin.imports());
}

#[tokio::test]
async fn a_well_behaved_call_has_its_effects() {
    let known = UniqueKey::of(&Url::parse("http://example.com/two").expect("a URL"), nephila_model::Method::Get, None);
    let report = run_with("ok", Limits::default(), Store { known: vec![known], ..Store::default() }).await;
    assert_eq!(code(&report), "ok");
    assert_eq!(report.effects.items[0].json, "{\"url\":\"http://example.com/page\"}");
    let urls: Vec<_> = report.effects.requests.iter().map(|request| (request.url.as_str(), request.depth)).collect();
    assert_eq!(urls, [("http://example.com/one", 1), ("http://example.com/two", 1)], "known ones are sent along");
    assert_eq!(report.effects.refused.get(&RefusedReason::Scope), Some(&1));
    assert!(report.metrics.host_calls > 0 && report.metrics.memory_peak > 0 && report.metrics.cpu > Duration::ZERO);
}

#[tokio::test]
async fn a_handler_that_gives_up_says_how() {
    assert!(matches!(run("retry").await.ended, Err(CallFailure::Retry(info)) if info.code == "asked"));
    assert!(matches!(run("skip").await.ended, Err(CallFailure::Skip(info)) if info.code == "asked"));
    assert!(matches!(run("fatal").await.ended, Err(CallFailure::Fatal(info)) if info.code == "asked"));
    assert_eq!(code(&run("push-then-fatal").await), "asked");
    assert_eq!(code(&run("no-such-word").await), "unknown-label");
}

#[tokio::test]
async fn a_crash_is_told_with_its_last_words() {
    let report = run("trap").await;
    let Err(CallFailure::Trap { message, .. }) = &report.ended else { panic!("{:?}", report.ended) };
    assert!(message.contains("the test asked for a panic") && message.contains("unreachable"), "{message}");
    assert_eq!(code(&run("push-then-trap").await), "trap");
    assert_eq!(code(&run("unreachable").await), "trap");
    let report = run("deep-recursion").await;
    assert_eq!(code(&report), "trap");
    let said = report.ended.as_ref().expect_err("it ends").to_string();
    assert!(said.contains("its stack is used up"), "{said}");
}

#[tokio::test]
async fn bad_data_is_refused_by_code() {
    for (word, expected) in [
        ("bad-json", "bad-json"),
        ("not-an-object", "bad-json"),
        ("bad-selector", "bad-selector"),
        ("state-bad-type", "state-type"),
        ("store-auto-saved-over-text", "bad-json"),
        ("store-auto-saved-too-large", "quota"),
        ("store-auto-saved-bad-key", "bad-key"),
    ] {
        assert_eq!(code(&run(word).await), expected, "{word}");
    }
}

#[tokio::test]
async fn state_is_read_once_and_written_without_waiting() {
    let store = || Store { counter: Some("41".into()), ..Store::default() };
    let report = run_with("read-modify-write", Limits::default(), store()).await;
    assert_eq!(code(&report), "ok", "{:?}", report.ended);
    assert_eq!(report.effects.state_reads, [StateRead::Key { key: "counter".into(), version: StateVersion(7) }]);
    assert_eq!(report.effects.state_ops, [StateOp::Set { key: "counter".into(), value: "42".into() }]);
    let report = run_with("increment", Limits::default(), store()).await;
    assert_eq!((report.effects.state_reads.len(), report.effects.state_ops.len()), (0, 1));
}

#[tokio::test]
async fn an_auto_saved_value_is_state_that_no_listing_shows() {
    let (own, named) = (
        AutoSaved { store: KvStoreName::Default, key: "counts".into() }.state_key(),
        AutoSaved { store: KvStoreName::Named("shared".into()), key: "seen".into() }.state_key(),
    );
    let report = run("store-auto-saved").await;
    assert_eq!(code(&report), "ok", "{:?}", report.ended);
    let read = |key: &String| StateRead::Key { key: key.clone(), version: StateVersion(7) };
    let record = |store, key: &str| StateRead::Record { store, key: key.to_owned(), value: None };
    let records = [record(KvStoreName::Default, "counts"), record(KvStoreName::Named("shared".into()), "seen")];
    assert_eq!(report.effects.state_reads, [[read(&own), read(&named)], records].concat(), "what they begin with, too");
    assert_eq!(report.effects.state_ops.iter().map(StateOp::key).collect::<Vec<_>>(), [own.as_str(), named.as_str()]);
    assert_eq!(report.effects.state_ops[0], StateOp::Set { key: own.clone(), value: "{\"pages\":1}".into() });
    assert!(report.effects.key_values.is_empty(), "the record is the host's to write");

    let report = run("store-echo-auto-saved").await;
    assert_eq!(report.effects.items[0].json, "{\"counts\":{\"default\":true},\"keys\":[]}");
}

#[tokio::test]
async fn what_arrives_is_what_was_given() {
    let report = run("echo").await;
    assert_eq!(code(&report), "ok", "{:?}", report.ended);
    let item: serde_json::Value = serde_json::from_str(&report.effects.items[0].json).expect("JSON");
    assert_eq!(
        (item["title"].as_str(), item["maxRetries"].as_u64(), item["bodyBytes"].as_u64()),
        (Some("A & B"), Some(3), Some(BODY.len() as u64))
    );
}

#[tokio::test]
async fn failure_and_finish_are_called() {
    let plugin = plugin().await;
    let reason = FailureReason { code: FailureCode("status".into()), message: "404".into(), status: Some(404) };
    let report = plugin.failure(Call { page: None, ..call("ok", Limits::default(), Store::default()) }, &reason, 4).await;
    assert_eq!(code(&report), "ok", "{:?}", report.ended);
    assert_eq!(report.effects.items[0].dataset, DatasetName::Named("failures".into()));
    let finish = Call { request: None, page: None, ..call("ok", Limits::default(), Store::default()) };
    let report = plugin.finish(finish).await;
    assert_eq!(report.effects.items[0].json, "{\"finish\":true}");
}

#[tokio::test]
async fn live_sandboxes_serve_again_until_a_call_goes_wrong() {
    let policy = InstancePolicy::Reuse { max_calls: 3, max_memory: 64 << 20 };
    let plugin = host(4, policy).load(wasm()).await.expect("it loads");
    for word in ["ok", "ok", "echo", "trap", "ok", "many-handles", "ok", "loop", "ok", "ok", "ok", "ok"] {
        let limits = Limits { cpu: Duration::from_millis(200), ..Limits::default() };
        let report = plugin.handle(call(word, limits, Store::default())).await;
        let expected = match word {
            "trap" => "trap",
            "loop" => "cpu-limit",
            "many-handles" => "quota",
            _ => "ok",
        };
        assert_eq!(code(&report), expected, "{:?}", report.ended);
        if word == "ok" {
            assert_eq!((report.effects.items.len(), report.effects.requests.len()), (1, 2), "nothing of the call before is left");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_calls_than_sandboxes_wait_for_room() {
    let plugin = plugin().await;
    let calls: Vec<_> = (0..50)
        .map(|n| {
            let plugin = plugin.clone();
            let word = if n % 10 == 0 { "trap" } else { "ok" };
            tokio::spawn(async move { plugin.handle(call(word, Limits::default(), Store::default())).await })
        })
        .collect();
    let mut ok = 0;
    for call in calls {
        ok += usize::from(call.await.expect("no panic").ended.is_ok());
    }
    assert_eq!(ok, 45);
}
