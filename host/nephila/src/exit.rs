//! The exit codes of docs/cli.md, and how an error is said.

use std::io::Write;
use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done, also when a limit that the user asked for was reached.
    Done,
    /// Done, but too many requests failed, or the plugin's finish failed.
    TooManyFailed,
    /// Usage, configuration, or anything refused before the crawl began.
    Refused,
    /// Stopped before the end; the same command resumes it.
    Stopped,
}

impl Exit {
    /// What the process exits with.
    pub fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::TooManyFailed => 1,
            Self::Refused => 2,
            Self::Stopped => 3,
        })
    }
}

/// Says an error in one line: what failed, on what, and the way out.
pub fn say(error: &anyhow::Error) {
    let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    eprintln!("nephila: {}", causes.join(": ").replace('\n', " "));
}

/// Prints on standard output. If nobody reads it any more, that is theirs to decide.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// `print!` that does not mind a reader who has gone.
macro_rules! put {
    ($($words:tt)*) => {
        $crate::exit::print(&format!($($words)*))
    };
}
pub(crate) use put;
