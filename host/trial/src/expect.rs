//! What a fixture expects, and what a call came to beside it.
//!
//! Decision: what is not mentioned may be anything, except an error: a call that fails fails the fixture unless it says so. Counts and
//! names of fields are Scrapy's contracts (`@returns`, `@scrapes`); the page itself is its `@url`, saved.

use crate::differences::{Difference, Differences, Fields};
use crate::{KeptValue, Seen};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What is expected.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Expected {
    /// The items of the crawl's own dataset: these, in this order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<Value>>,
    /// The items of named datasets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datasets: Option<BTreeMap<String, Vec<Value>>>,
    /// How many items there are, over all datasets (Scrapy: `@returns items`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_count: Option<Count>,
    /// Fields that each item has, with a value that is not `null` (Scrapy: `@scrapes`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrapes: Option<Vec<String>>,
    /// The requests: these, in this order; of each, the fields that are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<Vec<Value>>,
    /// How many requests there are (Scrapy: `@returns requests`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_count: Option<Count>,
    /// The keys of the state that the call wrote, as they are afterwards; `null` for one that is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<BTreeMap<String, Value>>,
    /// The auto-saved values that it wrote, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_saved: Option<BTreeMap<String, Value>>,
    /// The values that it wrote; `null` for one that is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_values: Option<BTreeMap<String, Option<KeptValue>>>,
    /// The events that it emitted: these, in this order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<Value>>,
    /// What it asked for its session: `mark`, `userData`, `setCookies`, `added`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Value>,
    /// Why the crawl should stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// Whether what is not mentioned here must not be. Default no; `--update` says so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nothing_else: bool,
    /// How it fails: its `code`, its `ending`, and a part of its `message`, as far as they are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ExpectedError>,
}

/// How a call is expected to fail.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ExpectedError {
    /// The code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// A part of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What becomes of the request: `retry`, `skip` or `fatal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
}

/// A number, or bounds of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Count {
    /// So many.
    Exactly(usize),
    /// Both ends included; each may be left out.
    Between(Bounds),
}

/// Bounds of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bounds {
    /// At least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<usize>,
    /// At most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<usize>,
}

impl Expected {
    /// All that a call came to, and what was expected of it in other words and holds: what `--update` writes.
    #[must_use]
    pub fn updated(before: Option<&Self>, seen: &Seen) -> Self {
        let Some(before) = before else { return Self::of(seen) };
        let holds = |part: Self| part.differences(seen).is_empty();
        let error = before.error.clone();
        let counts = |item_count, request_count| Self { item_count, request_count, error: error.clone(), ..Self::default() };
        let mut now = Self::of(seen);
        now.item_count = before.item_count.filter(|count| holds(counts(Some(*count), None)));
        now.request_count = before.request_count.filter(|count| holds(counts(None, Some(*count))));
        let scrapes = |names: &Vec<String>| Self { scrapes: Some(names.clone()), error: error.clone(), ..Self::default() };
        now.scrapes = before.scrapes.clone().filter(|names| holds(scrapes(names)));
        if let (Some(now), Some(before)) = (&mut now.error, before.error.as_ref().and_then(|error| error.message.as_ref())) {
            let found = seen.error.as_ref().and_then(|error| error["message"].as_str()).unwrap_or_default();
            now.message = found.contains(before.as_str()).then(|| before.clone());
        }
        now
    }

    /// All that a call came to.
    #[must_use]
    pub fn of(seen: &Seen) -> Self {
        let json = seen.json();
        let taken = |name: &str| json.get(name).cloned().unwrap_or_default();
        let (items, requests, events) = (list(taken("items")), list(taken("requests")), list(taken("events")));
        let some = |list: Vec<Value>| (!list.is_empty()).then_some(list);
        let datasets: BTreeMap<String, Vec<Value>> = serde_json::from_value(taken("datasets")).unwrap_or_default();
        let word = |value: &Value| value.as_str().map(str::to_owned);
        let error = seen.error.as_ref();
        Self {
            // Said also where there are none, since that is what is easily forgotten.
            items: error.is_none().then_some(items),
            requests: error.is_none().then_some(requests),
            datasets: (!datasets.is_empty()).then_some(datasets),
            state: (!seen.state.is_empty()).then(|| seen.state.clone()),
            auto_saved: (!seen.auto_saved.is_empty()).then(|| seen.auto_saved.clone()),
            key_values: (!seen.key_values.is_empty()).then(|| seen.key_values.clone()),
            events: some(events),
            session: (!seen.session.is_empty()).then(|| seen.session.clone().into()),
            stop: seen.stop.clone(),
            nothing_else: error.is_none(),
            error: error.map(|error| ExpectedError { code: word(&error["code"]), message: None, ending: word(&error["ending"]) }),
            ..Self::default()
        }
    }

