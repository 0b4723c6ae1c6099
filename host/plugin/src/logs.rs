//! A plugin's log lines, and its last words.
//!
//! Decision: they go to `tracing` with the target `plugin`, bounded per call in lines and in bytes; what is over is dropped and
//! counted, with one warning, and never ends the call. Control characters are taken out, so that a page cannot forge lines or
//! drive a terminal. `log.write`, standard output and standard error share one budget. What a stream has of an unfinished line
//! stays here and ends with its call, so that no line is lost or told of another page. The last words of a call are its latest
//! line that is an error or came on standard error and tells anything, kept whatever the budget: a crash is told with them.

use crate::failure::one_line;
use crate::message::{in_one_line, log_line};
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

/// A standard stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    Error,
}

/// Bytes of one line. What is longer is cut, or on a stream broken into several.
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
    last_words: Option<String>,
    /// What each stream has of a line that has not ended.
    output: Vec<u8>,
    error: Vec<u8>,
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
            last_words: None,
            output: Vec::new(),
            error: Vec::new(),
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
        book.last_words = None;
    }

    /// Writes a line, or drops it.
    pub(crate) fn write(&self, level: Level, message: &str, fields: Option<&str>) {
        let mut book = self.book();
        if level == Level::Error {
            book.last_words = Some(in_one_line(message, LINE));
        }
        book.write(level, message, fields);
    }

    /// Takes what arrives on a standard stream, and writes the lines that end in it.
    pub(crate) fn take(&self, stream: Stream, bytes: &[u8]) {
        let mut book = self.book();
        for mut piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            while !piece.is_empty() {
                let begun = book.begun(stream);
                let (now, later) = piece.split_at(piece.len().min(LINE - begun.len()));
                begun.extend_from_slice(now);
                piece = later;
                if begun.ends_with(b"\n") {
                    book.end_line(stream, usize::MAX);
                } else if begun.len() == LINE {
                    let whole = whole_characters(begun);
                    book.end_line(stream, whole);
                }
            }
        }
    }

    /// Ends the call, and with it the lines that have not ended: its last words, and then lines written and dropped.
    pub(crate) fn end(&self) -> (Option<String>, u64, u64) {
        let mut book = self.book();
        for stream in [Stream::Output, Stream::Error] {
            book.end_line(stream, usize::MAX);
        }
        (book.last_words.take(), book.written, book.dropped)
    }
}

impl Book {
    fn begun(&mut self, stream: Stream) -> &mut Vec<u8> {
        match stream {
            Stream::Output => &mut self.output,
            Stream::Error => &mut self.error,
        }
    }

    /// Writes what a stream has, up to so many bytes.
    fn end_line(&mut self, stream: Stream, most: usize) {
        let begun = self.begun(stream);
        let line: Vec<u8> = begun.drain(..most.min(begun.len())).collect();
        let line = String::from_utf8_lossy(&line);
        if line.trim().is_empty() {
            return;
        }
        if stream == Stream::Error && !is_noise(line.trim()) {
            self.last_words = Some(one_line(&line, LINE));
        }
        self.write(if stream == Stream::Error { Level::Warn } else { Level::Info }, &line, None);
    }

    fn write(&mut self, level: Level, message: &str, fields: Option<&str>) {
        let bytes = message.len().min(LINE) + fields.map_or(0, |fields| fields.len().min(LINE));
        if self.lines_left == 0 || self.bytes_left < bytes {
            self.drop_line();
            return;
        }
        self.lines_left -= 1;
        self.bytes_left -= bytes;
        self.written += 1;
        self.emit(level, &log_line(message, LINE), &one_line(fields.unwrap_or_default(), LINE));
    }

    /// The page in hand; none while a plugin describes itself or finishes.
    fn url(&self) -> Option<tracing::field::DisplayValue<&str>> {
        (!self.url.is_empty()).then(|| tracing::field::display(self.url.as_str()))
    }

    fn drop_line(&mut self) {
        self.dropped += 1;
        if self.dropped == 1 {
            tracing::warn!(target: "plugin", plugin = &*self.plugin, url = self.url(), "the plugin logs too much; further lines of this call are dropped");
        }
    }

