//! The process's event manager as the command line has it: its intervals, its one sampling loop, and what the process itself tells.
//!
//! Decision: the system is sampled once a second, for all: each sample is the event `systemInfo`, and the newest is what crawls go by.

use anyhow::{Context, Result};
use nephila_autoscale::{AutoscaleSettings, SystemInfo as Sample, Vitals};
use nephila_crawler::{Load, Signal, StopLevel, StopOrder};
use nephila_events::{CpuInfo, Event, EventConfig, Events, LocalEventManager, MemoryInfo, Sampler, SystemInfo};
use std::time::Duration;
use tokio::sync::watch;

/// Installs the manager. To be called before anything else asks for one.
///
/// # Errors
/// If the environment sets something to what it cannot be.
pub fn install() -> Result<Load> {
    let lookup = |name: &str| std::env::var(name).ok();
    let settings = AutoscaleSettings::from_env(lookup)?;
    let mut vitals = Vitals::new(&settings);
    // A crawl that begins before the first interval goes by this one.
    let (sender, samples) = watch::channel(Some(vitals.sample()));
    let sampler = System { vitals, newest: sender };
    let config = EventConfig::from_env(lookup)?.with_sampler(sampler);
    let manager = LocalEventManager::new(config).context("the event manager could not be started")?;
    nephila_events::install(manager)?;
    Ok(Load { settings, samples })
}

/// Samples this process and its machine.
struct System {
    vitals: Vitals,
    newest: watch::Sender<Option<Sample>>,
}

impl Sampler for System {
    fn sample(&mut self) -> Option<SystemInfo> {
        let sample = self.vitals.sample();
        let info = SystemInfo {
            cpu: CpuInfo { used_ratio: sample.cpu.used_ratio, created_at: sample.at },
            memory: MemoryInfo {
                current_size: sample.memory.current,
                total_size: sample.memory.total,
                system_wide_used_size: sample.memory.system_wide_used,
                created_at: sample.at,
            },
        };
        self.newest.send_replace(Some(sample));
        Some(info)
    }
}

/// Tells of an order to stop: that the process will go on elsewhere, if SIGTERM means that, and that its crawls are being ended.
pub async fn tell_of_stop(events: Events, mut stop: watch::Receiver<StopOrder>, migration_grace: Option<Duration>) {
    // An error means that nobody can order it any more.
    let Ok(order) = stop.wait_for(|order| order.level >= StopLevel::Graceful).await.map(|order| order.clone()) else { return };
    let mut tell = vec![Event::Aborting];
    if let (Some(Signal::Terminate), Some(_)) = (order.signal, migration_grace) {
        tell.insert(0, Event::Migrating { time_remaining: migration_grace });
        tell.insert(1, Event::PersistState { is_migrating: true });
    }
    for event in tell {
        tell_one(&events, event);
    }
}

/// Tells that the process is about to end.
pub fn tell_of_exit(events: &Events) {
    tell_one(events, Event::Exit);
}

fn tell_one(events: &Events, event: Event) {
    let name = event.name();
    if let Err(error) = events.emit(event) {
        tracing::debug!(event = %name, %error, "an event was not emitted");
    }
}
