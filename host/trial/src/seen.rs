//! What came of a call, as JSON in one form: what people are shown, what fixtures expect, and what two runs are compared by.
//!
//! Decision: what is empty is left out, and so is what is as always (a method that is GET, a priority of 0), so that what is said is what
//! matters. State is shown as it is afterwards, key by key, since how a handler gets there is its own business.

use crate::{KeptValue, World};
use nephila_model::{
    AutoSaved, DatasetName, Effects, KeyValueWrite, KvStoreName, KvValue, Method, NewRequest, Place, Renderer, StateOp,
    StateValue, UniqueKey,
};
use nephila_plugin::{CallFailure, CallMetrics, CallReport, SessionAsk, SessionMark};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// What came of a call.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Seen {
    /// Items for the crawl's own dataset, as the plugin wrote them, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Box<RawValue>>,
    /// Items for named datasets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub datasets: BTreeMap<String, Vec<Box<RawValue>>>,
    /// Requests that would be accepted, in order; each with its `url`, and what else is not as always.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Value>,
    /// Requests that would be refused, counted by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<&'static str, u32>,
    /// The keys of the state that the call wrote, as they are afterwards; `null` for one that is gone.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub state: BTreeMap<String, Value>,
    /// The auto-saved values that the call wrote, likewise, by key (`STORE/KEY` for named stores).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub auto_saved: BTreeMap<String, Value>,
    /// Values written to key-value stores, by key (`STORE/KEY` for named stores); `null` for one that is removed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub key_values: BTreeMap<String, Option<KeptValue>>,
    /// Events emitted, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Value>,
    /// What was asked for the session, and sessions added.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub session: Map<String, Value>,
    /// Why the crawl should stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// The crawl's status for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// How the call failed: `code`, `message`, and `ending` (`retry`, `skip` or `fatal`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// Everything that the call asked for and how it ended, in the host's own words: what two runs of a plugin that is deterministic
    /// agree in to the byte. But for the ids of sessions that the host makes up.
    #[serde(skip)]
    pub exact: String,
    /// Items that the plugin's own pipeline left out, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped: BTreeMap<String, u32>,
    /// What the call cost. Not part of what is compared.
    #[serde(skip)]
    pub cost: CallMetrics,
    /// Where a crash happened, innermost frame first.
    #[serde(skip)]
    pub backtrace: Vec<String>,
}

impl Seen {
    /// From a call's report. `most` bounds a value of the state, in bytes.
    pub(crate) fn of(report: &CallReport, world: &World, most: usize) -> Self {
        let Effects { items, requests, refused, key_values, state_ops, events, sessions, stop, status_message, .. } =
            &report.effects;
        let mut seen = Self {
            requests: requests.iter().map(request).collect(),
            refused: refused.iter().map(|(reason, count)| (reason.code(), *count)).collect(),
            key_values: key_values.iter().map(written).collect(),
            events: events.iter().map(|event| json!({ "name": event.name, "payload": parsed(&event.payload) })).collect(),
            session: session(&report.session),
            stop: stop.clone(),
            status_message: status_message.clone(),
            cost: report.metrics,
            exact: exact(report),
            ..Self::default()
        };
        for item in items {
            let line = raw(&item.json);
            match &item.dataset {
                DatasetName::Default => seen.items.push(line),
                DatasetName::Named(name) => seen.datasets.entry(name.clone()).or_default().push(line),
            }
        }
        if !sessions.is_empty() {
            let ids = sessions.iter().map(|added| added.record.id.as_str().into()).collect();
            seen.session.insert("added".to_owned(), Value::Array(ids));
        }
        if let Err(failure) = &report.ended {
            seen.error = Some(error(failure));
            if let CallFailure::Trap { backtrace, .. } = failure {
                seen.backtrace.clone_from(backtrace);
            }
        }
        match state(state_ops, world, most) {
            Ok(written) => {
                for (key, value) in written {
                    match AutoSaved::of_state_key(&key) {
                        Some(AutoSaved { store, key }) => seen.auto_saved.insert(in_store(&store, &key), value),
                        None => seen.state.insert(key, value),
                    };
                }
            }
            // As the commit would: nothing of the call is kept.
            Err(message) => {
                let error = json!({ "code": "state", "message": message, "ending": "fatal" });
                seen = Self { error: Some(error), cost: seen.cost, exact: seen.exact, ..Self::default() };
            }
        }
        seen
    }

    /// As JSON, what is empty left out.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// As text.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn exact(report: &CallReport) -> String {
    let sessions: Vec<_> = report.effects.sessions.iter().map(|added| &added.record.user_data.value).collect();
    let effects = Effects { sessions: Vec::new(), state_reads: Vec::new(), ..report.effects.clone() };
    let SessionAsk { mark, user_data, set_cookies } = &report.session;
    format!("{effects:?} {sessions:?} {mark:?} {user_data:?} {set_cookies:?} {:?}", report.ended)
}

fn state(ops: &[StateOp], world: &World, most: usize) -> Result<BTreeMap<String, Value>, String> {
    let mut values: BTreeMap<&str, StateValue> = BTreeMap::new();
    for op in ops {
        let key = op.key();
        let value = values.entry(key).or_insert_with(|| StateValue::new(world.state.get(key).cloned()));
        value.apply(op, most).map_err(|error| error.to_string())?;
    }
    let shown = |value: StateValue| value.into_text().map_or(Value::Null, |text| parsed(&text));
    Ok(values.into_iter().map(|(key, value)| (key.to_owned(), shown(value))).collect())
}

