//! `crawl`: the crawl as a whole.

use crate::bindings::nephila::crawler::crawl;
use crate::message::in_one_line;
use crate::sandbox::Inside;

/// Bytes of a reason or a status message.
const LONGEST: usize = 1_024;

impl crawl::Host for Inside {
    fn stop(&mut self, reason: String) -> wasmtime::Result<()> {
        if let Ok(present) = self.present() {
            present.draft.stop(in_one_line(&reason, LONGEST));
        }
        Ok(())
    }

    fn status_message(&mut self, message: String) -> wasmtime::Result<()> {
        if let Ok(present) = self.present() {
            present.draft.status_message(in_one_line(&message, LONGEST));
        }
        Ok(())
    }
}