    /// Where a call came to something else.
    #[must_use]
    pub fn differences(&self, seen: &Seen) -> Vec<Difference> {
        let mut differences = Differences::default();
        let json = seen.json();
        let found = |name: &str| list(json.get(name).cloned().unwrap_or_default());
        self.failure(seen, &mut differences);
        if self.error.is_none() && seen.error.is_some() {
            // Of a call that failed nothing is kept: all else would be told as missing.
            return differences.into_list();
        }
        let (items, requests) = (found("items"), found("requests"));
        let named: BTreeMap<String, Vec<Value>> =
            json.get("datasets").cloned().and_then(|all| serde_json::from_value(all).ok()).unwrap_or_default();
        if let Some(expected) = &self.items {
            differences.lists("items", expected, &items, Fields::All);
        }
        if let Some(expected) = &self.datasets {
            let names = expected.keys().chain(named.keys().filter(|name| !expected.contains_key(*name)));
            for name in names {
                let (wanted, had) = (expected.get(name), named.get(name));
                let at = format!("datasets[{name:?}]");
                differences.lists(&at, wanted.map_or(&[], Vec::as_slice), had.map_or(&[], Vec::as_slice), Fields::All);
            }
        }
        let all: Vec<&Value> = items.iter().chain(named.values().flatten()).collect();
        if let Some(count) = self.item_count {
            count.check("itemCount", all.len(), &mut differences);
        }
        for field in self.scrapes.iter().flatten() {
            let lacks = all.iter().filter(|item| item.get(field).is_none_or(Value::is_null)).count();
            if lacks > 0 {
                differences.add("scrapes", format!("{lacks} of {} items have no {field:?}", all.len()));
            }
        }
        if let Some(expected) = &self.requests {
            differences.lists("requests", expected, &requests, Fields::Expected);
        }
        if let Some(count) = self.request_count {
            count.check("requestCount", requests.len(), &mut differences);
        }
        let wholes = [
            ("state", self.state.as_ref().map(serde_json::to_value)),
            ("autoSaved", self.auto_saved.as_ref().map(serde_json::to_value)),
            ("keyValues", self.key_values.as_ref().map(serde_json::to_value)),
            ("session", self.session.clone().map(Ok)),
        ];
        for (name, expected) in wholes {
            let Some(Ok(expected)) = expected else { continue };
            let found = json.get(name).cloned().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
            differences.compare(name, &expected, Some(&found), Fields::All);
        }
        if let Some(expected) = &self.events {
            differences.lists("events", expected, &found("events"), Fields::All);
        }
        if self.nothing_else {
            self.nothing_else(&json, &mut differences);
        }
        if let Some(expected) = &self.stop {
            differences.compare("stop", &Value::from(expected.as_str()), json.get("stop"), Fields::All);
        }
        differences.into_list()
    }

    fn nothing_else(&self, json: &Value, differences: &mut Differences) {
        for (name, is_mentioned) in [
            ("items", self.items.is_some()),
            ("datasets", self.datasets.is_some()),
            ("requests", self.requests.is_some()),
            ("state", self.state.is_some()),
            ("autoSaved", self.auto_saved.is_some()),
            ("keyValues", self.key_values.is_some()),
            ("events", self.events.is_some()),
            ("session", self.session.is_some()),
            ("stop", self.stop.is_some()),
        ] {
            if let Some(found) = json.get(name).filter(|_| !is_mentioned) {
                differences.compare(name, &Value::Null, Some(found), Fields::All);
            }
        }
    }

    fn failure(&self, seen: &Seen, differences: &mut Differences) {
        let text = |error: &Value, name: &str| error[name].as_str().unwrap_or_default().to_owned();
        match (&self.error, &seen.error) {
            (None, None) => {}
            (None, Some(error)) => {
                differences.add("error", format!("it failed ({}): {}", text(error, "code"), text(error, "message")));
            }
            (Some(_), None) => differences.add("error", "it was to fail, and did not"),
            (Some(expected), Some(error)) => {
                for (name, wanted) in [("code", &expected.code), ("ending", &expected.ending)] {
                    let found = text(error, name);
                    if let Some(wanted) = wanted.as_ref().filter(|wanted| **wanted != found) {
                        differences.add(&format!("error.{name}"), format!("expected {wanted:?}, found {found:?}"));
                    }
                }
                let found = text(error, "message");
                if let Some(wanted) = expected.message.as_ref().filter(|wanted| !found.contains(wanted.as_str())) {
                    differences.add("error.message", format!("{wanted:?} is not in {found:?}"));
                }
            }
        }
    }
}

impl Count {
    fn check(self, at: &str, found: usize, differences: &mut Differences) {
        let Bounds { min, max } = match self {
            Self::Exactly(number) => Bounds { min: Some(number), max: Some(number) },
            Self::Between(bounds) => bounds,
        };
        if let Some(min) = min.filter(|min| found < *min) {
            differences.add(at, format!("expected {min} at least, found {found}"));
        }
        if let Some(max) = max.filter(|max| found > *max) {
            differences.add(at, format!("expected {max} at most, found {found}"));
        }
    }
}

fn list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(list) => list,
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn expected(json: Value) -> Expected {
        serde_json::from_value(json).expect("well-formed")
    }

    fn told(expected: &Expected, seen: &Seen) -> Vec<String> {
        expected.differences(seen).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_not_mentioned_may_be_unless_nothing_else_is_to_be() {
        let seen = Seen { state: BTreeMap::from([("pages".to_owned(), json!(1))]), ..Seen::default() };
        assert_eq!(told(&expected(json!({ "items": [] })), &seen), [""; 0]);
        assert_eq!(
            told(&expected(json!({ "items": [], "nothingElse": true })), &seen),
            ["state: expected null, found {\"pages\":1}"]
        );
        assert_eq!(told(&Expected::of(&seen), &seen), [""; 0]);
        assert_eq!(told(&Expected::of(&seen), &Seen { stop: Some("enough".to_owned()), ..seen.clone() }).len(), 1);
        assert_eq!(told(&Expected::of(&seen), &Seen::default()), ["state.pages: expected 1, found nothing"]);
    }

    #[test]
    fn an_update_keeps_what_was_said_in_other_words_and_holds() {
        let before = expected(json!({ "itemCount": { "max": 3 }, "requestCount": 9, "scrapes": ["a"] }));
        let now = Expected::updated(Some(&before), &Seen::default());
        assert_eq!((now.item_count, now.request_count), (before.item_count, None));
        assert_eq!((now.scrapes, now.items, now.nothing_else), (before.scrapes, Some(Vec::new()), true));
    }
}
