//! `nephila run SOURCE --watch`: a source that is saved is built again, and the crawl goes on with what comes of it.
//!
//! Decision: the files' times are looked at a few times a second. It costs some microseconds a file, works on every file system, those of
//! containers and networks too, and an editor that writes a file in several steps is waited for: it counts once it has stood still for a look.

use crate::sources::{self, Watched};
use crate::voice::{self, note};
use anyhow::Result;
use nephila_build::{BuildError, Snapshot};
use nephila_plugin::{Plugin, PluginHost};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Between two looks.
const PERIOD: Duration = Duration::from_millis(250);

/// Watches until it is aborted. A source that cannot be built changes nothing but what is said.
pub async fn watch(mut watched: Watched, host: PluginHost, plugin: watch::Sender<Arc<Plugin>>) {
    let mut built;
    note!("watching {}; what is saved is built, and the crawl goes on with it", watched.source.folder.display());
    // At first without waiting: it may have been saved between the build and this moment. What was not comes from the cache.
    let mut saved = look(&watched).await;
    loop {
        let began = Instant::now();
        match rebuild(&mut watched, &host).await {
            Ok(fresh) if fresh.digest() == plugin.borrow().digest() => {}
            Ok(fresh) => {
                plugin.send_replace(Arc::new(fresh));
                note!("built again in {:.1} s; requests are handled by it from now on", began.elapsed().as_secs_f64());
            }
            Err(error) => {
                note!("{error:#}; the crawl goes on with the one before");
                if let Some(details) = error.downcast_ref::<BuildError>().and_then(BuildError::details) {
                    voice::say(&voice::lines(&details));
                }
            }
        }
        built = saved;
        saved = next_save(&watched, &built).await;
    }
}

// How the files stand once they differ from `built` and have stood still since the look before.
async fn next_save(watched: &Watched, built: &Snapshot) -> Snapshot {
    let mut before = built.clone();
    loop {
        tokio::time::sleep(PERIOD).await;
        let now = look(watched).await;
        if now == before && now != *built {
            return now;
        }
        before = now;
    }
}

async fn look(watched: &Watched) -> Snapshot {
    let (source, inputs) = (watched.source.clone(), watched.inputs.clone());
    let now = tokio::task::spawn_blocking(move || Snapshot::of(&source, &inputs)).await;
    // It does nothing that panics; if it did, the next look would tell.
    now.unwrap_or_else(|_| Snapshot::of(&watched.source, &[]))
}

async fn rebuild(watched: &mut Watched, host: &PluginHost) -> Result<Plugin> {
    let built = sources::build(watched.source.clone()).await?;
    watched.inputs = built.inputs;
    Ok(host.load(&built.component).await?)
}
