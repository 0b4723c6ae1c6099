//! What a call costs: `cargo xtask plugins && cargo bench -p nephila-plugin`.
//!
//! The page is parsed before the first call, so that only the sandbox, the plugin and the host functions are measured. Compare
//! `fastest`: the rest tells how busy the machine was. The floor is a component of one memory and one function that returns at
//! once; what is above it is paid for the plugin's own start, its strings and its effects. The plugin is that of `tests/bench-plugin`,
//! or what `NEPHILA_BENCH_PLUGIN` names.

#![allow(clippy::expect_used, reason = "a benchmark ends with the first thing that is wrong")]

use async_trait::async_trait;
use divan::Bencher;
use nephila_model::{
    ContentType, DatasetName, KeyStanding, KvStoreName, KvValue, Page, Position, QueuedRequest, RequestId, RequestSpec,
    RequestStatus, SiteId, StateVersion, Timings, UniqueKey,
};
use nephila_plugin::{Call, CallSettings, DatasetSlice, HostConfig, InstancePolicy, ParsedPage, PluginHost, ReadError, Reads};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tokio::runtime::Runtime;
use url::Url;

/// A handler that returns at once.
const FLOOR: &str = r#"
(component
  (import "nephila:crawler/types@0.1.0" (instance $types
    (type $ending (enum "retry" "skip" "fatal"))
    (export "ending" (type $ending-named (eq $ending)))
    (type $error (record (field "code" string) (field "message" string) (field "ending" (option $ending-named))))
    (export "error" (type (eq $error)))))
  (alias export $types "error" (type $error))
  (import "nephila:crawler/context@0.1.0" (instance $context (export "call" (type (sub resource)))))
  (alias export $context "call" (type $call))
  (core module $guest
    (memory (export "memory") 1)
    (func (export "handle") (param i32) (result i32) (i32.const 16)))
  (core instance $guest (instantiate $guest))
  (alias core export $guest "memory" (core memory $memory))
  (func $handle (param "call" (own $call)) (result (result (error $error)))
    (canon lift (core func $guest "handle") (memory $memory)))
  (instance $handler (export "handle" (func $handle)))
  (export "nephila:crawler/handler@0.1.0" (instance $handler)))
"#;

fn main() {
    divan::main();
}

const FRESH: InstancePolicy = InstancePolicy::Fresh;
const REUSED: InstancePolicy = InstancePolicy::Reuse { max_calls: u32::MAX, max_memory: 64 << 20 };

#[divan::bench]
fn fresh_floor(bencher: Bencher<'_, '_>) {
    let folder = tempfile::tempdir().expect("a folder");
    calls(bencher, &floor(folder.path()), FRESH);
}

#[divan::bench]
fn fresh_page(bencher: Bencher<'_, '_>) {
    calls(bencher, &plugin(), FRESH);
}

#[divan::bench]
fn reused_floor(bencher: Bencher<'_, '_>) {
    let folder = tempfile::tempdir().expect("a folder");
    calls(bencher, &floor(folder.path()), REUSED);
}

#[divan::bench]
fn reused_page(bencher: Bencher<'_, '_>) {
    calls(bencher, &plugin(), REUSED);
}

fn calls(bencher: Bencher<'_, '_>, wasm: &Path, instances: InstancePolicy) {
    let runtime = Runtime::new().expect("a runtime");
    let config = HostConfig { sandboxes: 16, instances, ..HostConfig::default() };
    let plugin = runtime.block_on(async { PluginHost::new(config).expect("a host").load(wasm).await }).expect("the plugin loads");
    let call = call();
    let once = || runtime.block_on(plugin.handle(call.clone()));
    let report = once();
    assert!(report.ended.is_ok(), "{:?}", report.ended);
    bencher.bench_local(once);
}

fn floor(folder: &Path) -> PathBuf {
    let path = folder.join("floor.wasm");
    std::fs::write(&path, wat::parse_str(FLOOR).expect("a component")).expect("written");
    path
}

fn plugin() -> PathBuf {
    let built = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-plugins/bench.wasm"));
    let path = std::env::var_os("NEPHILA_BENCH_PLUGIN").map_or_else(built, PathBuf::from);
    assert!(path.exists(), "{} is not there: run `cargo xtask plugins` first", path.display());
    path
}

/// A page of a shop with twenty links.
fn body() -> String {
    let mut page = "<title>Books</title><h1>Emma</h1><p class=price>51.77</p>".to_owned();
    for n in 0..20 {
        let _ = write!(page, "<article><h3><a href='/catalogue/a-book-of-{n}_{n}/index.html'>Book {n}</a></h3></article>");
    }
    page
}

fn call() -> Call {
    let url = Url::parse("http://books.example/catalogue/page-1.html").expect("a URL");
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
        spec: RequestSpec::default(),
    };
    let page = Page {
        url,
        status: 200,
        headers: Vec::new(),
        content_type: ContentType::parse("text/html"),
        body: body().into(),
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
        reads: Arc::new(Nothing),
        earlier: Vec::new(),
        settings: Arc::new(CallSettings::default()),
    }
}

/// A crawl of which nothing is committed.
struct Nothing;

#[async_trait]
impl Reads for Nothing {
    async fn standing(&self, keys: &[UniqueKey], _: u32) -> Result<Vec<KeyStanding>, ReadError> {
        Ok(vec![KeyStanding::New; keys.len()])
    }

    async fn lookup(&self, keys: &[UniqueKey]) -> Result<Vec<Option<RequestStatus>>, ReadError> {
        Ok(vec![None; keys.len()])
    }

    async fn state_get(&self, _: &str) -> Result<(Option<String>, StateVersion), ReadError> {
        Ok((None, StateVersion(0)))
    }

    async fn state_keys(&self) -> Result<(Vec<String>, StateVersion), ReadError> {
        Ok((Vec::new(), StateVersion(0)))
    }

    async fn kv_get(&self, _: &KvStoreName, _: &str) -> Result<Option<KvValue>, ReadError> {
        Ok(None)
    }

    async fn dataset_slice(&self, _: &DatasetName, _: Option<&str>, _: u32, _: usize) -> Result<DatasetSlice, ReadError> {
        Ok(DatasetSlice::default())
    }
}
