//! Counting the steps of a call, where the host was made for it.
//!
//! Decision: fuel measures and never limits. What a call may spend is processor time, which also counts what the host does for it; so the
//! tank is as large as it can be, and what is missing of it afterwards is the figure.

use crate::Metering;
use wasmtime::Store;

/// More than any call can use.
const TANK: u64 = u64::MAX;

/// Before a call.
pub(crate) fn fill<T>(store: &mut Store<T>, metering: Metering) {
    if metering == Metering::Fuel
        && let Err(error) = store.set_fuel(TANK)
    {
        tracing::debug!(%error, "fuel cannot be counted");
    }
}

/// What the call has used, after it.
pub(crate) fn used<T>(store: &Store<T>, metering: Metering) -> Option<u64> {
    match metering {
        Metering::Time => None,
        Metering::Fuel => store.get_fuel().ok().map(|left| TANK - left),
    }
}
