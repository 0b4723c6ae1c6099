//! Logs go to standard error; `NEPHILA_LOG` says how much of them, in the form of `RUST_LOG`.

use crate::voice::note;
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Starts logging. Without `NEPHILA_LOG`: warnings of the host, and what plugins log from `info` on.
pub fn start() {
    let filter = std::env::var("NEPHILA_LOG").ok().and_then(|text| match text.parse::<EnvFilter>() {
        Ok(filter) => Some(filter),
        Err(error) => {
            note!("NEPHILA_LOG is not understood ({error}); it is left out of account");
            None
        }
    });
    let filter = filter.unwrap_or_else(|| EnvFilter::new("warn,plugin=info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // They would be printed, and printing can fail too.
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}
