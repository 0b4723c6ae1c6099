//! What a call sees of `use_state`: what is committed, with its own operations over it.
//!
//! Decision: each key is read from the store at most once per call and noted as a read; what the call does to a key is applied to
//! what it saw by the same function that the store commits with. A key that the call has set or removed needs no read, so that
//! such a call conflicts with nobody. The record that an auto-saved value begins with is a read, too. An operation that cannot be
//! applied to what the call saw is refused at once; one on a key that it never saw is the commit's to judge.

use crate::Limits;
use crate::failure::one_line;
use crate::fault::Fault;
use nephila_model::{AutoSaved, KvStoreName, KvValue, StateError, StateOp, StateRead, StateVersion, apply};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of a key.
enum Known {
    /// Its value now, own operations applied.
    Value(Option<String>),
    /// Nothing but operations that await a value; whether it will have one is known.
    Pending(Vec<StateOp>),
}

/// One call's view.
pub(crate) struct StateView {
    limits: Limits,
    /// The keys that were read, each with the version that was seen first.
    reads: BTreeMap<String, StateVersion>,
    ops: Vec<StateOp>,
    keys: BTreeMap<String, Known>,
    listing: Option<(Vec<String>, StateVersion)>,
    /// Records that stood for values which there are not yet, each as it was seen first.
    records: BTreeMap<(KvStoreName, String), Option<KvValue>>,
}

impl StateView {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, reads: BTreeMap::new(), ops: Vec::new(), keys: BTreeMap::new(), listing: None, records: BTreeMap::new() }
    }

    /// One that sees what calls before it did, which is no part of what it does itself.
    pub(crate) fn after(limits: Limits, earlier: &[StateOp]) -> Self {
        let mut view = Self::new(limits);
        for op in earlier {
            // One that cannot be applied is the commit's to refuse.
            let _ = view.take(op);
        }
        view
    }

    /// What was read, and what is to be done.
    pub(crate) fn into_parts(self) -> (Vec<StateRead>, Vec<StateOp>) {
        let listing = self.listing.map(|(_, version)| StateRead::Listing { version });
        let keys = self.reads.into_iter().map(|(key, version)| StateRead::Key { key, version });
        let records = self.records.into_iter().map(|((store, key), value)| StateRead::Record { store, key, value });
        (keys.chain(listing).chain(records).collect(), self.ops)
    }

    /// The value of a key, if it is known without the store.
    pub(crate) fn known(&self, key: &str) -> Option<Option<String>> {
        match self.keys.get(key)? {
            Known::Value(value) => Some(value.clone()),
            Known::Pending(_) => None,
        }
    }

    /// Whether another key may be read.
    pub(crate) fn may_read(&self) -> Result<(), Fault> {
        if self.reads.len() < self.limits.state_keys {
            return Ok(());
        }
        let allowed = self.limits.state_keys;
        Err(Fault::quota(format!("one call may read {allowed} state keys; keep what belongs together under one key")))
    }

    /// Takes in what the store has for a key, and gives the value with the call's own operations applied.
    pub(crate) fn read(&mut self, key: &str, value: Option<String>, version: StateVersion) -> Result<Option<String>, Fault> {
        self.reads.entry(key.to_owned()).or_insert(version);
        let pending = match self.keys.remove(key) {
            Some(Known::Pending(ops)) => ops,
            Some(Known::Value(_)) | None => Vec::new(),
        };
        let mut value = value;
        for op in &pending {
            match apply(value.as_deref(), op, self.limits.state_value_bytes) {
                Ok(next) => value = next,
                Err(error) => {
                    self.keys.insert(key.to_owned(), Known::Pending(pending));
                    return Err(refused(error));
                }
            }
        }
        self.keys.insert(key.to_owned(), Known::Value(value.clone()));
        Ok(value)
    }

    /// The listing, if it was read already.
    pub(crate) fn listing(&self) -> Option<Vec<String>> {
        let (committed, _) = self.listing.as_ref()?;
        let mut keys: BTreeSet<&str> = committed.iter().map(String::as_str).collect();
        for (key, known) in self.keys.iter().filter(|(key, _)| !AutoSaved::is_state_key(key)) {
            let present = match known {
                Known::Value(value) => value.is_some(),
                // None of them removes: a removed key is known to have no value.
                Known::Pending(_) => true,
            };
            if present {
                keys.insert(key)
            } else {
                keys.remove(key.as_str())
            };
        }
        Some(keys.into_iter().map(str::to_owned).collect())
    }

    /// Takes in the store's listing.
    pub(crate) fn read_listing(&mut self, keys: Vec<String>, version: StateVersion) {
        self.listing = Some((keys, version));
    }

    /// Takes in a record of the store's that stands for a value which there is not yet.
    pub(crate) fn read_record(&mut self, saved: AutoSaved, value: Option<KvValue>) {
        self.records.entry((saved.store, saved.key)).or_insert(value);
    }

    /// Does something to a key.
    pub(crate) fn operate(&mut self, op: StateOp) -> Result<(), Fault> {
        let limits = self.limits;
        if self.ops.len() >= limits.state_keys {
            let allowed = limits.state_keys;
            return Err(Fault::quota(format!("one call may do {allowed} state operations; push items to a dataset instead")));
        }
        if let StateOp::Set { value, .. } | StateOp::Append { value, .. } = &op {
            crate::json::check(value).map_err(|cause| bad_value(op.key(), &cause))?;
        }
        if let StateOp::Max { value, .. } = &op
            && !value.is_finite()
        {
            return Err(bad_value(op.key(), "it is not a finite number"));
        }
        self.take(&op)?;
        self.ops.push(op);
        Ok(())
    }

    fn take(&mut self, op: &StateOp) -> Result<(), Fault> {
        let limits = self.limits;
        let next = match (op, self.keys.remove(op.key())) {
            (StateOp::Set { .. } | StateOp::Remove { .. }, before) => {
                let applied = apply(None, op, limits.state_value_bytes);
                self.keep_on_error(op.key(), before, applied)?
            }
            (_, Some(Known::Value(value))) => {
                let applied = apply(value.as_deref(), op, limits.state_value_bytes);
                self.keep_on_error(op.key(), Some(Known::Value(value)), applied)?
            }
            (_, Some(Known::Pending(mut ops))) => {
                ops.push(op.clone());
                Known::Pending(ops)
            }
            (_, None) => Known::Pending(vec![op.clone()]),
        };
        self.keys.insert(op.key().to_owned(), next);
        Ok(())
    }

    fn keep_on_error(
        &mut self,
        key: &str,
        before: Option<Known>,
        applied: Result<Option<String>, StateError>,
    ) -> Result<Known, Fault> {
        applied.map(Known::Value).map_err(|error| {
            if let Some(before) = before {
                self.keys.insert(key.to_owned(), before);
            }
            refused(error)
        })
    }
}

