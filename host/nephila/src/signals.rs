//! Ctrl-C and SIGTERM: once to finish the pages in hand, twice to stop at once.

use crate::voice::note;
use nephila_crawler::{Signal, StopLevel, Stopper};
use tokio::signal::unix::{SignalKind, signal};

/// Listens from now on, until the process ends.
pub fn listen(stopper: Stopper) -> std::io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        let mut level = StopLevel::Graceful;
        loop {
            let signal = tokio::select! {
                _ = interrupt.recv() => Signal::Interrupt,
                _ = terminate.recv() => Signal::Terminate,
            };
            stopper.stop_by(signal, level);
            if level == StopLevel::Graceful {
                note!("finishing the pages in hand; once more stops at once");
            }
            level = StopLevel::Now;
        }
    });
    Ok(())
}
