//! What the hostile plugin can be told to do, by word.

use std::hint::black_box;

use nephila_sdk::prelude::*;
use nephila_sdk::raw;
use nephila_sdk::serde_json::{Value, json};

/// Does what the word says. An unknown one is fatal with the code `unknown-label`, as a router would have it.
pub(crate) fn carry_out(word: &str, call: &Call) -> HandlerResult {
    match word {
        "ok" => crate::well_behaved(call),
        "nothing" => Ok(()),

        "retry" => Err(retry("asked", "the test asked for a retry")),
        "retry-once" if call.request().retry_count > 0 => crate::well_behaved(call),
        "retry-once" => Err(retry("asked", "the test asked for one retry")),
        "skip" => Err(skip("asked", "the test asked to be skipped")),
        "fatal" => Err(fatal("asked", "the test asked to fail")),
        // Effects first, then the error: none of them may be kept.
        "push-then-fatal" => effects_then(call, fatal("asked", "the test asked to fail after its effects")),
        "push-then-trap" => {
            effects(call)?;
            trap()
        }

        "trap" => trap(),
        "unreachable" => unreachable_instruction(),
        "loop" => spin(),
        "alloc" => allocate(),
        "deep-recursion" => {
            black_box(descend(1));
            Ok(())
        }

        "flood-log" => flood_log(),
        "flood-items" => flood_items(),
        "flood-requests" => flood_requests(),
        "flood-state" => flood_state(),
        "huge-item" => dataset::push(&json!({ "text": "x".repeat(48 << 20) })),
        "bad-json" => Ok(raw::dataset::push(None, &["{\"not\": json".to_owned()])?),
        "not-an-object" => Ok(raw::dataset::push(None, &["[1, 2]".to_owned()])?),

        "bad-selector" => {
            let row = call.document()?.extract(Fields::new().text("x", "p[["))?;
            dataset::push(&json!({ "x": row.get("x") }))
        }
        "slow-selector" => slow_selector(call),
        "many-handles" => many_handles(call),
        // An item whose pipeline is told by it what to do, after one that is kept.
        word if word.starts_with("item-") => {
            effects(call)?;
            dataset::push(&json!({ "item": word.trim_start_matches("item-") }))
        }
        "body" => dataset::push(&json!({ "bytes": call.document()?.body().len() })),

        "state-bad-type" => {
            state::set("word", "text")?;
            state::increment("word", 1)
        }
        "state-bad-json" => Ok(raw::state::set("word", "{\"not\": json")?),
        "state-large" => state::set("large", &"x".repeat(20 << 10)),
        "increment" => state::increment("counter", 1),
        "read-modify-write" => state::update("counter", |count: Option<u64>| count.unwrap_or(0) + 1),
        "append" => state::append("urls", &call.request().url),
        "follow-count-and-emit" => {
            crate::well_behaved(call)?;
            state::update("counter", |count: Option<u64>| count.unwrap_or(0) + 1)?;
            crate::events::on_page("emit-once", call)
        }
        "follow-and-increment" => {
            crate::well_behaved(call)?;
            state::increment("counter", 1)
        }
        "follow-and-read-modify-write" => {
            crate::well_behaved(call)?;
            state::update("counter", |count: Option<u64>| count.unwrap_or(0) + 1)
        }
        "follow-and-skew" => {
            crate::well_behaved(call)?;
            skew(call)
        }

        "follow-and-say" => {
            crate::well_behaved(call)?;
            crawl::status_message("these are the plugin's words");
            Ok(())
        }
        "stop" => {
            crawl::stop("the test asked for it");
            Ok(())
        }
        "echo" => echo(call),
        word if word.starts_with("emit") => crate::events::on_page(word, call),
        word if word.starts_with("store") => crate::storages::on_page(word, call),
        word if word.starts_with("session") => crate::sessions::on_page(word, call),
        other => Err(fatal("unknown-label", format!("no behaviour is called `{other}`"))),
    }
}

/// Of the pages 2n and 2n + 1 each looks for the other's key and, if that is not there, sets its own: in any order of the two, one of them does.
fn skew(call: &Call) -> HandlerResult {
    let url = &call.request().url;
    let number: u32 = url.rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    let key = |number: u32| format!("pair-{}-{}", number / 2, if number.is_multiple_of(2) { "a" } else { "b" });
    if state::get::<bool>(&key(number ^ 1))?.is_none() {
        state::set(&key(number), &true)?;
    }
    Ok(())
}

