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

#[cfg(test)]
mod tests {
    use super::*;
    use nephila_crawler::Stopper;
    use nephila_events::{EventName, Listener};
    use serde_json::{Value, json};
    use std::sync::{Arc, Mutex};

    /// What a listener of this process hears when it is stopped by a signal, or not at all, and ends.
    async fn heard(signal: Option<Signal>, grace: Option<Duration>) -> Vec<(String, Value)> {
        let (events, heard) = (Events::new(), Arc::new(Mutex::new(Vec::new())));
        let notes = Arc::clone(&heard);
        let note = Listener::new(move |event: Event| {
            notes.lock().expect("a lock").push((event.name().to_string(), event.payload()));
            async {}
        });
        let names = [EventName::Migrating, EventName::Aborting, EventName::Exit, EventName::PersistState];
        let (stopper, stop) = Stopper::new();
        events
            .run(async {
                events.on(names, note).expect("registered");
                let teller = tokio::spawn(tell_of_stop(events.clone(), stop, grace));
                if let Some(signal) = signal {
                    stopper.stop_by(signal, StopLevel::Graceful);
                    teller.await.expect("it has told");
                } else {
                    teller.abort();
                }
                tell_of_exit(&events);
                // So that none of them waits when the last `persistState` comes, which would take the place of an earlier one.
                events.wait_for_listeners(None).await.expect("all have heard");
            })
            .await
            .expect("it ran");
        std::mem::take(&mut heard.lock().expect("a lock"))
    }

    #[tokio::test]
    async fn exit_comes_behind_what_led_to_it_and_before_the_last_persist_state() {
        let exit = ("exit".to_owned(), json!({}));
        let aborting = ("aborting".to_owned(), json!({}));
        let last = ("persistState".to_owned(), json!({ "isMigrating": false }));
        assert_eq!(heard(None, None).await, [exit.clone(), last.clone()]);
        assert_eq!(heard(Some(Signal::Terminate), None).await, [aborting.clone(), exit.clone(), last.clone()]);
        let grace = Some(Duration::from_secs(20));
        assert_eq!(heard(Some(Signal::Interrupt), grace).await, [aborting.clone(), exit.clone(), last.clone()]);
        let migrating = ("migrating".to_owned(), json!({ "timeRemainingSecs": 20 }));
        let persist = ("persistState".to_owned(), json!({ "isMigrating": true }));
        assert_eq!(heard(Some(Signal::Terminate), grace).await, [migrating, persist, aborting, exit, last]);
    }
}
