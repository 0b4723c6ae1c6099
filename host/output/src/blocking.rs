//! File work beside the async runtime.
//!
//! Decision: every call that may wait for a disk or for a pipe's reader runs on a blocking thread, a whole batch at a time; a sync of a
//! slow disk would otherwise hold up fetches. The cost is one hand-over per batch, and that such a call cannot be interrupted: a
//! process that ends while a reader is stalled must end by `exit`, since dropping a runtime waits for its blocking threads.

use crate::OutputError;
use std::io;

/// Runs `work` on a blocking thread. `target` is what an error of the runtime is told about.
pub(crate) async fn blocking<T: Send + 'static>(
    target: &str,
    work: impl FnOnce() -> Result<T, OutputError> + Send + 'static,
) -> Result<T, OutputError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(lost) => Err(OutputError::writing(target, "work on", io::Error::other(lost))),
    }
}
