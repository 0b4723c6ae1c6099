//! How many requests may be in flight: what is used, whether that is too much, and what follows from it.
//!
//! Decision: four parts that know nothing of each other but plain data, so that each can be tested alone and the whole in
//! simulated time. [`Vitals`] samples this process, its cgroup and the machine; [`Snapshotter`] keeps half a minute of samples
//! and says what is overloaded ([`SystemStatus`]); [`Workload`] adds up what the dispatcher does; [`Controller`] decides. Nothing
//! but [`EventLoopProbe`] runs by itself. Inputs, thresholds and names are Crawlee's where it has them; the controller is not
//! (see there).
//!
//! A dispatcher owns all of them, and about once a second does this:
//!
//! ```
//! use nephila_autoscale::{AutoscaleSettings, Bounds, Controller, Demand, Observations, Snapshotter, Vitals, Workload};
//! use std::time::Instant;
//!
//! let settings = AutoscaleSettings::from_env(|name| std::env::var(name).ok())?;
//! let start = Instant::now();
//! let mut vitals = Vitals::new(&settings);
//! let mut snapshots = Snapshotter::new(&settings);
//! let mut workload = Workload::new(start);
//! let mut controller = Controller::new(Bounds::up_to(16.try_into()?), start);
//!
//! // Whenever a request begins or ends:
//! workload.note(Instant::now(), 16, Demand::HeldBack);
//!
//! // Each second; the same sample is the event `systemInfo`:
//! let now = Instant::now();
//! snapshots.record_system(now, &vitals.sample());
//! let decision = controller.tick(now, &Observations::new(workload.take(now), &snapshots));
//! assert_eq!(decision.concurrency, 16);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod budget;
mod controller;
mod decision;
mod history;
mod probe;
mod rate;
mod settings;
mod snapshotter;
mod status;
mod system_info;
mod vitals;
mod workload;

pub use budget::{Budget, Promise};
pub use controller::{Controller, Observations, first_concurrency};
pub use decision::{Decision, Reason};
pub use probe::{Delay, EventLoopProbe, PROBE_PERIOD};
pub use rate::TaskRate;
pub use settings::{AutoscaleSettings, Bounds, Ratio, SettingError, Tolerated};
pub use snapshotter::{MemoryLevel, MemoryState, SandboxMemory, Snapshotter};
pub use status::{Share, SystemStatus};
pub use system_info::{CpuInfo, MemoryInfo, SystemInfo};
pub use vitals::Vitals;
pub use workload::{Demand, Work, Workload};

#[cfg(test)]
mod tests {
    #[test]
    fn all_parts_can_be_moved_to_another_thread() {
        fn movable<T: Send + 'static>() {}
        movable::<crate::Vitals>();
        movable::<crate::Snapshotter>();
        movable::<crate::Controller>();
        movable::<crate::EventLoopProbe>();
    }
}
