//! What the hostile plugin does with datasets and key-value stores, by word.

use std::collections::BTreeMap;

use nephila_sdk::prelude::*;
use nephila_sdk::serde_json::{Value, json};

/// Does on a page what the word says.
pub(crate) fn on_page(word: &str, call: &Call) -> HandlerResult {
    let url = &call.request().url;
    match word {
        // Two auto-saved values: one of the crawl's own store, and one of a store with a name.
        "store-auto-saved" => {
            crate::well_behaved(call)?;
            key_value::auto_saved("counts", BTreeMap::new()).update(|counts: &mut BTreeMap<String, u32>| {
                *counts.entry("pages".to_owned()).or_default() += 1;
            })?;
            key_value::named("shared").auto_saved("seen", Vec::new()).update(|seen: &mut Vec<String>| seen.push(url.clone()))
        }
        "store-auto-saved-then-fatal" => {
            on_page("store-auto-saved", call)?;
            Err(fatal("asked", "the test asked to fail after its effects"))
        }
        "store-echo-auto-saved" => {
            let counts = key_value::auto_saved("counts", json!({ "default": true })).get()?;
            dataset::push(&json!({ "counts": counts, "keys": state::keys()? }))
        }
        "store-auto-saved-over-text" => {
            key_value::KeyValueStore::default().set_bytes("text", "text/plain", "no JSON")?;
            key_value::auto_saved("text", Value::Null).get().map(drop)
        }
        "store-auto-saved-too-large" => key_value::auto_saved("large", String::new()).set(&"x".repeat(8 << 20)),
        "store-auto-saved-bad-key" => key_value::auto_saved("a\nb", 0).set(&1),
        // Things with a name, and some of every kind for who exports them.
        "store-named" => {
            crate::well_behaved(call)?;
            dataset::named("price.list").push(&json!({ "price": 1.5, "url": url }))?;
            key_value::named("covers").set_bytes("a b/ü.jpg", "image/jpeg", [0, 255, 10])?;
            key_value::set("settings", &json!({ "currency": "GBP" }))?;
            state::increment("counter", 1)?;
            key_value::auto_saved("counts", 0_u32).update(|count| *count += 1)
        }
        other => Err(fatal("unknown-label", format!("no behaviour is called `{other}`"))),
    }
}
