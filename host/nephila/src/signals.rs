//! Ctrl-C and SIGTERM: once to finish the pages in hand, twice to stop at once.

use nephila_crawler::{StopLevel, Stopper};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// Listens from now on, until the process ends.
pub fn listen(stopper: Stopper, grace: Duration) -> std::io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        let mut level = StopLevel::Graceful;
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if level == StopLevel::Graceful {
                eprintln!("nephila: finishing the pages in hand, for at most {} s; once more stops at once", grace.as_secs_f64());
            }
            stopper.stop(level);
            level = StopLevel::Now;
        }
    });
    Ok(())
}