    fn emit(&self, level: Level, message: &str, fields: &str) {
        let fields = (!fields.is_empty()).then_some(fields);
        macro_rules! line {
            ($macro:ident) => {
                tracing::$macro!(target: "plugin", plugin = &*self.plugin, url = self.url(), fields, "{message}")
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

/// How many of these bytes are not the beginning of a character that has yet to arrive.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

/// Whether a line of standard error is one that script engines and Rust's runtime write around what went wrong.
fn is_noise(line: &str) -> bool {
    const BEGINNINGS: [&str; 4] = [
        "note: run with ",
        "Redirecting call to abort",
        "Python function threw an unexpected exception",
        // A frame of Python's.
        "File \"",
    ];
    let wordless = !line.chars().any(char::is_alphanumeric);
    let location = line.starts_with("thread '") && line.contains(" panicked at ") && line.ends_with(':');
    let heading = matches!(line, "Stack:" | "stack backtrace:" | "Traceback (most recent call last):");
    wordless || location || heading || is_script_frame(line) || BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
}

/// Whether it is `name@file:1:2` (SpiderMonkey) or `at name (file:1:2)` (QuickJS).
fn is_script_frame(line: &str) -> bool {
    let position = |line: &str| {
        let mut parts = line.rsplit(':');
        let mut number = || parts.next().is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
        number() && number() && parts.next().is_some()
    };
    match line.strip_prefix("at ") {
        Some(frame) => position(frame.trim_end_matches(')')),
        None => line.split_once('@').is_some_and(|(name, place)| !name.contains(' ') && position(place)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::fmt::Write as _;
    use std::sync::Once;
    use tracing::field::{Field, Visit};
    use tracing::{Event, Metadata, Subscriber, span};

    thread_local! {
        /// What this thread has logged, a line each: the message, and then the fields by name.
        static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    struct Lines;

    impl Lines {
        /// To be there before the first line of any test: what finds nobody listening may be remembered so.
        fn listen() {
            static LISTENING: Once = Once::new();
            LISTENING.call_once(|| tracing::subscriber::set_global_default(Self).expect("nobody else listens"));
        }

        fn of(write: impl FnOnce()) -> Vec<String> {
            LINES.take();
            write();
            LINES.take()
        }
    }

    impl Subscriber for Lines {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "plugin"
        }

        fn event(&self, event: &Event<'_>) {
            struct Text(String, String);
            impl Visit for Text {
                fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
                    let _ = match field.name() {
                        "message" => write!(self.0, "{value:?}"),
                        name => write!(self.1, " {name}={value:?}"),
                    };
                }
            }
            let mut text = Text(String::new(), String::new());
            event.record(&mut text);
            LINES.with_borrow_mut(|lines| lines.push(text.0 + &text.1));
        }

        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }

        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
        fn enter(&self, _: &span::Id) {}
        fn exit(&self, _: &span::Id) {}
    }

    fn log() -> Log {
        Lines::listen();
        let log = Log::new("p".into());
        log.begin("http://example.com/", 100, 100_000);
        log
    }

    fn last_words(stderr: &str) -> Option<String> {
        let log = log();
        log.take(Stream::Error, stderr.as_bytes());
        log.end().0
    }

    #[test]
    fn what_is_over_the_budget_is_dropped_and_counted_but_the_last_words_are_kept() {
        let log = log();
        log.begin("http://example.com/", 2, 10);
        log.write(Level::Info, "123456", None);
        log.write(Level::Info, "123456", None);
        log.write(Level::Info, "1", None);
        log.write(Level::Info, "1", None);
        log.write(Level::Error, "panicked", None);
        assert_eq!(log.end(), (Some("panicked".into()), 2, 3));
        log.begin("", 0, 100);
        log.take(Stream::Error, b"ValueError: after much talk\r\nnote: run with `RUST_BACKTRACE=1` environment variable\n");
        assert_eq!(log.end(), (Some("ValueError: after much talk".into()), 0, 2));
    }

    #[test]
    fn a_crash_in_python_is_told_with_its_exception() {
        let stderr = "Traceback (most recent call last):\n  File \"/0/app.py\", line 302, in handle\n    return PROBES[at](call, doc)\n\
                      \x20          ~~~~~~~~~~^^^^^^^^^^^\n  File \"/0/app.py\", line 79, in p_error\n\
                      ValueError: a plain error – with ü\n\nthread '<unnamed>' (1) panicked at runtime/src/lib.rs:1293:29:\n\
                      Python function threw an unexpected exception\n\
                      note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        assert_eq!(last_words(stderr).as_deref(), Some("ValueError: a plain error – with ü"));
    }

    #[test]
    fn a_crash_in_quickjs_is_told_with_its_exception() {
        let exception =
            "Exception { message: Some(\"a plain error – with ü\"), stack: Some(\"    at error (/js/plugin.js:46:23)\\n\") })";
        let stderr = format!(
            "\nthread '<unnamed>' (1) panicked at crates/runtime/src/interpreter.rs:51:31:\n\
             Failed to call 'handle': Value(Exception(\n    {exception}\n)\n\
             note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n"
        );
        assert_eq!(last_words(&stderr).as_deref(), Some(exception));
    }

    #[test]
    fn a_crash_in_spidermonkey_is_told_with_the_sentence_of_its_glue() {
        let stderr = "expected a string, received [undefined]\nStack:\n\
                      _utf8AllocateAndEncode@/tmp/aafe352a58ee/sources/initializer.js:85:11\n\
                      export_handler_0_1_0$handle@/tmp/aafe352a58ee/sources/initializer.js:3278:45\n\
                      Redirecting call to abort() to mozalloc_abort\n\n";
        assert_eq!(last_words(stderr).as_deref(), Some("expected a string, received [undefined]"));
    }

    #[test]
    fn noise_is_no_last_word_and_words_are_no_noise() {
        for noise in [")", "})", "^^^^", "guard/<@js/plugin-guard.js:145:20", "@a.js:1:2", "at <anonymous> (/js/a.js:148:63)"] {
            assert!(is_noise(noise), "{noise}");
        }
        for words in
            ["mail to a@b.example: 12", "user name@host:80:90 is wrong", "at 12:30", "thread 'main' panicked at 'boom', a.rs:1:2"]
        {
            assert!(!is_noise(words), "{words}");
        }
        assert_eq!(last_words("note: run with x\n)\n"), None);
    }

    #[test]
    fn the_latest_words_are_the_last() {
        let log = log();
        log.write(Level::Error, "caught, and gone on", None);
        log.take(Stream::Error, b"TypeError: not caught\n");
        assert_eq!(log.end().0.as_deref(), Some("TypeError: not caught"));
    }

    #[test]
    fn streams_become_lines_whatever_pieces_they_come_in() {
        let log = log();
        let long = format!("{}{}\n", "x".repeat(LINE - 1), "ü".repeat(3_000));
        let lines = Lines::of(|| {
            log.take(Stream::Output, b"one\ntw");
            log.take(Stream::Error, b"  indented\n");
            log.take(Stream::Output, b"o\n");
            log.take(Stream::Output, long.as_bytes());
            log.take(Stream::Output, b"after\n\n");
        });
        let messages: Vec<_> = lines.iter().map(|line| line.split(" plugin=").next().expect("a message")).collect();
        assert_eq!((&messages[..3], messages.last()), (&["one", "  indented", "two"][..], Some(&"after")));
        assert_eq!(messages[3..messages.len() - 1].concat(), long.trim_end(), "nothing is lost or broken within a character");
        assert_eq!(log.end().2, 0);
    }

    #[test]
    fn a_line_that_does_not_end_ends_with_its_call() {
        let log = log();
        let lines = Lines::of(|| {
            log.take(Stream::Output, b"unfinished");
            log.take(Stream::Error, b"last words");
            assert_eq!(log.end(), (Some("last words".into()), 2, 0));
            log.begin("http://example.com/next", 10, 1_000);
            log.take(Stream::Output, b"next\n");
            assert_eq!(log.end(), (None, 1, 0));
        });
        let (here, next) = ("plugin=\"p\" url=http://example.com/", "plugin=\"p\" url=http://example.com/next");
        assert_eq!(lines, [format!("unfinished {here}"), format!("last words {here}"), format!("next {next}")]);
    }

    #[test]
    fn a_line_without_a_page_has_no_url() {
        let log = log();
        log.begin("", 1, 100);
        let lines = Lines::of(|| {
            log.write(Level::Info, "finished", Some("{\"pages\":8}"));
            log.write(Level::Info, "more", None);
        });
        assert_eq!(lines[0], "finished plugin=\"p\" fields=\"{\\\"pages\\\":8}\"");
        assert_eq!(lines[1], "the plugin logs too much; further lines of this call are dropped plugin=\"p\"");
    }
}
