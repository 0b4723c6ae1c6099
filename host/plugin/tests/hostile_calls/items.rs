//! What a pipeline makes of items, what it may do, and how long its sandbox lives.

use super::{Store, call, code, host, plugin, wasm};
use nephila_model::{DatasetName, ItemPush, StateOp, StateRead, StateVersion};
use nephila_plugin::{Call, CallFailure, InstancePolicy, Limits, PipelineReport, Plugin};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

fn item(value: &Value) -> ItemPush {
    ItemPush { dataset: DatasetName::Default, json: value.to_string() }
}

fn told(word: &str) -> ItemPush {
    item(&json!({ "item": word }))
}

async fn process_with(
    plugin: &Plugin,
    items: Vec<ItemPush>,
    limits: Limits,
    store: Store,
    earlier: Vec<StateOp>,
) -> PipelineReport {
    let report = plugin.process(Call { earlier, ..call("ok", limits, store) }, items).await;
    if report.report.ended.is_err() {
        let effects = &report.report.effects;
        assert!(effects.items.is_empty() && effects.state_ops.is_empty() && report.dropped.is_empty(), "{report:?}");
    }
    report
}

async fn process(items: Vec<ItemPush>) -> PipelineReport {
    process_with(&plugin().await, items, Limits::default(), Store::default(), Vec::new()).await
}

fn values(report: &PipelineReport) -> Vec<Value> {
    report.report.effects.items.iter().map(|item| serde_json::from_str(&item.json).expect("JSON")).collect()
}

#[tokio::test]
async fn items_pass_change_and_are_left_out_in_order() {
    let named = ItemPush { dataset: DatasetName::Named("prices".into()), json: "{\"item\":\"wrap\"}".into() };
    let items =
        vec![item(&json!({ "n": 1 })), told("drop"), named, told("drop"), told("drop-without-reason"), told("change-to-lines")];
    let report = process(items).await;
    assert_eq!(code(&report.report), "ok", "{:?}", report.report.ended);
    let wrapped = json!({ "was": { "item": "wrap" }, "of": "http://example.com/page", "to": "prices", "seen": 3 });
    assert_eq!(values(&report), [json!({ "n": 1 }), wrapped, json!({ "in": "one line" })]);
    let passed = &report.report.effects.items;
    assert_eq!((&passed[0].json, &passed[1].dataset), (&"{\"n\":1}".to_owned(), &DatasetName::Named("prices".into())));
    assert!(!passed[2].json.contains('\n'), "{:?}", passed[2]);
    assert_eq!(report.dropped, BTreeMap::from([("asked".to_owned(), 2), ("dropped".to_owned(), 1)]));
    assert!(report.report.metrics.cpu > Duration::ZERO);
}

#[tokio::test]
async fn what_passes_pays_for_its_bytes_as_what_is_pushed_does() {
    let report = process(vec![told("change-to-large"); 30]).await;
    assert_eq!((code(&report.report), report.report.effects.items.len()), ("ok", 30), "{:?}", report.report.ended);
    assert!(report.report.metrics.memory_peak < 16 << 20, "{}", report.report.metrics.memory_peak);
    assert_eq!(code(&process(vec![told("change-to-large"); 80]).await.report), "quota");
}

#[tokio::test]
async fn a_rejected_item_is_a_failure_for_good_and_nothing_is_kept() {
    let report = process(vec![told("increment"), told("drop"), told("count-and-reject"), told("trap")]).await;
    let Err(failure @ CallFailure::Fatal(info)) = &report.report.ended else { panic!("{report:?}") };
    assert_eq!((info.code.as_str(), failure.may_be_retried()), ("item-rejected", false));
    let expected = "in the pipeline of hostile: item 2: the test asked for it";
    assert!(info.message.contains(expected), "{}", info.message);
}

#[tokio::test]
async fn an_error_or_a_trap_is_a_failure_that_names_the_pipeline() {
    for (word, expected, is_tried_again) in [
        ("retry", "asked", true),
        ("fatal", "asked", false),
        ("trap", "trap", false),
        ("loop", "cpu-limit", true),
        ("no-such-word", "unknown-label", false),
        ("change-to-text", "bad-json", false),
        ("change-to-list", "bad-json", false),
        ("change-to-huge", "quota", false),
    ] {
        let limits = Limits { cpu: Duration::from_millis(200), ..Limits::default() };
        let report = process_with(&plugin().await, vec![told("keep"), told(word)], limits, Store::default(), Vec::new()).await;
        assert_eq!(code(&report.report), expected, "{word}: {:?}", report.report.ended);
        let failure = report.report.ended.expect_err(word);
        assert_eq!(failure.may_be_retried(), is_tried_again, "{word}");
        assert!(failure.to_string().contains("in the pipeline of hostile: "), "{word}: {failure}");
    }
}

