//! The real Crawlee for Python opens the folder that we wrote, and we read what it left.
//!
//! Needs `python3` and, the first time, the package index: Crawlee is installed into `target/interop-venv`.

#[path = "interop/sessions.rs"]
mod sessions;
#[path = "interop/venv.rs"]
mod venv;

use anyhow::{Context, Result};
use nephila_crawlee::{
    CrawlerStatistics, KeyValueReader, KeyValueWriter, MediaType, QueueState, RecordKey, RecordValue, StoreName, read_state,
    write_state,
};
use nephila_model::{CrawlerId, Timestamp};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const LIMIT: u64 = 1 << 20;

/// Runs a command of `theirs.py`.
fn theirs(python: &Path, arguments: &[&str], storage: &Path) -> Result<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/theirs.py");
    let mut command = Command::new(python);
    command.arg(script).arg(arguments[0]).arg(storage).args(&arguments[1..]);
    // What the machine has set for a Crawlee of its own is nothing to us.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CRAWLEE_") || name.starts_with("APIFY_")) {
            command.env_remove(name);
        }
    }
    let output = venv::run(&mut command)?;
    serde_json::from_slice(&output.stdout).context("theirs.py printed no JSON")
}

fn key(key: &str) -> Result<RecordKey> {
    Ok(RecordKey::new(key)?)
}

fn statistics() -> CrawlerStatistics {
    CrawlerStatistics {
        requests_finished: 90,
        requests_failed: 2,
        requests_retries: 7,
        request_min_duration: Some(Duration::from_millis(12)),
        request_max_duration: Some(Duration::from_millis(3_400)),
        request_total_failed_duration: Duration::from_millis(3_000),
        request_total_finished_duration: Duration::from_millis(45_000),
        requests_attempts: 99,
        request_total_attempts_duration: Duration::from_millis(50_000),
        crawler_started_at: Some(Timestamp::from_millis(1_785_585_600_120)),
        crawler_last_started_at: Some(Timestamp::from_millis(1_785_585_660_500)),
        crawler_finished_at: Some(Timestamp::from_millis(1_785_585_690_500)),
        crawler_runtime: Duration::from_millis(90_000),
        errors: Map::from_iter([("timeout".to_owned(), json!({ "count": 2 }))]),
        retry_errors: Map::from_iter([("status 503".to_owned(), json!({ "count": 7, "sample": "https://site.test/" }))]),
        requests_with_status_code: BTreeMap::from([(200, 90), (503, 9)]),
        stats_persisted_at: Some(Timestamp::from_millis(1_785_585_690_500)),
        request_retry_histogram: vec![88, 1, 3],
    }
}

/// The same with 12.0 for 12, which to Python is the same.
fn as_floats(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(values) => values.into_iter().map(as_floats).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, as_floats(value))).collect(),
        other => other,
    }
}

