//! What a person reads, to the letter.

use super::{Shown, average_text, short};
use crate::resources::Resources;
use nephila_model::{Counter, CrawlId, CrawlerId, Statistics, StatsDelta, Step, Timestamp};
use nephila_store::{Counts, CrawlRecord, ErrorSample, StateExcerpt};
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn a_short_time_has_three_digits() {
    for (micros, text) in [
        (0, "0 ms"),
        (4, "0.00 ms"),
        (1_234, "1.23 ms"),
        (9_996, "10.0 ms"),
        (34_560, "34.6 ms"),
        (99_960, "100 ms"),
        (999_499, "999 ms"),
        (999_600, "1.0 s"),
        (2_070_000, "2.1 s"),
    ] {
        assert_eq!(short(Duration::from_micros(micros)), text);
    }
}

#[test]
fn an_average_is_of_pages_and_never_nothing() {
    assert_eq!(average_text(0, 0), "-");
    assert_eq!(average_text(0, 20), "under 1 ms a page");
    assert_eq!(average_text(19, 20), "under 1 ms a page");
    assert_eq!(average_text(50, 20), "2 ms a page");
}

fn record() -> CrawlRecord {
    CrawlRecord {
        id: CrawlId(1),
        crawler_id: CrawlerId::new("books").unwrap(),
        plugin_name: "books".to_owned(),
        plugin_digest: "d1".to_owned(),
        created_at: Timestamp::from_millis(0),
        opened_at: Timestamp::from_millis(0),
        openings: 1,
        ending: None,
        finish_done: false,
        status_message: Some("page 7\nof 9".to_owned()),
        stop_reason: None,
    }
}

fn statistics(counters: &[(Counter, i64)]) -> Statistics {
    let mut delta = StatsDelta::default();
    counters.iter().for_each(|(counter, count)| delta.add(counter.clone(), *count));
    Statistics::from_counters(delta.iter().map(|(counter, count)| (counter.clone(), count)))
}

fn sample(code: &str, count: u64, snapshot: Option<&str>) -> ErrorSample {
    let (url, message) = ("https://shop.test/7".to_owned(), format!("{code}\thappened"));
    let snapshot = snapshot.map(str::to_owned);
    ErrorSample { code: code.to_owned(), position: None, shape: Some(format!("{code} happened")), count, url, message, snapshot }
}

#[test]
fn the_table_is_read_at_a_glance() {
    let record = record();
    let statistics = statistics(&[
        (Counter::Requests, 130),
        (Counter::Finished, 90),
        (Counter::Failed, 2),
        (Counter::Skipped("too-large".into()), 1),
        (Counter::Refused("depth".into()), 4),
        (Counter::Refused("scope".into()), 12),
        (Counter::Retries, 7),
        (Counter::SessionRotations, 1),
        (Counter::EndedAfterRetries(0), 88),
        (Counter::EndedAfterRetries(2), 4),
        (Counter::Items, 81),
        (Counter::ItemsOf("prices".into()), 9),
        (Counter::ItemsDropped("duplicate".into()), 6),
        (Counter::ItemsDropped("no-price".into()), 2),
        (Counter::Fetches, 112),
        (Counter::BodyBytes, 3_450_000),
        (Counter::FinishedMillis, 4_500),
        (Counter::LeastFinishedMillis, 12),
        (Counter::MostFinishedMillis, 310),
        (Counter::FailedMillis, 40),
        (Counter::OtherAttemptMillis, 510),
        (Counter::RuntimeMillis, 90_000),
        (Counter::StepMicros(Step::Fetch), 4_000_000),
        (Counter::StepMicros(Step::Parse), 12_300),
    ]);
    let shown = Shown {
        record: &record,
        status: "FAILED",
        finish_reason: "abort-on-error",
        counts: Counts { pending: 37, handled: 90, failed: 2, skipped: 1 },
        statistics: &statistics,
        errors: &[sample("trap", 2, Some("ERROR_SNAPSHOT_1_trap"))],
        retry_errors: &[sample("timeout", 7, None)],
        state: &StateExcerpt::default(),
        cost: Some((Resources { peak_memory_bytes: 50 << 20, cpu_seconds: 1.25 }, Duration::from_millis(250))),
    };
    assert_eq!(
        shown.table(),
        "  status    FAILED (abort-on-error)
  requests  130 accepted, 37 pending
  finished  90
  failed    2
  skipped   1 too-large
  refused   4 depth, 12 scope
  retries   7 [88, 0, 4]
  sessions  1 rotations, where a site blocked one
  items     81
            9 in dataset prices
  dropped   6 duplicate, 2 no-price
  fetches   112, 3.5 MB
  average   50 ms a page, 12 to 310 ms
  attempts  101, 50.0 ms on average
  runtime   1:30 min, 60 finished a minute
  profile   claim 0 ms, fetch 4.0 s, decode 0 ms, parse 12.3 ms, sandbox 0 ms, host calls 0 ms, commit 0 ms, export 0 ms
  cost      1.2 s of CPU (250 ms in the plugin), 50 MB at most
  message   page 7 of 9
  error     2 × trap: trap happened (https://shop.test/7, its page is ERROR_SNAPSHOT_1_trap)
  retried   7 × timeout: timeout happened (https://shop.test/7)
"
    );
}

#[test]
fn a_crawl_that_has_done_nothing_has_a_short_table() {
    let record = CrawlRecord { status_message: None, ..record() };
    let (statistics, state) = (Statistics::default(), StateExcerpt { values: vec![("a".into(), "[1]".into())], left_out: 2 });
    let shown = Shown {
        record: &record,
        status: "RUNNING",
        finish_reason: "",
        counts: Counts::default(),
        statistics: &statistics,
        errors: &[],
        retry_errors: &[],
        state: &state,
        cost: None,
    };
    let table = shown.table();
    let lines: Vec<&str> = table.lines().filter(|line| !line.starts_with("  profile")).collect();
    assert_eq!(
        lines,
        [
            "  status    RUNNING",
            "  requests  0 accepted, 0 pending",
            "  finished  0",
            "  failed    0",
            "  retries   0 []",
            "  items     0",
            "  fetches   0, 0.0 MB",
            "  average   -",
            "  runtime   0 ms, 0 finished a minute",
        ]
    );
    let json = shown.json();
    assert_eq!((&json["requestMinDurationMillis"], &json["requestAvgAttemptDurationMillis"]), (&Value::Null, &Value::Null));
    assert_eq!((&json["state"], &json["stateKeysLeftOut"]), (&json!({ "a": [1] }), &json!(2)));
}