fn request(request: &NewRequest) -> Value {
    let spec = &request.spec;
    let mut shown = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            shown.insert(name.to_owned(), value);
        }
    };
    put("url", request.url.as_str().into());
    put("label", request.label.clone().into());
    put("depth", request.depth.into());
    if request.priority != 0 {
        put("priority", request.priority.into());
    }
    if request.place == Place::Forefront {
        put("forefront", true.into());
    }
    if spec.method != Method::Get {
        put("method", spec.method.as_str().into());
    }
    if !spec.headers.is_empty() {
        put("headers", spec.headers.iter().map(|header| (header.name.clone(), Value::from(header.value.clone()))).collect());
    }
    put("payload", spec.payload.as_ref().map(|payload| String::from_utf8_lossy(payload).into_owned()).into());
    put("userData", spec.user_data.as_deref().map_or(Value::Null, parsed));
    put("sessionId", spec.session_id.clone().into());
    if spec.renderer == Renderer::Browser {
        put("renderer", "browser".into());
    }
    put("maxRetries", spec.max_retries.into());
    put("timeoutMillis", spec.timeout_millis.into());
    let usual = UniqueKey::of(&request.url, spec.method, spec.payload.as_deref());
    match &spec.salt {
        Some(_) => put("alwaysEnqueue", true.into()),
        None if request.unique_key != usual => put("uniqueKey", request.unique_key.to_string().into()),
        None => {}
    }
    put("extraJson", spec.extra_json.as_deref().map_or(Value::Null, parsed));
    if !spec.accepted_statuses.is_empty() {
        put("acceptedStatuses", spec.accepted_statuses.iter().map(|range| json!([range.first, range.last])).collect());
    }
    Value::Object(shown)
}

fn written(write: &KeyValueWrite) -> (String, Option<KeptValue>) {
    (in_store(&write.store, &write.key), write.value.as_ref().map(kept))
}

fn in_store(store: &KvStoreName, key: &str) -> String {
    match store {
        KvStoreName::Default => key.to_owned(),
        KvStoreName::Named(store) => format!("{store}/{key}"),
    }
}

/// A value as a fixture would have it; of bytes that are no text, their digest.
fn kept(value: &KvValue) -> KeptValue {
    let is_json = value.content_type.starts_with("application/json");
    if let Some(json) = is_json.then(|| serde_json::from_slice(&value.value).ok()).flatten() {
        return KeptValue { content_type: None, value: json };
    }
    let text = match std::str::from_utf8(&value.value) {
        Ok(text) => text.to_owned(),
        Err(_) => {
            let digest: String = Sha256::digest(&value.value).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            format!("{} bytes, sha256 {digest}…", value.value.len())
        }
    };
    KeptValue { content_type: Some(value.content_type.clone()), value: text.into() }
}

fn session(ask: &SessionAsk) -> Map<String, Value> {
    let mut shown = Map::new();
    if let Some(mark) = ask.mark {
        let word = match mark {
            SessionMark::Good => "good",
            SessionMark::Bad => "bad",
            SessionMark::Retire => "retire",
        };
        shown.insert("mark".to_owned(), word.into());
    }
    if let Some(data) = &ask.user_data {
        shown.insert("userData".to_owned(), parsed(data));
    }
    if !ask.set_cookies.is_empty() {
        let cookies = ask.set_cookies.iter().map(|(_, line)| line.as_str().into()).collect();
        shown.insert("setCookies".to_owned(), Value::Array(cookies));
    }
    shown
}

fn error(failure: &CallFailure) -> Value {
    let message = match failure {
        CallFailure::Retry(info) | CallFailure::Skip(info) | CallFailure::Fatal(info) => info.message.clone(),
        other => other.to_string(),
    };
    let ending = match failure {
        CallFailure::Skip(_) => "skip",
        other if other.may_be_retried() => "retry",
        _ => "fatal",
    };
    json!({ "code": failure.code(), "message": message, "ending": ending })
}

// What plugins give is checked where they give it.
fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|_| Value::from(json))
}

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).or_else(|_| serde_json::value::to_raw_value(json)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(effects: Effects, ended: Result<(), CallFailure>) -> CallReport {
        CallReport { effects, session: SessionAsk::default(), ended, metrics: CallMetrics::default() }
    }

    #[test]
    fn state_is_shown_as_it_is_afterwards() {
        let world = World {
            state: BTreeMap::from([("pages".to_owned(), "4".to_owned()), ("gone".to_owned(), "1".to_owned())]),
            ..World::default()
        };
        let key = |key: &str| key.to_owned();
        let state_ops = vec![
            StateOp::Increment { key: key("pages"), by: 2 },
            StateOp::Increment { key: key("pages"), by: 1 },
            StateOp::Append { key: key("list"), value: "\"a\"".to_owned() },
            StateOp::Remove { key: key("gone") },
        ];
        let seen = Seen::of(&report(Effects { state_ops, ..Effects::default() }, Ok(())), &world, 1_000);
        assert_eq!(seen.json(), json!({ "state": { "pages": 7, "list": ["a"], "gone": null } }));
    }

    #[test]
    fn what_the_commit_would_refuse_leaves_nothing_but_the_error() {
        let world = World { state: BTreeMap::from([("list".to_owned(), "[]".to_owned())]), ..World::default() };
        let state_ops = vec![StateOp::Increment { key: "list".to_owned(), by: 1 }];
        let effects = Effects { state_ops, stop: Some("enough".to_owned()), ..Effects::default() };
        let json = Seen::of(&report(effects, Ok(())), &world, 1_000).json();
        assert_eq!((json["error"]["code"].as_str(), json.get("stop")), (Some("state"), None));
    }
}
