//! A job as a storage folder of Crawlee's: names, sessions, and an end before its time.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use nephila_crawlee::CrawlerStatistics;
use nephila_model::{
    AutoSaved, CommitLimits, CrawlId, CrawlerId, DatasetName, Effects, Group, ItemPush, KeyValueWrite, KvStoreName, KvValue,
    Outcome, PoolPlace, Shard, SiteBy, StateOp, StatsDelta, Subject, Timestamp,
};
use nephila_output::{Existing, Exported, Halt, StorageError, export_storage};
use nephila_store::{Company, CrawlOrder, CrawlSpec, Durability, JobDir, JobSnapshot, Leases, SqliteStore, Store};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

struct Job {
    folder: tempfile::TempDir,
    store: SqliteStore,
    crawl: CrawlId,
    leases: Leases,
}

impl Job {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (dir, lock) = JobDir::open_or_create(folder.path().join("job")).unwrap();
        let store = SqliteStore::open(dir, lock, Durability::Kill).unwrap();
        let spec = CrawlSpec {
            company: Company::Alone,
            crawler_id: CrawlerId::new("shop").unwrap(),
            plugin_name: "shop".to_owned(),
            plugin_digest: "d".to_owned(),
            site_by: SiteBy::Hostname,
            order: CrawlOrder::Fifo,
            max_state_value: 1_000,
        };
        let opened = store.open_crawl(&spec).await.unwrap();
        Self { folder, store, crawl: opened.record.id, leases: opened.leases }
    }

    // At the finish, since items belong to a page, an event or that.
    async fn finish(&self, effects: Effects) {
        let outcome = Outcome {
            subject: Subject::Finish,
            lease: self.leases.of(Shard::CRAWL),
            verdict: None,
            effects,
            stats: StatsDelta::default(),
            site_next_allowed: None,
            session: None,
        };
        let done =
            self.store.commit(self.crawl, Group { outcomes: vec![outcome], limits: CommitLimits::default() }).await.unwrap();
        assert!(done.iter().all(Result::is_ok), "{done:?}");
    }

    fn storage(&self) -> PathBuf {
        self.folder.path().join("storage")
    }

    fn export(&self, halt: &Halt) -> Result<Exported, StorageError> {
        let moment = JobSnapshot::open(&JobDir::existing(self.folder.path().join("job")).unwrap(), None).unwrap();
        export_storage(moment, &self.storage(), Existing::Overwrite, &CrawlerStatistics::default(), halt)
    }
}

fn item(dataset: &str) -> ItemPush {
    ItemPush { dataset: DatasetName::Named(dataset.to_owned()), json: json!({ "of": dataset }).to_string() }
}

fn record(store: &str, key: &str, json: &Value) -> KeyValueWrite {
    let value = KvValue { content_type: "application/json".to_owned(), value: json.to_string().into_bytes().into() };
    KeyValueWrite { store: KvStoreName::Named(store.to_owned()), key: key.to_owned(), value: Some(value) }
}

fn json_of(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn odd_names_get_others_and_nothing_is_left_out() {
    let job = Job::new().await;
    let saved = |store: &str| AutoSaved { store: KvStoreName::Named(store.to_owned()), key: "count".to_owned() }.state_key();
    let state_ops = ["a.b", "_"].map(|store| StateOp::Set { key: saved(store), value: json!(store).to_string() }).to_vec();
    let items = ["a.b", "default", "a-b", "_", "fine", "price.list"].map(item).to_vec();
    let key_values =
        ["a.b", "a_b", "a.b"].iter().zip(["x", "y", "z"]).map(|(store, key)| record(store, key, &json!(store))).collect();
    job.finish(Effects { items, key_values, state_ops, ..Effects::default() }).await;
    let done = job.export(&Halt::default()).unwrap();
    let datasets = job.storage().join("datasets");
    assert_eq!(names(&datasets), ["a-b", "a-b-2", "default", "default-2", "fine", "price-list", "unnamed-2"]);
    for (theirs, ours) in [("a-b", "a-b"), ("a-b-2", "a.b"), ("default-2", "default"), ("unnamed-2", "_")] {
        assert_eq!(json_of(&datasets.join(theirs).join("000000001.json")), json!({ "of": ours }));
        assert_eq!(json_of(&datasets.join(theirs).join("__metadata__.json"))["name"], theirs);
    }
    let stores = job.storage().join("key_value_stores");
    assert_eq!(names(&stores), ["a-b", "a-b-2", "default", "unnamed-2"]);
    assert_eq!(json_of(&stores.join("a-b-2/y")), json!("a_b"));
    for (file, value) in [("a-b/x", "a.b"), ("a-b/z", "a.b"), ("a-b/count", "a.b"), ("unnamed-2/count", "_")] {
        assert_eq!(json_of(&stores.join(file)), json!(value));
    }
    let renamed: Vec<_> = done.renamed.iter().map(|name| (name.ours.as_str(), name.theirs.as_str())).collect();
    assert_eq!(renamed, [("_", "unnamed-2"), ("a.b", "a-b-2"), ("default", "default-2"), ("_", "unnamed-2"), ("a_b", "a-b-2")]);
}

#[tokio::test]
async fn a_pool_has_the_size_that_the_crawl_showed_last() {
    let job = Job::new().await;
    let place = |store: &str| PoolPlace { store: KvStoreName::Named(store.to_owned()), ..PoolPlace::default() };
    for store in ["seven", "odd", "none"] {
        job.store.open_pool(job.crawl, job.leases.of(Shard::CRAWL), &place(store), Timestamp::now(), 9).await.unwrap();
    }
    let key_values = vec![
        record("seven", PoolPlace::KEY, &json!({ "maxPoolSize": 7, "sessions": [] })),
        record("odd", PoolPlace::KEY, &json!(["mine"])),
    ];
    job.finish(Effects { key_values, ..Effects::default() }).await;
    job.export(&Halt::default()).unwrap();
    for (store, size) in [("seven", 7), ("odd", 1_000), ("none", 1_000)] {
        let shown = json_of(&job.storage().join("key_value_stores").join(store).join(PoolPlace::KEY));
        assert_eq!((&shown["maxPoolSize"], &shown["sessions"]), (&json!(size), &json!([])), "{store}");
    }
}

#[tokio::test]
async fn an_export_that_is_stopped_leaves_what_was_there() {
    let job = Job::new().await;
    job.finish(Effects { items: vec![item("a")], ..Effects::default() }).await;
    job.export(&Halt::default()).unwrap();
    fs::write(job.storage().join("datasets/default/mark"), "mine").unwrap();
    let halt = Halt::default();
    halt.call();
    assert!(matches!(job.export(&halt), Err(StorageError::Stopped)));
    assert_eq!(names(job.folder.path()), ["job", "storage"]);
    assert_eq!(fs::read(job.storage().join("datasets/default/mark")).unwrap(), b"mine");
    job.export(&Halt::default()).unwrap();
    assert!(!job.storage().join("datasets/default/mark").exists());
}