fn effects(call: &Call) -> Result<(), Error> {
    crate::well_behaved(call)?;
    state::increment("effects", 1)?;
    key_value::set("effects", &call.request().url)
}

fn effects_then(call: &Call, error: Error) -> HandlerResult {
    effects(call)?;
    Err(error)
}

#[allow(clippy::panic, reason = "what is tested is what the host makes of a panic")]
pub(crate) fn trap() -> ! {
    panic!("the test asked for a panic")
}

fn unreachable_instruction() -> HandlerResult {
    #[cfg(target_arch = "wasm32")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_arch = "wasm32"))]
    Err(fatal("host", "there is no such instruction here"))
}

pub(crate) fn spin() -> HandlerResult {
    let mut turns: u64 = 0;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

fn allocate() -> HandlerResult {
    loop {
        black_box(vec![1_u8; 1 << 20].leak());
    }
}

/// The result is used after the call, so that it is no loop in disguise.
#[allow(unconditional_recursion, reason = "what is tested is that the sandbox ends it")]
fn descend(depth: u64) -> u64 {
    black_box(descend(black_box(depth) + 1)) + depth
}

fn flood_log() -> HandlerResult {
    // A thousand times what is kept.
    let line = "x".repeat(1_000);
    for turn in 0..1_000_000_u32 {
        info!("{turn} {line}");
    }
    Ok(())
}

fn flood_items() -> HandlerResult {
    for turn in 0..10_000_000_u32 {
        dataset::push(&json!({ "turn": turn }))?;
    }
    Ok(())
}

fn flood_requests() -> HandlerResult {
    for batch in 0..10_000_u32 {
        let requests = (0..1_000_u32).map(|n| Request::get(format!("/flood/{batch}/{n}")));
        // A refusal of single requests is an answer, not an error: go on until the host has had enough.
        enqueue(requests)?;
    }
    Ok(())
}

fn flood_state() -> HandlerResult {
    let value = "x".repeat(10_000);
    for turn in 0..1_000_000_u32 {
        state::set(&format!("flood:{turn}"), &value)?;
    }
    Ok(())
}

/// Combinators that each may match at any depth, many times: polynomial for a matcher that backtracks.
fn slow_selector(call: &Call) -> HandlerResult {
    let document = call.document()?;
    let selector = format!("{}nothing", "* ".repeat(60));
    for _ in 0..100 {
        let fields = (0..200).fold(Fields::new(), |fields, n| fields.texts(&format!("f{n}"), &selector));
        document.extract(fields)?;
    }
    Ok(())
}

fn many_handles(call: &Call) -> HandlerResult {
    let mut kept = Vec::new();
    for _ in 0..50_000_u32 {
        kept.push(call.document()?);
    }
    dataset::push(&json!({ "handles": kept.len() }))
}

/// What arrived here, as an item.
fn echo(call: &Call) -> HandlerResult {
    let request = call.request();
    let document = call.document()?;
    let meta = document.meta();
    let item = json!({
        "url": request.url,
        "originalUrl": request.original_url,
        "method": format!("{:?}", request.method),
        "headers": request.headers.iter().map(|header| (&*header.name, &*header.value)).collect::<Vec<_>>(),
        "payload": request.payload.as_deref().map(String::from_utf8_lossy),
        "label": request.label,
        "userData": call.user_data::<Value>()?,
        "priority": request.priority,
        "depth": request.depth,
        "uniqueKey": request.unique_key,
        "sessionId": request.session_id,
        "retryCount": request.retry_count,
        "maxRetries": request.max_retries,
        "noRetry": request.no_retry,
        "timeoutMillis": request.timeout_millis,
        "hopCount": request.hop_count,
        "finalUrl": meta.url,
        "status": meta.status,
        "contentType": meta.content_type,
        "charset": meta.charset,
        "redirects": meta.redirect_chain.iter().map(|hop| (&*hop.url, hop.status)).collect::<Vec<_>>(),
        "bodyBytes": meta.body_bytes,
        "title": document.title()?,
        "input": config::input::<Value>()?,
    });
    dataset::push(&item)
}