/// Fills a storage folder as a crawl does.
fn ours(storage: &Path, id: &CrawlerId) -> Result<()> {
    let store = KeyValueWriter::open(storage, &StoreName::DEFAULT)?;
    store.put(&key("text")?, &MediaType::text(), "Grüße".as_bytes())?;
    store.put(&key("bytes")?, &MediaType::bytes(), &[0, 255, 10])?;
    store.put_none(&key("none")?)?;
    store.put_json(&key("json")?, &json!({ "list": [1, 2.5, null, "ü"] }))?;
    store.put_json(&key("a b/ü")?, &json!([]))?;
    store.put_json(&RecordKey::statistics(id), &statistics().record(id))?;
    let state = [("count", "41"), ("titles", r#"{"https://site.test/":"Shop","ü":[1.0,null]}"#)];
    store.put_stream(&RecordKey::state(id), &MediaType::json(), |out| write_state(out, state))?;
    store.put_json(&RecordKey::session_pool(), &sessions::pool()?)?;
    let named = KeyValueWriter::open(storage, &StoreName::named("my-store")?)?;
    named.put_json(&key("a")?, &json!({ "in": "a named store" }))?;
    Ok(())
}

#[test]
fn crawlee_for_python_reads_what_we_wrote_and_we_read_what_it_wrote() -> Result<()> {
    let test = "crawlee_for_python_reads_what_we_wrote_and_we_read_what_it_wrote";
    let Some(python) = venv::python_with_crawlee(test)? else { return Ok(()) };
    let storage = tempfile::tempdir()?;
    let id = CrawlerId::new("books").context("an id")?;
    ours(storage.path(), &id)?;

    let seen = theirs(&python, &["visit", id.as_str()], storage.path())?;

    // Values, keys, and what the metadata says.
    assert_eq!(
        seen["values"],
        json!({
            "text": "Grüße", "bytes": { "base64": "AP8K" }, "none": null, "json": { "list": [1, 2.5, null, "ü"] },
            "a b/ü": [], "nothing": "absent"
        })
    );
    assert_eq!(seen["exists"], json!([true, false]));
    assert_eq!(seen["named"], json!({ "name": "my-store", "value": { "in": "a named store" } }));
    let keys = seen["keys"].as_array().context("keys")?;
    assert_eq!(keys.len(), 8);
    assert!(keys.contains(&json!(["a b/ü", "application/json", 2])), "{keys:?}");
    assert!(keys.contains(&json!(["none", "application/x-none", 0])), "{keys:?}");

    // Statistics, field by field. Times are written in another form, and two fields are Crawlee's own: the present, and a running
    // time that counts the last start twice until a crawler takes the statistics up.
    let mut expected = serde_json::to_value(statistics().record(&id))?;
    let mut found = seen["statistics"].clone();
    for time in ["crawlerStartedAt", "crawlerLastStartTimestamp", "crawlerFinishedAt"] {
        let instant = |value: Value| anyhow::Ok(value.as_str().context(time)?.parse::<jiff::Timestamp>()?);
        assert_eq!(instant(found[time].take())?, instant(expected[time].take())?, "{time}");
    }
    for own in ["crawlerRuntimeMillis", "statsPersistedAt"] {
        assert!(found[own].take().is_string() && !expected[own].take().is_null(), "{own}");
    }
    // Crawlee takes the record as it is, and leaves out what is ours alone.
    for ours in ["requestsAttempts", "requestTotalAttemptsDurationMillis", "requestAvgAttemptDurationMillis"] {
        let removed = expected.as_object_mut().and_then(|fields| fields.remove(ours));
        assert!(removed.is_some() && found.get(ours).is_none(), "{ours}");
    }
    assert_eq!(as_floats(found), as_floats(expected));
    assert_eq!(
        seen["calculated"],
        json!({ "requests_finished": 90, "requests_total": 92, "retry_histogram": [88, 1, 3], "avg_finished": 0.5 })
    );
    // The last start's part alone, and what Crawlee added.
    let runtime = seen["runtime"].as_f64().context("a running time")?;
    assert!((30.0..3_000.0).contains(&runtime), "{runtime}");

    // `use_state` and the sessions.
    assert_eq!(seen["use_state"], json!({ "count": 41, "titles": { "https://site.test/": "Shop", "ü": [1.0, null] } }));
    sessions::check(&seen)?;

    // What Crawlee changed.
    let store = KeyValueReader::open(storage.path(), &StoreName::DEFAULT)?;
    let read = |name: &RecordKey| store.read(name, LIMIT)?.with_context(|| format!("no record {name}"));
    let value = |name: &str| anyhow::Ok(read(&key(name)?)?.value()?);
    assert_eq!(value("theirs json")?, RecordValue::Json(json!({ "a": [1, 2.5, null], "ü": "ß" })));
    assert_eq!(value("theirs/text")?, RecordValue::Text("Grüße".to_owned()));
    assert_eq!(value("theirs.bytes")?, RecordValue::Bytes(vec![0, 255]));
    assert_eq!(value("theirs none")?, RecordValue::None);
    assert_eq!(value(&"x".repeat(219))?, RecordValue::Text("as long as a key may be".to_owned()));
    assert_eq!(value("text")?, RecordValue::Json(json!({ "now": "json" })));
    assert_eq!(store.read(&key("bytes")?, LIMIT)?, None);
    assert_eq!(store.list(None, 100)?.len(), 12);

    let after = CrawlerStatistics::read(&read(&RecordKey::statistics(&id))?)?.context("statistics")?;
    assert_eq!((after.requests_finished, after.requests_failed, after.requests_retries), (91, 2, 7));
    assert_eq!(after.requests_with_status_code, BTreeMap::from([(200, 91), (503, 9)]));
    assert_eq!(after.request_retry_histogram, [89, 1, 3]);
    assert_eq!(after.crawler_started_at, statistics().crawler_started_at);
    assert!(after.crawler_last_started_at > statistics().crawler_last_started_at);
    assert!(after.crawler_runtime >= Duration::from_secs(30));
    assert_eq!((after.errors, after.retry_errors), (statistics().errors, statistics().retry_errors));

    let state = read_state(&read(&RecordKey::state(&id))?)?.context("a state")?;
    let expected =
        [("count", "42"), ("theirs", r#"[1,{"ü":null}]"#), ("titles", r#"{"https://site.test/":"Shop","ü":[1.0,null]}"#)];
    assert_eq!(state, expected.map(|(key, value)| (key.to_owned(), value.to_owned())).into());

    let RecordValue::Json(pool) = read(&RecordKey::session_pool())?.value()? else { anyhow::bail!("no pool") };
    sessions::check_after_a_bad_use(&pool)?;

    // And we write into it once more, as after a resume: whose store it is stays as it is.
    let again = KeyValueWriter::open(storage.path(), &StoreName::DEFAULT)?;
    again.put(&key("bytes")?, &MediaType::bytes(), &[1])?;
    let metadata: Value = serde_json::from_slice(&std::fs::read(again.reader().path().join("__metadata__.json"))?)?;
    assert_eq!((&metadata["id"], &metadata["name"]), (&seen["store"]["id"], &Value::Null));
    Ok(())
}

#[test]
fn crawlee_for_python_fetches_in_the_order_that_we_wrote() -> Result<()> {
    let test = "crawlee_for_python_fetches_in_the_order_that_we_wrote";
    let Some(python) = venv::python_with_crawlee(test)? else { return Ok(()) };
    let storage = tempfile::tempdir()?;
    let made = theirs(&python, &["queue"], storage.path())?;
    let id = CrawlerId::new(made["id"].as_str().context("an id")?).context("an id")?;

    let keys = |keys: &[&'static str]| keys.iter().copied().map(Ok::<_, Infallible>).collect::<Vec<_>>();
    let state = QueueState {
        forefront: keys(&["f1", "f2"]),
        regular: keys(&["r3", "r1", "r2"]),
        in_progress: keys(&["r1"]),
        handled: keys(&["done"]),
    };
    let store = KeyValueWriter::open(storage.path(), &StoreName::DEFAULT)?;
    store.put_stream(&RecordKey::queue_state(&id), &MediaType::json(), |out| state.write(out).map(drop))?;
    let record = store.reader().read(&RecordKey::queue_state(&id), LIMIT)?.context("a record")?;
    let RecordValue::Json(Value::Object(written)) = record.value()? else { anyhow::bail!("no map") };
    let mut fields: Vec<_> = written.keys().map(|field| json!(field)).collect();
    fields.sort_by_key(Value::to_string);
    assert_eq!(json!(fields), made["fields"]);

    let order = theirs(&python, &["fetch"], storage.path())?;
    assert_eq!(order, json!(["f0", "f1", "f2", "r3", "r1", "r2", "r4"]));
    Ok(())
}
