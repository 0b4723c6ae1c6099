//! A panic ends the sandbox with a bare trap; the host would know neither where nor why. So the place and the message
//! go to the log first, as a line of level `error` whose fields say `"panic": true`.

use std::panic::{PanicHookInfo, set_hook};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::log::{self, Level};

static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Installs the hook, once per sandbox.
pub(crate) fn report_to_the_log() {
    if !INSTALLED.swap(true, Ordering::Relaxed) {
        set_hook(Box::new(report));
    }
}

fn report(info: &PanicHookInfo<'_>) {
    let message = info.payload_as_str().unwrap_or("(no message)");
    let text = match info.location() {
        Some(place) => format!("panicked at {place}: {message}"),
        None => format!("panicked: {message}"),
    };
    log::write(Level::Error, &text, Some(r#"{"panic":true}"#));
}