#[tokio::test]
async fn a_pipeline_keeps_state_and_has_no_other_effects() {
    for (word, expected) in [
        ("push", "not-in-pipeline"),
        ("enqueue", "not-in-pipeline"),
        ("enqueue-links", "not-in-pipeline"),
        ("write", "not-in-pipeline"),
        ("remove", "not-in-pipeline"),
        ("emit", "not-in-pipeline"),
        ("listen", "not-a-listener"),
        ("session", "no-session"),
        ("increment", "ok"),
        ("stop", "ok"),
    ] {
        let report = process(vec![told(word)]).await;
        assert_eq!(code(&report.report), expected, "{word}: {:?}", report.report.ended);
    }
    assert_eq!(process(vec![told("stop")]).await.report.effects.stop.as_deref(), Some("a pipeline asked for it"));
}

#[tokio::test]
async fn it_sees_the_state_as_the_calls_before_it_left_it() {
    let store = Store { counter: Some("41".into()), ..Store::default() };
    let earlier = vec![StateOp::Increment { key: "items".into(), by: 1 }];
    let report = process_with(&plugin().await, vec![told("count"), told("count")], Limits::default(), store, earlier).await;
    let effects = &report.report.effects;
    assert_eq!(effects.state_reads, [StateRead::Key { key: "items".into(), version: StateVersion(7) }], "read once");
    let set = |value: &str| StateOp::Set { key: "items".into(), value: value.into() };
    assert_eq!(effects.state_ops, [set("43"), set("44")], "what was done before is not done again");

    let seen = |n: u32| item(&json!({ "item": "drop-seen", "n": n }));
    let report = process(vec![seen(1), seen(2), seen(300)]).await;
    assert_eq!(values(&report).len(), 2, "an item of the same page was seen");
    assert_eq!(report.dropped, BTreeMap::from([("seen".to_owned(), 1)]));
}

// How many items the sandbox has seen that served each of these calls.
async fn seen(policy: InstancePolicy, words: &[&str]) -> Vec<Option<u64>> {
    let plugin = host(4, policy).load(wasm()).await.expect("it loads");
    let mut seen = Vec::new();
    for word in words {
        let report = process_with(&plugin, vec![told(word)], Limits::default(), Store::default(), Vec::new()).await;
        seen.push(values(&report).first().and_then(|value| value["seen"].as_u64()));
    }
    seen
}

#[tokio::test]
async fn a_fresh_sandbox_serves_one_call_and_a_reused_one_as_many_as_it_may() {
    let of = |seen: &[u64]| seen.iter().copied().map(Some).collect::<Vec<_>>();
    assert_eq!(seen(InstancePolicy::Fresh, &["wrap"; 3]).await, of(&[1, 1, 1]));
    let policy = InstancePolicy::Reuse { max_calls: 3, max_memory: 64 << 20 };
    assert_eq!(seen(policy, &["wrap"; 7]).await, of(&[1, 2, 3, 1, 2, 3, 1]));
}

#[tokio::test]
async fn a_sandbox_that_has_grown_trapped_or_met_a_limit_is_never_reused() {
    let policy = |max_memory| InstancePolicy::Reuse { max_calls: u32::MAX, max_memory };
    let words = ["wrap", "grow", "wrap", "grow", "wrap"];
    let of = |seen: &[u64]| seen.iter().copied().map(Some).collect::<Vec<_>>();
    assert_eq!(seen(policy(64 << 20), &words).await, of(&[1, 2, 3, 4, 5]));
    assert_eq!(seen(policy(8 << 20), &words).await, of(&[1, 2, 1, 2, 1]), "8 MiB more than it had is too much");
    let none = None;
    assert_eq!(seen(policy(64 << 20), &["wrap", "trap", "wrap"]).await, [Some(1), none, Some(1)]);
    assert_eq!(seen(policy(64 << 20), &["wrap", "fatal", "wrap"]).await, [Some(1), none, Some(3)], "it ended by itself");
    assert_eq!(seen(policy(64 << 20), &["grow-too-much", "wrap"]).await, of(&[1, 1]), "it was refused memory");
}
