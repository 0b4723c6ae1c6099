//! One line that says where a crawl stands, on a terminal only.

use nephila_crawler::Progress;
use std::io::{IsTerminal, Write};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Shows progress until the crawl ends, if standard error is a terminal.
pub fn show(mut progress: watch::Receiver<Progress>) -> Option<JoinHandle<()>> {
    if !std::io::stderr().is_terminal() {
        return None;
    }
    Some(tokio::spawn(async move {
        while progress.changed().await.is_ok() {
            let line = line(&progress.borrow_and_update());
            let mut out = std::io::stderr().lock();
            // A terminal that went away is no reason to stop crawling.
            let _ = write!(out, "\r\x1b[2K{line}").and_then(|()| out.flush());
        }
        let _ = write!(std::io::stderr(), "\r\x1b[2K");
    }))
}

fn line(progress: &Progress) -> String {
    let counts = progress.counts;
    let mut line = format!(
        "{} done, {} queued, {} in flight, {} failed, {:.0}/s, {}",
        counts.handled,
        counts.pending.saturating_sub(progress.in_flight as u64),
        progress.in_flight,
        counts.failed,
        progress.per_second,
        clock(progress.elapsed),
    );
    if let Some(message) = &progress.message {
        line.push_str(" · ");
        line.extend(message.chars().filter(|c| !c.is_control()).take(60));
    }
    line
}

/// A length of time as people read it.
pub fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s}.{} s", elapsed.subsec_millis() / 100),
        (0, m, s) => format!("{m}:{s:02} min"),
        (h, m, s) => format!("{h}:{m:02}:{s:02} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_like_times() {
        for (seconds, text) in [(0.25, "0.2 s"), (59.9, "59.9 s"), (61.0, "1:01 min"), (7_322.0, "2:02:02 h")] {
            assert_eq!(clock(Duration::from_secs_f64(seconds)), text);
        }
    }
}