fn bad_value(key: &str, cause: &str) -> Fault {
    Fault::refused("bad-json", format!("the value for state key `{}` is not JSON: {}", one_line(key, 80), one_line(cause, 200)))
}

fn refused(error: StateError) -> Fault {
    let code = match &error {
        StateError::Type { .. } => "state-type",
        StateError::Overflow { .. } => "state-overflow",
        StateError::TooLarge { .. } => "quota",
        StateError::Corrupt { .. } => "state-corrupt",
    };
    Fault::refused(code, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> StateView {
        StateView::new(Limits::default())
    }

    fn set(value: &str) -> StateOp {
        StateOp::Set { key: "k".into(), value: value.into() }
    }

    fn increment(by: i64) -> StateOp {
        StateOp::Increment { key: "k".into(), by }
    }

    #[test]
    fn a_write_without_a_read_reads_nothing() {
        let mut view = view();
        view.operate(increment(1)).expect("applies");
        assert_eq!(view.known("k"), None);
        let mut other = self::view();
        other.operate(set("1")).expect("applies");
        other.operate(increment(2)).expect("applies");
        assert_eq!(other.known("k"), Some(Some("3".into())), "what it set itself it knows");
        assert!(view.into_parts().0.is_empty() && other.into_parts().0.is_empty());
    }

    #[test]
    fn a_read_sees_own_operations_and_is_noted_once() {
        let mut view = view();
        view.operate(increment(1)).expect("applies");
        assert_eq!(view.read("k", Some("40".into()), StateVersion(7)).expect("a value"), Some("41".into()));
        view.operate(increment(1)).expect("applies");
        assert_eq!(view.known("k"), Some(Some("42".into())));
        let (reads, ops) = view.into_parts();
        assert_eq!(reads, [StateRead::Key { key: "k".into(), version: StateVersion(7) }]);
        assert_eq!(ops.len(), 2);
    }

    #[test]
    fn what_cannot_be_applied_to_what_was_seen_is_refused_and_changes_nothing() {
        let mut view = view();
        view.operate(set("\"text\"")).expect("applies");
        assert!(matches!(view.operate(increment(1)), Err(Fault::Refused { code: "state-type", .. })));
        assert!(matches!(view.operate(set("{")), Err(Fault::Refused { code: "bad-json", .. })));
        let nan = StateOp::Max { key: "k".into(), value: f64::NAN };
        assert!(matches!(view.operate(nan), Err(Fault::Refused { code: "bad-json", .. })));
        assert_eq!(view.known("k"), Some(Some("\"text\"".into())));
        assert_eq!(view.into_parts().1.len(), 1);
    }

    #[test]
    fn a_read_that_own_operations_do_not_fit_is_refused_again_and_noted_once() {
        let mut view = view();
        view.operate(increment(1)).expect("applies");
        for _ in 0..2 {
            let read = view.read("k", Some("[]".into()), StateVersion(7));
            assert!(matches!(read, Err(Fault::Refused { code: "state-type", .. })));
        }
        assert_eq!(view.into_parts().0, [StateRead::Key { key: "k".into(), version: StateVersion(7) }]);
    }

    #[test]
    fn the_listing_has_own_keys_in_order_and_lacks_removed_ones() {
        let mut view = view();
        view.read_listing(vec!["b".into(), "z".into()], StateVersion(3));
        view.operate(StateOp::Remove { key: "b".into() }).expect("applies");
        view.operate(increment(1)).expect("applies");
        assert_eq!(view.listing(), Some(vec!["k".into(), "z".into()]));
        assert_eq!(view.into_parts().0, [StateRead::Listing { version: StateVersion(3) }]);
    }

    #[test]
    fn what_calls_before_it_did_is_seen_and_not_done_again() {
        let add = |by| StateOp::Increment { key: "n".into(), by };
        let mut view = StateView::after(Limits::default(), &[set("1"), add(2), StateOp::Remove { key: "gone".into() }]);
        assert_eq!((view.known("k"), view.known("gone"), view.known("n")), (Some(Some("1".into())), Some(None), None));
        view.operate(add(3)).expect("a number");
        assert_eq!(view.read("n", Some("10".into()), StateVersion(4)).expect("a number").as_deref(), Some("15"));
        let (reads, ops) = view.into_parts();
        assert_eq!((reads, ops), (vec![StateRead::Key { key: "n".into(), version: StateVersion(4) }], vec![add(3)]));
    }
}
