//! What the hostile plugin does with events, by word: on a page, and as a listener.
//!
//! As a listener it hears what the input names (`{"listen": ["NAME"]}`; `["do=trap"]` traps instead) and does what an event's payload says
//! (`{"do": "WORD"}`), or else the input (`{"hear": "WORD"}`). Without a word it pushes how many events its instance has heard.

use std::cell::Cell;

use nephila_sdk::prelude::*;
use nephila_sdk::raw;
use nephila_sdk::serde_json::{Value, json};

thread_local! {
    /// Events that this instance has heard.
    static HEARD: Cell<u32> = const { Cell::new(0) };
}

/// Does on a page what the word says.
pub(crate) fn on_page(word: &str, call: &Call) -> HandlerResult {
    match word {
        "emit" => emit(call),
        "emit-poison" => {
            crate::well_behaved(call)?;
            events::emit("poison", &json!({}))
        }
        "emit-once" => events::emit("page", &json!({ "url": call.request().url })),
        "emit-then-fatal" => {
            emit(call)?;
            Err(fatal("asked", "the test asked to fail after its event"))
        }
        "emit-host-event" => events::emit("PersistState", &json!({})),
        "emit-bad-name" => events::emit("no name", &json!({})),
        "emit-bad-json" => Ok(raw::events::emit("page", "{\"not\": json")?),
        "emit-huge" => events::emit("page", &"x".repeat(1 << 20)),
        "emit-flood" => (0..10_000_u32).try_for_each(|turn| events::emit("page", &turn)),
        "emit-listen" => events::on("page"),
        other => Err(fatal("unknown-label", format!("no behaviour is called `{other}`"))),
    }
}

fn emit(call: &Call) -> HandlerResult {
    events::emit("page", &json!({ "url": call.request().url }))?;
    Ok(raw::events::emit("page", "{\n \"in\": \"one line\"\n}")?)
}

/// What the listener wants to hear.
pub(crate) fn subscriptions(wanted: Vec<String>) -> Vec<String> {
    if wanted.iter().any(|name| name == "do=trap") {
        crate::behaviour::trap();
    }
    wanted
}

/// Does what the payload says.
pub(crate) fn hear(event: &Event) -> HandlerResult {
    HEARD.set(HEARD.get() + 1);
    let payload = event.payload::<Value>()?;
    let named = payload.get("event").and_then(Value::as_str).unwrap_or_default();
    let always = crate::input().ok().and_then(|input| input.hear);
    match payload.get("do").and_then(Value::as_str).or(always.as_deref()).unwrap_or("count") {
        "count" => count(event),
        "payload" => dataset::push(&json!({ "id": event.id(), "name": event.name(), "heard": HEARD.get(), "payload": payload })),
        "on" => events::on(named),
        "off" => events::off(named),
        "on-then-fatal" => {
            count(event)?;
            events::on(named)?;
            Err(fatal("asked", "the test asked to fail after its effects"))
        }
        "on-then-trap" => {
            events::on(named)?;
            crate::behaviour::trap()
        }
        "on-flood" => (0..10_000_u32).try_for_each(|turn| events::on(&format!("event-{turn}"))),
        "emit" => events::emit("heard", &payload),
        "loop" => crate::behaviour::spin(),
        "nap" => doze(event, 1),
        "sleep" => doze(event, 10),
        "trap" => crate::behaviour::trap(),
        "no-page" => enqueue_links(Links::all()).map(drop),
        "no-session" => session::retire(),
        "add-session" => session::add(session::Addition::default()).map(drop),
        "enqueue" => {
            let request = || Request::get("http://example.com/").always();
            enqueue([request(), request()]).map(drop)
        }
        "enqueue-root" => {
            let url = payload.get("url").and_then(Value::as_str).unwrap_or_default();
            enqueue([Request::get(url.split("/p/").next().unwrap_or_default())]).map(drop)
        }
        // What it turns on at the beginning is heard by an instance that comes after a conflict, too.
        "count-after-on" if event.name() == "crawlStarted" => events::on("page"),
        "count-after-on" => state::update("counter", |count: Option<u64>| count.unwrap_or(0) + 1),
        "read-modify-write" => state::update("counter", |count: Option<u64>| count.unwrap_or(0) + 1),
        other => Err(fatal("unknown-label", format!("no behaviour is called `{other}`"))),
    }
}

fn doze(event: &Event, seconds: u64) -> HandlerResult {
    crate::clock::sleep(seconds);
    count(event)
}

fn count(event: &Event) -> HandlerResult {
    let mut item = json!({ "id": event.id(), "name": event.name(), "at": event.created_at(), "heard": HEARD.get() });
    if let Some(session) = event.payload::<Value>()?.get("sessionId") {
        item["session"] = session.clone();
    }
    dataset::push(&item)
}
