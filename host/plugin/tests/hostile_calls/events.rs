//! What is emitted, and a listener that hears it.

use super::{Store, call, code, host, plugin, run, run_with, wasm};
use nephila_model::{EmittedEvent, StateOp, StateRead, StateVersion, Timestamp};
use nephila_plugin::{Call, CallFailure, CallSettings, InstancePolicy, Limits, Listener, ListenerEvent, ListenerReport};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn an_event_is_an_effect() {
    let report = run("emit").await;
    assert_eq!(code(&report), "ok", "{:?}", report.ended);
    let event = |payload: &str| EmittedEvent { name: "page".into(), payload: payload.into() };
    assert_eq!(report.effects.events, [event("{\"url\":\"http://example.com/page\"}"), event("{\"in\":\"one line\"}")]);
    let failed = run("emit-then-fatal").await;
    assert_eq!(code(&failed), "asked");
    assert!(failed.effects.events.is_empty());
}

#[tokio::test]
async fn events_that_cannot_be_emitted_are_refused_by_code() {
    for (word, expected) in [
        ("emit-host-event", "bad-event"),
        ("emit-bad-name", "bad-event"),
        ("emit-bad-json", "bad-json"),
        ("emit-huge", "quota"),
        ("emit-flood", "quota"),
        ("emit-listen", "not-a-listener"),
    ] {
        let report = run(word).await;
        assert_eq!(code(&report), expected, "{word}: {:?}", report.ended);
    }
    let report = run_with("emit", Limits { effect_bytes: 200, ..Limits::default() }, Store::default()).await;
    assert_eq!(code(&report), "quota", "they are paid for");
}

fn settings(input: &Value) -> Arc<CallSettings> {
    Arc::new(CallSettings { input_json: input.to_string(), ..CallSettings::default() })
}

async fn listener(wanted: &[&str]) -> Listener {
    plugin().await.listener(settings(&json!({ "listen": wanted })))
}

fn event(name: &str, payload: Value) -> ListenerEvent {
    ListenerEvent {
        id: format!("{name}-1"),
        name: name.into(),
        payload: payload.to_string(),
        created_at: Timestamp::from_millis(951_827_696_007),
    }
}

/// A call that has a page, which a listener is not to see.
fn event_call(limits: Limits) -> Call {
    call("ok", limits, Store { counter: Some("41".into()), ..Store::default() })
}

async fn hear(listener: &mut Listener, name: &str, payload: Value) -> ListenerReport {
    listener.on_event(event_call(Limits::default()), &event(name, payload)).await
}

