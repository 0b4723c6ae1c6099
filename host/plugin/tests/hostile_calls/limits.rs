//! What a call may spend: time, memory, handles, and what the host does for it.

use super::{Store, code, page_call, plugin, run, run_with};
use nephila_plugin::Limits;
use std::time::Duration;

#[tokio::test]
async fn a_loop_ends_when_its_processor_time_is_spent() {
    let report = run_with("loop", Limits { cpu: Duration::from_millis(100), ..Limits::default() }, Store::default()).await;
    assert_eq!(code(&report), "cpu-limit");
    assert!(report.metrics.cpu >= Duration::from_millis(100));
    let report = run_with("loop", Limits { wall: Duration::from_millis(100), ..Limits::default() }, Store::default()).await;
    assert_eq!(code(&report), "time-limit");
}

#[tokio::test]
async fn a_call_that_waits_for_the_store_ends_when_its_time_is_over() {
    let limits = Limits { wall: Duration::from_millis(100), ..Limits::default() };
    let report = run_with("read-modify-write", limits, Store { stuck: true, ..Store::default() }).await;
    assert_eq!(code(&report), "time-limit");
    assert!(report.metrics.wall < Duration::from_millis(800), "{:?}", report.metrics.wall);
    assert!(report.metrics.cpu < Duration::from_millis(100));
    let report = run_with("read-modify-write", Limits::default(), Store { broken: true, ..Store::default() }).await;
    assert_eq!(code(&report), "host");
}

#[tokio::test]
async fn memory_handles_and_bytes_per_call_are_limited() {
    let report = run("alloc").await;
    assert_eq!(code(&report), "memory-limit");
    assert!(report.metrics.memory_peak <= Limits::default().memory);
    assert_eq!(code(&run("many-handles").await), "quota");
    let roomy = Limits { memory: 512 << 20, ..Limits::default() };
    assert_eq!(code(&run_with("huge-item", roomy, Store::default()).await), "host-call-limit");
}

#[tokio::test]
async fn floods_end_in_a_quota() {
    for word in ["flood-items", "flood-requests", "flood-state"] {
        let report = run(word).await;
        assert_eq!(code(&report), "quota", "{word}: {:?}", report.ended);
    }
    let report = run_with("flood-log", Limits { cpu: Duration::from_millis(500), ..Limits::default() }, Store::default()).await;
    assert!(matches!(code(&report), "ok" | "cpu-limit"));
    assert!(report.metrics.log_lines <= 1_000 && report.metrics.log_lines_dropped > 0);
}

#[tokio::test]
async fn work_that_the_host_does_for_a_plugin_is_charged_to_it() {
    // Epochs do not cover it: each query has a clock of its own, and before the next one the call's budget is looked at.
    let deep = "<div>".repeat(1_000);
    let limits = Limits { cpu: Duration::from_millis(100), ..Limits::default() };
    let report = plugin().await.handle(page_call("slow-selector", &deep, limits, Store::default())).await;
    assert!(matches!(code(&report), "selector-timeout" | "cpu-limit"), "{:?}", report.ended);
}

#[tokio::test]
async fn parsing_that_hits_its_limit_is_parsing_and_not_the_plugins_own_code() {
    let deep = "<div>".repeat(200_000);
    let limits = Limits { query: Duration::from_millis(60), ..Limits::default() };
    let report = plugin().await.handle(page_call("slow-selector", &deep, limits, Store::default())).await;
    assert_eq!(code(&report), "page-timeout", "{:?}", report.ended);
    assert!(report.metrics.parse >= limits.query, "{:?}", report.metrics);
}

#[tokio::test]
async fn pages_of_elements_within_elements_do_not_end_the_process() {
    let plugin = plugin().await;
    for (open, close) in [("<div>", "</div>"), ("<x>", ""), ("<svg>", "")] {
        let deep = format!("<title>A</title>{}<a href=/one>1</a>{}", open.repeat(100_000), close.repeat(100_000));
        for word in ["ok", "echo", "slow-selector"] {
            let limits = Limits { cpu: Duration::from_millis(500), query: Duration::from_millis(300), ..Limits::default() };
            let report = plugin.handle(page_call(word, &deep, limits, Store::default())).await;
            let expected = ["ok", "page-timeout", "selector-timeout", "cpu-limit"];
            assert!(expected.contains(&code(&report)), "{open} {word}: {:?}", report.ended);
        }
    }
}
