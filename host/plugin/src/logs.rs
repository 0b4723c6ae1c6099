//! A plugin's log lines.
//!
//! Decision: they go to `tracing` with the target `plugin`, bounded per call in lines and in bytes; what is over is dropped and
//! counted, with one warning, and never ends the call. Control characters are taken out, so that a page cannot forge lines or
//! drive a terminal. `log.write`, standard output and standard error share one budget.

use crate::failure::one_line;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How urgent a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

/// Bytes of one line; what is longer is cut.
const LINE: usize = 4_096;

/// The log of one sandbox. Shared with its standard streams.
#[derive(Debug, Clone)]
pub(crate) struct Log(Arc<Mutex<Book>>);

#[derive(Debug)]
struct Book {
    plugin: Arc<str>,
    url: String,
    lines_left: usize,
    bytes_left: usize,
    written: u64,
    dropped: u64,
    last_error: Option<String>,
    last_stderr: Option<String>,
}

impl Log {
    pub(crate) fn new(plugin: Arc<str>) -> Self {
        Self(Arc::new(Mutex::new(Book {
            plugin,
            url: String::new(),
            lines_left: 0,
            bytes_left: 0,
            written: 0,
            dropped: 0,
            last_error: None,
            last_stderr: None,
        })))
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a call with its own budget.
    pub(crate) fn begin(&self, url: &str, lines: usize, bytes: usize) {
        let mut book = self.book();
        book.url.clear();
        book.url.push_str(url);
        (book.lines_left, book.bytes_left) = (lines, bytes);
        (book.written, book.dropped) = (0, 0);
        (book.last_error, book.last_stderr) = (None, None);
    }

    /// Writes a line, or drops it.
    pub(crate) fn write(&self, level: Level, message: &str, fields: Option<&str>) {
        let mut book = self.book();
        // The last words before a trap are kept even when the budget is spent.
        if level == Level::Error {
            book.last_error = Some(one_line(message, LINE));
        }
        let bytes = message.len().min(LINE) + fields.map_or(0, |fields| fields.len().min(LINE));
        if book.lines_left == 0 || book.bytes_left < bytes {
            book.drop_line();
            return;
        }
        book.lines_left -= 1;
        book.bytes_left -= bytes;
        book.written += 1;
        book.emit(level, &one_line(message, LINE), &one_line(fields.unwrap_or_default(), LINE));
    }

    /// Writes a line that arrived on standard error or output.
    pub(crate) fn write_stream(&self, stderr: bool, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        if stderr {
            self.book().last_stderr = Some(one_line(line, LINE));
        }
        self.write(if stderr { Level::Warn } else { Level::Info }, line, None);
    }

    /// The last error line, or else the last line of standard error, and then lines written and dropped.
    pub(crate) fn end(&self) -> (Option<String>, u64, u64) {
        let mut book = self.book();
        (book.last_error.take().or_else(|| book.last_stderr.take()), book.written, book.dropped)
    }
}

impl Book {
    fn drop_line(&mut self) {
        self.dropped += 1;
        if self.dropped == 1 {
            tracing::warn!(target: "plugin", plugin = &*self.plugin, url = %self.url, "the plugin logs too much; further lines of this call are dropped");
        }
    }

    fn emit(&self, level: Level, message: &str, fields: &str) {
        macro_rules! line {
            ($macro:ident) => {
                if fields.is_empty() {
                    tracing::$macro!(target: "plugin", plugin = &*self.plugin, url = %self.url, "{message}")
                } else {
                    tracing::$macro!(target: "plugin", plugin = &*self.plugin, url = %self.url, fields, "{message}")
                }
            };
        }
        match level {
            Level::Trace => line!(trace),
            Level::Debug => line!(debug),
            Level::Info => line!(info),
            Level::Warn => line!(warn),
            Level::Error => line!(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_the_budget_is_dropped_and_counted_but_the_last_words_are_kept() {
        let log = Log::new("p".into());
        log.begin("http://example.com/", 2, 10);
        log.write(Level::Info, "123456", None);
        log.write(Level::Info, "123456", None);
        log.write(Level::Info, "1", None);
        log.write(Level::Info, "1", None);
        log.write(Level::Error, "panicked", None);
        assert_eq!(log.end(), (Some("panicked".into()), 2, 3));
        log.begin("", 1, 100);
        log.write_stream(true, "Traceback\r");
        assert_eq!(log.end(), (Some("Traceback".into()), 1, 0));
    }
}
