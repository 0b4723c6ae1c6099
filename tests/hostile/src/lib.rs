//! A plugin for tests that misbehaves on demand.
//!
//! What it does on a page is a word (see [`behaviour`]), looked for in this order: the user data `{"do": "WORD"}`, the
//! label, `do=WORD` anywhere in the URL, the input `{"pages": {"PART OF THE URL": "WORD"}}`. Without one it is well-behaved:
//! it pushes `{"url": …}` and follows every link of the same hostname. What it does as a listener, with items on their way, with sessions and
//! with storages is in [`events`], [`items`], [`sessions`] and [`storages`].

mod behaviour;
mod clock;
mod events;
mod items;
mod sessions;
mod storages;

use std::collections::BTreeMap;

use nephila_sdk::prelude::*;
use nephila_sdk::serde_json::{Value, json};

struct Hostile;

impl Crawler for Hostile {
    fn manifest() -> Manifest {
        Manifest::new("hostile", env!("CARGO_PKG_VERSION"), "Misbehaves on demand, for tests.")
    }

    fn handle(call: &Call) -> HandlerResult {
        match asked_for(call)? {
            Some(word) => behaviour::carry_out(&word, call),
            None => well_behaved(call),
        }
    }

    fn failure(call: &Call, reason: &FailureReason) -> HandlerResult {
        let row = json!({ "failed": call.request().url, "code": reason.code, "attempts": reason.attempts });
        dataset::named("failures").push(&row)
    }

    fn finish() -> HandlerResult {
        dataset::push(&json!({ "finish": true }))
    }

    fn subscriptions() -> Vec<String> {
        events::subscriptions(input().map(|input| input.listen).unwrap_or_default())
    }

    fn on_event(event: &Event) -> HandlerResult {
        events::hear(event)
    }

    fn create_session() -> Result<NewSession, Error> {
        sessions::create(&input()?.session.unwrap_or_default())
    }

    fn process_item(item: &Item) -> Result<Verdict, Error> {
        items::process(item)
    }
}

nephila_sdk::plugin!(Hostile: failure, finish, listener, sessions, pipeline);

/// Pushes the URL that answered and follows every link of its hostname.
pub(crate) fn well_behaved(call: &Call) -> HandlerResult {
    dataset::push(&json!({ "url": call.document()?.url() }))?;
    enqueue_links(Links::same_hostname())?;
    Ok(())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Input {
    pages: BTreeMap<String, String>,
    listen: Vec<String>,
    hear: Option<String>,
    session: Option<String>,
    items: BTreeMap<String, String>,
}

pub(crate) fn input() -> Result<Input, Error> {
    Ok(config::input::<Option<Input>>()?.unwrap_or_default())
}

fn asked_for(call: &Call) -> Result<Option<String>, Error> {
    let request = call.request();
    if let Some(word) = call.user_data::<Option<Value>>()?.as_ref().and_then(|data| data.get("do")).and_then(Value::as_str) {
        return Ok(Some(word.to_owned()));
    }
    if let Some(label) = call.label() {
        return Ok(Some(label.to_owned()));
    }
    if let Some(word) = word_in_url(&request.url) {
        return Ok(Some(word.to_owned()));
    }
    Ok(input()?.pages.into_iter().find(|(part, _)| request.url.contains(part.as_str())).map(|(_, word)| word))
}

fn word_in_url(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("do=")?;
    let word = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next()?;
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::word_in_url;

    #[test]
    fn a_word_is_found_in_the_query_and_in_the_path() {
        assert_eq!(word_in_url("http://a/?do=trap"), Some("trap"));
        assert_eq!(word_in_url("http://a/do=flood-log/1?x"), Some("flood-log"));
        assert_eq!(word_in_url("http://a/?do="), None);
        assert_eq!(word_in_url("http://a/"), None);
    }
}
