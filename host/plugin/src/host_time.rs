//! How much of a call is the host's own work for the plugin.
//!
//! Decision: measured where WebAssembly calls into the host and where it returns, in one place for all host functions, so that none can be
//! forgotten. The clock runs while the call is polled, so that neither waiting for the store nor giving way at a tick counts; it is the wall's,
//! since the processor's costs a call of the kernel, and what it shows above the call's processor time is cut off in the end. What WebAssembly
//! asks of the engine itself (more memory, a tick) counts too, and is little.

use std::time::Duration;
use wasmtime::CallHook;

/// The host's time in the present call.
#[derive(Debug, Default)]
pub(crate) struct HostTime {
    entered: Option<Duration>,
    spent: Duration,
}

impl HostTime {
    /// Begins another call.
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }

    /// The border between the plugin and the host was crossed, when the call had been polled for so long.
    pub(crate) fn cross(&mut self, border: CallHook, polled: Duration) {
        match border {
            CallHook::CallingHost => self.entered = Some(polled),
            CallHook::ReturningFromHost => {
                if let Some(entered) = self.entered.take() {
                    self.spent += polled.saturating_sub(entered);
                }
            }
            CallHook::CallingWasm | CallHook::ReturningFromWasm => {}
        }
    }

    /// The host's work so far.
    pub(crate) fn spent(&self) -> Duration {
        self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_between_the_borders_counts() {
        let mut time = HostTime::default();
        let at = Duration::from_micros;
        time.cross(CallHook::CallingWasm, at(1));
        time.cross(CallHook::ReturningFromHost, at(5));
        assert_eq!(time.spent(), Duration::ZERO, "nobody had come in");
        time.cross(CallHook::CallingHost, at(7));
        time.cross(CallHook::ReturningFromHost, at(10));
        time.cross(CallHook::ReturningFromWasm, at(20));
        time.cross(CallHook::CallingHost, at(30));
        time.cross(CallHook::ReturningFromHost, at(34));
        assert_eq!(time.spent(), at(7));
        time.reset();
        assert_eq!(time.spent(), Duration::ZERO);
    }
}
