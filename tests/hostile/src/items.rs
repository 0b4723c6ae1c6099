//! What the hostile plugin does with items on their way, by word: of the item (`{"item": "WORD"}`), or of the input for those whose JSON has
//! a part (`{"items": {"PART OF THE JSON": "WORD"}}`). Without one they pass.

use std::cell::Cell;

use nephila_sdk::prelude::*;
use nephila_sdk::raw;
use nephila_sdk::serde_json::{Value, json};

thread_local! {
    /// Items that this instance has seen.
    static SEEN: Cell<u32> = const { Cell::new(0) };
}

/// Decides about an item.
pub(crate) fn process(item: &Item) -> Result<Verdict, Error> {
    SEEN.set(SEEN.get() + 1);
    let value = item.read::<Value>()?;
    let told = value.get("item").and_then(Value::as_str).map(str::to_owned);
    let told = match told {
        Some(word) => Some(word),
        None => crate::input()?.items.into_iter().find(|(part, _)| item.json().contains(part.as_str())).map(|(_, word)| word),
    };
    let Some(word) = told else { return Ok(Verdict::Keep) };
    match word.as_str() {
        "keep" => Ok(Verdict::Keep),
        "wrap" => Verdict::change(&json!({ "was": value, "of": item.url(), "to": item.dataset(), "seen": SEEN.get() })),
        "drop" => Ok(Verdict::drop("asked")),
        "drop-without-reason" => Ok(Verdict::drop(" ")),
        "drop-seen" => {
            let key = format!("seen:{}", item.json().len());
            if state::get::<bool>(&key)?.is_some() {
                return Ok(Verdict::drop("seen"));
            }
            state::set(&key, &true)?;
            Ok(Verdict::Keep)
        }
        "count" => state::update("items", |count: Option<u64>| count.unwrap_or(0) + 1).map(|()| Verdict::Keep),
        "increment" => state::increment("items", 1).map(|()| Verdict::Keep),
        "reject" => Ok(Verdict::reject("the test asked for it")),
        "count-and-reject" => {
            state::increment("items", 1)?;
            Ok(Verdict::reject("the test asked for it"))
        }
        "change-to-text" => Ok(Verdict::Change("no JSON".into())),
        "change-to-list" => Verdict::change(&[1]),
        "change-to-lines" => Ok(Verdict::Change("{\n \"in\": \"one line\"\n}".into())),
        "change-to-large" => Verdict::change(&json!({ "text": "x".repeat(900 << 10) })),
        "change-to-huge" => Verdict::change(&json!({ "text": "x".repeat(2 << 20) })),
        "push" => dataset::push(&json!({})).map(|()| Verdict::Keep),
        "enqueue" => enqueue([Request::get("http://example.com/")]).map(|_| Verdict::Keep),
        "enqueue-links" => enqueue_links(Links::all()).map(|_| Verdict::Keep),
        "write" => key_value::set("item", &value).map(|()| Verdict::Keep),
        "remove" => Ok(raw::key_value::remove(None, "item")?).map(|()| Verdict::Keep),
        "emit" => events::emit("item", &value).map(|()| Verdict::Keep),
        "listen" => events::on("page").map(|()| Verdict::Keep),
        "session" => session::retire().map(|()| Verdict::Keep),
        "grow" => {
            std::hint::black_box(vec![1_u8; 8 << 20].leak());
            Verdict::change(&json!({ "seen": SEEN.get() }))
        }
        "grow-too-much" => {
            let refused = Vec::<u8>::new().try_reserve_exact(1 << 30).is_err();
            Verdict::change(&json!({ "seen": SEEN.get(), "refused": refused }))
        }
        "stop" => {
            crawl::stop("a pipeline asked for it");
            Ok(Verdict::Keep)
        }
        "retry" => Err(retry("asked", "the test asked for a retry")),
        "fatal" => Err(fatal("asked", "the test asked to fail")),
        "trap" => crate::behaviour::trap(),
        "loop" => crate::behaviour::spin().map(|()| Verdict::Keep),
        other => Err(fatal("unknown-label", format!("no behaviour is called `{other}`"))),
    }
}
