//! What a plugin wants done. It never does it itself: the host commits all of it, or nothing (S3).

use crate::{AddedSession, NewRequest, StateOp, StateRead};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A dataset's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub enum DatasetName {
    /// The crawl's own.
    #[default]
    Default,
    /// One that all crawls of the store share.
    Named(String),
}

/// A key-value store's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub enum KvStoreName {
    /// The crawl's own.
    #[default]
    Default,
    /// One that all crawls of the store share.
    Named(String),
}

/// An item for a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemPush {
    /// Where it goes.
    pub dataset: DatasetName,
    /// The item: a JSON object in one line, checked.
    pub json: String,
}

/// A value of a key-value store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KvValue {
    /// Its media type.
    pub content_type: String,
    /// The bytes.
    pub value: Bytes,
}

/// A write to a key-value store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyValueWrite {
    /// Where it goes.
    pub store: KvStoreName,
    /// The key.
    pub key: String,
    /// What is there from now on; `None` removes it.
    pub value: Option<KvValue>,
}

/// An event that a plugin emits. It is delivered after the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmittedEvent {
    /// Its name: none of the host's own.
    pub name: String,
    /// What is said about it: JSON in one line, checked.
    pub payload: String,
}

/// Why a request was refused before acceptance. It occupies no unique key: the same URL may be accepted later from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RefusedReason {
    /// Deeper than `max-depth`.
    Depth,
    /// Outside the strategy.
    Scope,
    /// A pattern excluded it, or none included it.
    Filter,
    /// Over the call's own limit of new requests.
    Limit,
    /// Not an `http` or `https` URL.
    Scheme,
    /// Not a URL.
    BadUrl,
    /// Longer than `max-url-length`.
    TooLong,
    /// Needs a renderer that this host has not.
    UnsupportedRenderer,
}

impl RefusedReason {
    /// A stable word.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Depth => "depth",
            Self::Scope => "scope",
            Self::Filter => "filter",
            Self::Limit => "limit",
            Self::Scheme => "scheme",
            Self::BadUrl => "bad-url",
            Self::TooLong => "too-long",
            Self::UnsupportedRenderer => "unsupported-renderer",
        }
    }
}

/// Everything that one call of a plugin asks for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effects {
    /// Requests to accept, in order.
    pub requests: Vec<NewRequest>,
    /// Requests that were refused, counted by reason.
    pub refused: BTreeMap<RefusedReason, u32>,
    /// Items, in order.
    pub items: Vec<ItemPush>,
    /// Key-value writes, in order.
    pub key_values: Vec<KeyValueWrite>,
    /// What the call saw of the state. Verified at the commit, also when the call failed.
    pub state_reads: Vec<StateRead>,
    /// What it does to the state, in order.
    pub state_ops: Vec<StateOp>,
    /// Events to deliver after the commit, in order.
    pub events: Vec<EmittedEvent>,
    /// Sessions to add to a pool, in order.
    pub sessions: Vec<AddedSession>,
    /// Ends the crawl once the pages in hand are done, with this reason.
    pub stop: Option<String>,
    /// What people see as the crawl's status.
    pub status_message: Option<String>,
    /// The page that answered, which the host, not the plugin, wants kept in the crawl's default key-value store if the request fails and its
    /// error is the first of its kind ([`crate::error_snapshot_key`]).
    pub error_snapshot: Option<KvValue>,
}

impl Effects {
    /// About how many bytes they hold, for bounding how many are kept at a time.
    #[must_use]
    pub fn weight(&self) -> usize {
        let requests = self.requests.iter().map(|request| {
            let spec = &request.spec;
            256 + request.url.as_str().len()
                + spec.payload.as_ref().map_or(0, Bytes::len)
                + spec.user_data.as_ref().map_or(0, String::len)
        });
        let items = self.items.iter().map(|item| item.json.len());
        let values = self.key_values.iter().map(|write| write.value.as_ref().map_or(0, |value| value.value.len()));
        let state = self.state_ops.iter().map(|op| match op {
            StateOp::Set { value, .. } | StateOp::Append { value, .. } => value.len(),
            _ => 0,
        });
        let events = self.events.iter().map(|event| event.name.len() + event.payload.len());
        let snapshot = self.error_snapshot.as_ref().map_or(0, |page| page.value.len());
        let sessions = self.sessions.iter().map(AddedSession::weight);
        let data = requests.sum::<usize>() + items.sum::<usize>() + values.sum::<usize>() + snapshot;
        data + state.sum::<usize>() + events.sum::<usize>() + sessions.sum::<usize>()
    }

    /// Whether a call that runs beside this one could see it, and be in conflict with it: it writes state, or a value that an auto-saved
    /// one may begin with, or takes the id of a session.
    #[must_use]
    pub fn may_conflict(&self) -> bool {
        !(self.state_ops.is_empty() && self.key_values.is_empty() && self.sessions.is_empty())
    }

    /// What two calls ask for that are committed together, `later` after this one.
    #[must_use]
    pub fn then(mut self, later: Self) -> Self {
        let Self {
            requests,
            refused,
            items,
            key_values,
            state_reads,
            state_ops,
            events,
            sessions,
            stop,
            status_message,
            error_snapshot,
        } = later;
        self.requests.extend(requests);
        for (reason, count) in refused {
            let sum = self.refused.entry(reason).or_default();
            *sum = sum.saturating_add(count);
        }
        self.items.extend(items);
        self.key_values.extend(key_values);
        self.state_reads.extend(state_reads);
        self.state_ops.extend(state_ops);
        self.events.extend(events);
        self.sessions.extend(sessions);
        self.stop = self.stop.or(stop);
        self.status_message = status_message.or(self.status_message);
        self.error_snapshot = self.error_snapshot.or(error_snapshot);
        self
    }

    /// What remains of the effects of a call that failed: what it saw, since that may be why.
    #[must_use]
    pub fn only_reads(self) -> Self {
        Self { state_reads: self.state_reads, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_calls_ask_for_is_in_their_order() {
        let item = |json: &str| ItemPush { dataset: DatasetName::Default, json: json.to_owned() };
        let call = |name: &str| Effects {
            refused: BTreeMap::from([(RefusedReason::Depth, 2)]),
            items: vec![item(name)],
            state_ops: vec![StateOp::Remove { key: name.to_owned() }],
            stop: Some(name.to_owned()),
            status_message: Some(name.to_owned()),
            ..Effects::default()
        };
        let both = call("first").then(call("second"));
        assert_eq!(both.items, [item("first"), item("second")]);
        assert_eq!(both.state_ops.iter().map(StateOp::key).collect::<Vec<_>>(), ["first", "second"]);
        assert_eq!(both.refused, BTreeMap::from([(RefusedReason::Depth, 4)]));
        assert_eq!((both.stop.as_deref(), both.status_message.as_deref()), (Some("first"), Some("second")));
        assert_eq!(call("first").then(Effects::default()), call("first"));
    }
}
