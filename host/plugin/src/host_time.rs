//! How much of a call is the host's own work for the plugin.
//!
//! Decision: measured where WebAssembly calls into the host and where it returns, in one place for all host functions, so that none can be
//! forgotten. Where the host calls back, for room to put its answer in, that is the plugin's time again, and the host's goes on when it is
//! back: within that a tick is due after every long answer. The clock runs while the call is polled, so that neither waiting for the store nor
//! giving way at a tick counts; it is the wall's, since the processor's costs a call of the kernel, and what it shows above the call's processor
//! time is cut off in the end. What WebAssembly asks of the engine itself (more memory, a tick) counts too, and is little.

use std::time::Duration;
use wasmtime::CallHook;

/// The host's time in the present call.
#[derive(Debug, Default)]
pub(crate) struct HostTime {
    entered: Option<Duration>,
    spent: Duration,
    /// Calls into the plugin that have not returned, the outermost and those from within host functions.
    inside: u32,
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
            CallHook::ReturningFromHost => self.leave(polled),
            CallHook::CallingWasm => {
                self.leave(polled);
                self.inside += 1;
            }
            CallHook::ReturningFromWasm => {
                self.inside = self.inside.saturating_sub(1);
                if self.inside > 0 {
                    self.entered = Some(polled);
                }
            }
        }
    }

    fn leave(&mut self, polled: Duration) {
        if let Some(entered) = self.entered.take() {
            self.spent += polled.saturating_sub(entered);
        }
    }

    /// The host's work in a call that has ended after it was polled for so long. One that ended within a host function, by a panic or by being
    /// dropped, has not come back over the border.
    pub(crate) fn spent(&self, polled: Duration) -> Duration {
        self.spent + self.entered.map_or(Duration::ZERO, |entered| polled.saturating_sub(entered))
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
        assert_eq!(time.spent(at(5)), Duration::ZERO, "nobody had come in");
        time.cross(CallHook::CallingHost, at(7));
        time.cross(CallHook::ReturningFromHost, at(10));
        time.cross(CallHook::ReturningFromWasm, at(20));
        time.cross(CallHook::CallingHost, at(30));
        time.cross(CallHook::ReturningFromHost, at(34));
        assert_eq!(time.spent(at(50)), at(7));
        time.reset();
        assert_eq!(time.spent(at(50)), Duration::ZERO);
    }

    #[test]
    fn a_call_back_from_a_host_function_is_the_plugins_and_what_is_around_it_the_hosts() {
        let mut time = HostTime::default();
        let at = Duration::from_micros;
        time.cross(CallHook::CallingWasm, at(0));
        time.cross(CallHook::CallingHost, at(10));
        // For room to put the answer in; and there a tick is due.
        time.cross(CallHook::CallingWasm, at(1_010));
        time.cross(CallHook::CallingHost, at(1_013));
        time.cross(CallHook::ReturningFromHost, at(1_015));
        time.cross(CallHook::ReturningFromWasm, at(1_020));
        time.cross(CallHook::ReturningFromHost, at(1_024));
        time.cross(CallHook::ReturningFromWasm, at(2_000));
        assert_eq!(time.spent(at(3_000)), at(1_000 + 2 + 4));
    }

    #[test]
    fn a_call_that_ended_within_a_host_function_spent_its_time_there() {
        let mut time = HostTime::default();
        time.cross(CallHook::CallingWasm, Duration::ZERO);
        time.cross(CallHook::CallingHost, Duration::from_micros(10));
        assert_eq!(time.spent(Duration::from_micros(25)), Duration::from_micros(15));
    }
}
