//! The effects of a call while it runs, within its quotas.
//!
//! Decision: every effect pays for its bytes before it is kept; what does not fit changes nothing and is said to the plugin with
//! the code `quota`. Nothing leaves this before the call has ended well.

use crate::Limits;
use crate::failure::one_line;
use crate::fault::Fault;
use nephila_model::{
    AddedSession, DatasetName, Effects, EmittedEvent, ItemPush, KeyValueWrite, KvStoreName, KvValue, NewRequest, RefusedReason,
    UniqueKey,
};
use std::collections::{HashMap, HashSet};

/// Effects in the making.
pub(crate) struct Draft {
    limits: Limits,
    effects: Effects,
    bytes: usize,
    /// Keys of requests that this call enqueued.
    enqueued: HashSet<UniqueKey>,
    /// Requests that were asked for, whatever became of them.
    asked: usize,
    /// Where the last write of a key-value key stands.
    written: HashMap<(KvStoreName, String), usize>,
}

impl Draft {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, effects: Effects::default(), bytes: 0, enqueued: HashSet::new(), asked: 0, written: HashMap::new() }
    }

    /// What was asked for.
    pub(crate) fn into_effects(self) -> Effects {
        self.effects
    }

    /// Pays for an effect.
    pub(crate) fn pay(&mut self, bytes: usize) -> Result<(), Fault> {
        let total = self.bytes.saturating_add(bytes);
        if total > self.limits.effect_bytes {
            let allowed = self.limits.effect_bytes >> 20;
            return Err(Fault::quota(format!(
                "the effects of one call may have {allowed} MiB; split the work over several requests"
            )));
        }
        self.bytes = total;
        Ok(())
    }

    /// Whether this call enqueued the request already.
    pub(crate) fn has(&self, key: &UniqueKey) -> bool {
        self.enqueued.contains(key)
    }

    /// How many more requests the call may enqueue.
    pub(crate) fn requests_left(&self) -> usize {
        self.limits.requests.saturating_sub(self.effects.requests.len())
    }

    /// The ordinal of the first of so many requests that are asked for next: the same when the same page is handled again.
    pub(crate) fn ask(&mut self, requests: usize) -> usize {
        let first = self.asked;
        self.asked += requests;
        first
    }

    /// Prepares for so many more requests: they are large, and would be copied each time that their list grows.
    pub(crate) fn make_room(&mut self, requests: usize) {
        let requests = requests.min(self.requests_left());
        self.effects.requests.reserve(requests);
        self.enqueued.reserve(requests);
    }

    /// Enqueues a request.
    pub(crate) fn enqueue(&mut self, request: NewRequest) -> Result<(), Fault> {
        if self.requests_left() == 0 {
            let allowed = self.limits.requests;
            return Err(Fault::quota(format!("one call may enqueue {allowed} requests; enqueue the rest from another page")));
        }
        self.pay(weight(&request))?;
        self.enqueued.insert(request.unique_key);
        self.effects.requests.push(request);
        Ok(())
    }

    /// Counts a request that was refused.
    pub(crate) fn refuse(&mut self, reason: RefusedReason) {
        let count = self.effects.refused.entry(reason).or_default();
        *count = count.saturating_add(1);
    }

    /// Pushes items; all of them, or none.
    pub(crate) fn push(&mut self, dataset: &DatasetName, items: Vec<String>) -> Result<(), Fault> {
        let limits = self.limits;
        if let Some(large) = items.iter().find(|item| item.len() > limits.item_bytes) {
            let (bytes, allowed) = (large.len(), limits.item_bytes);
            return Err(Fault::quota(format!(
                "an item has {bytes} bytes, and {allowed} are allowed; keep large values in a key-value store"
            )));
        }
        if self.effects.items.len() + items.len() > limits.items {
            let allowed = limits.items;
            return Err(Fault::quota(format!("one call may push {allowed} items; split the work over several requests")));
        }
        self.pay(items.iter().map(|item| item.len() + 48).sum())?;
        self.effects.items.extend(items.into_iter().map(|json| ItemPush { dataset: dataset.clone(), json }));
        Ok(())
    }

    /// The call's own last write of a key; `None` if it wrote none.
    pub(crate) fn written(&self, store: &KvStoreName, key: &str) -> Option<Option<&KvValue>> {
        let place = *self.written.get(&(store.clone(), key.to_owned()))?;
        self.effects.key_values.get(place).map(|write| write.value.as_ref())
    }

    /// Writes a value, or removes it.
    pub(crate) fn write(&mut self, store: KvStoreName, key: String, value: Option<KvValue>) -> Result<(), Fault> {
        let bytes = value.as_ref().map_or(0, |value| value.value.len() + value.content_type.len());
        self.pay(bytes + 2 * key.len() + 200)?;
        self.written.insert((store.clone(), key.clone()), self.effects.key_values.len());
        self.effects.key_values.push(KeyValueWrite { store, key, value });
        Ok(())
    }

    /// Emits an event.
    pub(crate) fn emit(&mut self, name: String, payload: String) -> Result<(), Fault> {
        let (events, event_bytes) = (self.limits.events, self.limits.event_bytes);
        if payload.len() > event_bytes {
            let bytes = payload.len();
            return Err(Fault::quota(format!(
                "the payload of `{name}` has {bytes} bytes, and {event_bytes} are allowed; keep large values in a key-value store"
            )));
        }
        if self.effects.events.len() >= events {
            return Err(Fault::quota(format!("one call may emit {events} events; put several things into one")));
        }
        self.pay(name.len() + payload.len() + 100)?;
        self.effects.events.push(EmittedEvent { name, payload });
        Ok(())
    }

    /// Whether this call may add one more session, of this id if it is to have one.
    pub(crate) fn may_add(&self, id: Option<&str>) -> Result<(), Fault> {
        let (sessions, allowed) = (&self.effects.sessions, self.limits.added_sessions);
        if sessions.len() >= allowed {
            return Err(Fault::quota(format!("one call may add {allowed} sessions; add the rest from another page")));
        }
        match id {
            Some(id) if sessions.iter().any(|added| added.record.id.as_str() == id) => Err(session_exists(id)),
            _ => Ok(()),
        }
    }

    /// Cookies of the sessions that this call added.
    pub(crate) fn added_cookies(&self) -> usize {
        self.effects.sessions.iter().map(|added| added.record.cookies.len()).sum()
    }

    /// Adds a session.
    pub(crate) fn add(&mut self, session: AddedSession) -> Result<(), Fault> {
        self.pay(session.weight())?;
        self.effects.sessions.push(session);
        Ok(())
    }

    /// Ends the crawl.
    pub(crate) fn stop(&mut self, reason: String) {
        self.effects.stop = Some(reason);
    }

    /// Sets the status message.
    pub(crate) fn status_message(&mut self, message: String) {
        self.effects.status_message = Some(message);
    }
}