/// How many events the instance has heard, as it says itself.
async fn heard(listener: &mut Listener) -> Option<u64> {
    let report = hear(listener, "tick", json!({})).await.report;
    let item = report.effects.items.first()?;
    serde_json::from_str::<Value>(&item.json).ok()?["heard"].as_u64()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn a_listener_hears_what_it_subscribed_to_and_remembers() {
    let mut listener = listener(&["tick", "persistState"]).await;
    assert_eq!(listener.subscriptions().await, Ok(set(&["persistState", "tick"])));
    let ListenerReport { report, hears } = hear(&mut listener, "tick", json!({})).await;
    assert_eq!(code(&report), "ok", "{:?}", report.ended);
    let item: Value = serde_json::from_str(&report.effects.items[0].json).expect("JSON");
    assert_eq!(item, json!({ "id": "tick-1", "name": "tick", "at": "2000-02-29T12:34:56.007Z", "heard": 1 }));
    assert_eq!(hears, Some(set(&["persistState", "tick"])));
    assert!(report.metrics.host_calls > 0 && report.metrics.memory_peak > 0);
    assert_eq!(heard(&mut listener).await, Some(2), "its memory lives on");
    assert_eq!(heard(&mut listener).await, Some(3));

    let passed_over = hear(&mut listener, "exit", json!({ "do": "trap" })).await;
    assert!(passed_over.report.ended.is_ok() && passed_over.report.effects.items.is_empty());
    assert_eq!(heard(&mut listener).await, Some(4), "what it did not subscribe to it has not heard");

    let mut another = plugin().await.listener(settings(&json!({ "listen": ["tick"] })));
    assert_eq!(heard(&mut another).await, Some(1), "each listener has an instance of its own");
}

#[tokio::test]
async fn its_effects_are_those_of_a_handler() {
    let mut listener = listener(&["tick"]).await;
    let report = hear(&mut listener, "tick", json!({ "do": "read-modify-write" })).await.report;
    assert_eq!(report.effects.state_reads, [StateRead::Key { key: "counter".into(), version: StateVersion(7) }]);
    assert_eq!(report.effects.state_ops, [StateOp::Set { key: "counter".into(), value: "42".into() }]);
    let report = hear(&mut listener, "tick", json!({ "do": "emit" })).await.report;
    assert_eq!(report.effects.events[0].name, "heard");
    let keys = |report: &ListenerReport| report.report.effects.requests.iter().map(|r| r.unique_key).collect::<Vec<_>>();
    let first = hear(&mut listener, "tick", json!({ "do": "enqueue" })).await;
    let again = hear(&mut listener, "tick", json!({ "do": "enqueue" })).await;
    assert_eq!((keys(&first).len(), keys(&first)), (2, keys(&again)), "an event that is heard again asks for the same requests");
    assert_ne!(keys(&first)[0], keys(&first)[1]);
    let mut beside = plugin().await.listener(settings(&json!({ "listen": ["tick"] }))).at(1);
    let other = hear(&mut beside, "tick", json!({ "do": "enqueue" })).await;
    assert!(keys(&other).iter().all(|key| !keys(&first).contains(key)), "another listener of the same event asks for its own");
    assert_eq!(code(&hear(&mut listener, "tick", json!({ "do": "no-page" })).await.report), "no-page");
    assert_eq!(code(&hear(&mut listener, "tick", json!({ "do": "no-session" })).await.report), "no-session");
}

#[tokio::test]
async fn an_error_drops_the_effects_and_keeps_the_instance() {
    let mut listener = listener(&["tick"]).await;
    assert_eq!(heard(&mut listener).await, Some(1));
    let ListenerReport { report, hears } = hear(&mut listener, "tick", json!({ "do": "on-then-fatal", "event": "exit" })).await;
    assert!(matches!(&report.ended, Err(CallFailure::Fatal(info)) if info.code == "asked"), "{:?}", report.ended);
    assert!(report.effects.items.is_empty());
    assert_eq!(hears, Some(set(&["exit", "tick"])), "what it hears is no effect");
    assert_eq!(heard(&mut listener).await, Some(3));
}

#[tokio::test]
async fn on_and_off_change_what_is_heard() {
    let mut listener = listener(&["tick"]).await;
    let turned_on = hear(&mut listener, "tick", json!({ "do": "on", "event": "persistState" })).await;
    assert_eq!(turned_on.hears, Some(set(&["persistState", "tick"])));
    let heard = hear(&mut listener, "persistState", json!({ "isMigrating": false })).await;
    assert_eq!(heard.report.effects.items.len(), 1);
    let turned_off = hear(&mut listener, "tick", json!({ "do": "off", "event": "persistState" })).await;
    assert_eq!(turned_off.hears, Some(set(&["tick"])));
    assert_eq!(listener.subscriptions().await, Ok(set(&["tick"])), "a live one says what it hears now");
    assert!(hear(&mut listener, "persistState", json!({})).await.report.effects.items.is_empty());
    let bad = hear(&mut listener, "tick", json!({ "do": "on", "event": "persiststate" })).await;
    assert_eq!((code(&bad.report), bad.hears), ("bad-event", Some(set(&["tick"]))));
    let flood = hear(&mut listener, "tick", json!({ "do": "on-flood" })).await;
    assert_eq!((code(&flood.report), flood.hears.map(|hears| hears.len())), ("quota", Some(1_000)));
}

#[tokio::test]
async fn after_a_trap_and_a_limit_the_instance_is_a_fresh_one() {
    let mut listener = listener(&["tick"]).await;
    assert_eq!(heard(&mut listener).await, Some(1));
    let trapped = hear(&mut listener, "tick", json!({ "do": "on-then-trap", "event": "exit" })).await;
    assert_eq!((code(&trapped.report), trapped.hears), ("trap", None));
    assert_eq!(listener.subscriptions().await, Ok(set(&["tick"])), "what the old one turned on went with it");
    assert_eq!(heard(&mut listener).await, Some(1));

    let limits = Limits { cpu: Duration::from_millis(100), ..Limits::default() };
    let slow = listener.on_event(event_call(limits), &event("tick", json!({ "do": "loop" }))).await;
    assert_eq!((code(&slow.report), slow.hears), ("cpu-limit", None));
    assert_eq!(heard(&mut listener).await, Some(1), "without being asked for its subscriptions in between");

    listener.renew(set(&["tick", "page"]));
    assert_eq!(heard(&mut listener).await, Some(1), "what it remembered is gone");
    assert_eq!(listener.subscriptions().await, Ok(set(&["page", "tick"])), "and what it heard is not");
}

#[tokio::test]
async fn a_listener_that_waits_ends_when_its_time_is_over() {
    let mut listener = listener(&["tick"]).await;
    let limits = Limits { wall: Duration::from_millis(100), ..Limits::default() };
    let call = call("ok", limits, Store { stuck: true, ..Store::default() });
    let ListenerReport { report, hears } = listener.on_event(call, &event("tick", json!({ "do": "read-modify-write" }))).await;
    assert_eq!((code(&report), hears), ("time-limit", None));
}

#[tokio::test]
async fn what_it_cannot_subscribe_to_is_told() {
    let mut trapping = listener(&["do=trap"]).await;
    assert!(matches!(trapping.subscriptions().await, Err(CallFailure::Trap { .. })));
    let heard = hear(&mut trapping, "tick", json!({})).await;
    assert_eq!((code(&heard.report), heard.hears), ("trap", None));
    let mut unknown = listener(&["tick", "Exit"]).await;
    let Err(CallFailure::Fatal(info)) = unknown.subscriptions().await else { panic!("it cannot hear that") };
    assert!(info.code == "bad-event" && info.message.contains("`exit`"), "{info:?}");
    let names: Vec<String> = (0..1_001).map(|n| format!("event-{n}")).collect();
    let mut greedy = plugin().await.listener(settings(&json!({ "listen": names })));
    assert!(matches!(greedy.subscriptions().await, Err(CallFailure::Fatal(info)) if info.code == "quota"));
}

#[tokio::test]
async fn listeners_leave_room_for_pages() {
    let host = host(4, InstancePolicy::Fresh);
    let plugin = host.load(wasm()).await.expect("it loads");
    let settings = settings(&json!({ "listen": ["tick"] }));
    let mut listeners: Vec<_> = (0..3).map(|_| plugin.listener(settings.clone())).collect();
    for listener in &mut listeners[..2] {
        assert_eq!(heard(listener).await, Some(1));
    }
    let failure = listeners[2].subscriptions().await.expect_err("half of the room is taken");
    assert!(failure.to_string().contains("let the host have more sandboxes"), "{failure}");
    let report = plugin.handle(call("ok", Limits::default(), Store::default())).await;
    assert_eq!(code(&report), "ok", "{:?}", report.ended);
    listeners[0].renew(set(&["tick"]));
    assert_eq!(heard(&mut listeners[2]).await, Some(1));
}

#[tokio::test]
async fn pages_are_handled_while_a_listener_is_busy() {
    let plugin = plugin().await;
    let mut listener = plugin.listener(settings(&json!({ "listen": ["tick"] })));
    let call_of_listener = call("ok", Limits::default(), Store { stuck: true, ..Store::default() });
    let event = event("tick", json!({ "do": "read-modify-write" }));
    let busy = listener.on_event(call_of_listener, &event);
    tokio::select! {
        biased;
        // It waits for the store for ever, until it is dropped.
        _ = busy => panic!("it should be busy"),
        report = plugin.handle(call("ok", Limits::default(), Store::default())) => assert_eq!(code(&report), "ok"),
    }
    assert_eq!(heard(&mut listener).await, Some(1), "an event whose future was dropped takes the instance with it");
}
