//! How the program speaks: what it prints, and what it says beside it.
//!
//! Decision: nothing that is said can end the program. A reader who has gone, or a full disk behind a redirection, is no reason to stop
//! crawling; and what comes from web sites and plugins reaches no terminal with control characters in it.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

/// Why something could not be printed, the first time.
static UNPRINTED: OnceLock<String> = OnceLock::new();

/// Prints on standard output.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
        // A reader who has gone has had enough.
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        let _ = UNPRINTED.set(error.to_string());
    }
}

/// Why not all was printed that was to be, if anything was not.
pub fn unprinted() -> Option<&'static str> {
    UNPRINTED.get().map(String::as_str)
}

/// Says something on standard error, in place of a progress line that stands there.
pub fn say(text: &str) {
    let mut err = std::io::stderr().lock();
    let clear = if err.is_terminal() { "\r\x1b[2K" } else { "" };
    let _ = write!(err, "{clear}{text}").and_then(|()| err.flush());
}

/// Text as one line, without control characters.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Text of several lines, without other control characters, with a line break at the end.
pub fn lines(text: &str) -> String {
    let mut shown: String = text.chars().map(|c| if c.is_control() && !matches!(c, '\n' | '\t') { ' ' } else { c }).collect();
    if !shown.ends_with('\n') {
        shown.push('\n');
    }
    shown
}

/// `print!` that does not mind a reader who has gone.
macro_rules! put {
    ($($words:tt)*) => {
        $crate::voice::print(&format!($($words)*))
    };
}

/// One line on standard error, under the program's name.
macro_rules! note {
    ($($words:tt)*) => {
        $crate::voice::say(&format!("nephila: {}\n", $crate::voice::one_line(&format!($($words)*))))
    };
}

pub(crate) use {note, put};