/// What is said where an id is taken.
pub(crate) fn session_exists(id: &str) -> Fault {
    let id = one_line(id, 128);
    Fault::refused(
        "session-exists",
        format!("the pool has, or had, a session `{id}` already; give the new one another id, or none"),
    )
}

fn weight(request: &NewRequest) -> usize {
    let spec = &request.spec;
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    request.url.as_str().len()
        + text(&request.label)
        + text(&spec.user_data)
        + text(&spec.session_id)
        + text(&spec.extra_json)
        + spec.payload.as_ref().map_or(0, bytes::Bytes::len)
        + spec.headers.iter().map(|header| header.name.len() + header.value.len() + 48).sum::<usize>()
        + spec.accepted_statuses.len() * 4
        + 200
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_pushed_whole_or_not_at_all() {
        let mut draft = Draft::new(Limits { items: 3, item_bytes: 4, ..Limits::default() });
        let push = |draft: &mut Draft, items: &[&str]| {
            draft.push(&DatasetName::Default, items.iter().map(ToString::to_string).collect())
        };
        push(&mut draft, &["{}", "{}"]).expect("fits");
        assert!(push(&mut draft, &["{}", "{}"]).is_err(), "a fourth");
        assert!(push(&mut draft, &["{   }"]).is_err(), "too large");
        push(&mut draft, &["{}"]).expect("fits");
        assert_eq!(draft.into_effects().items.len(), 3);
    }

    #[test]
    fn events_have_a_number_and_a_size() {
        let mut draft = Draft::new(Limits { events: 2, event_bytes: 4, ..Limits::default() });
        draft.emit("a".into(), "{}".into()).expect("fits");
        assert!(draft.emit("a".into(), "\"1234\"".into()).is_err(), "too large");
        draft.emit("b".into(), "1".into()).expect("fits");
        assert!(draft.emit("c".into(), "1".into()).is_err(), "a third");
        assert_eq!(draft.into_effects().events.len(), 2);
    }

    #[test]
    fn all_effects_together_have_one_budget() {
        let mut draft = Draft::new(Limits { effect_bytes: 1_000, ..Limits::default() });
        let value = |bytes| Some(KvValue { content_type: String::new(), value: vec![0; bytes].into() });
        draft.write(KvStoreName::Default, "a".into(), value(500)).expect("fits");
        assert!(draft.write(KvStoreName::Default, "b".into(), value(500)).is_err());
        assert!(draft.written(&KvStoreName::Default, "b").is_none());
        draft.write(KvStoreName::Default, "a".into(), None).expect("fits");
        assert_eq!(draft.written(&KvStoreName::Default, "a"), Some(None));
    }
}
