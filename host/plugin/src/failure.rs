//! How a call ends that does not succeed.
//!
//! Decision: a closed set of kinds, each with a stable code for statistics and one line for people, made from wasmtime's errors
//! in one place, so that no other crate needs to know what a trap looks like. The cost is that two limits (bytes per host
//! call, handles) and a machine without memory are told by wording, which `tests/hostile_calls.rs` and `tests/loading.rs` pin.

use crate::guest_stack;
use crate::message::in_one_line;
use wasmtime::{Trap, WasmBacktrace};

/// What a handler says when it gives up on its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorInfo {
    /// A stable word of the plugin's own.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

/// Which limit a call ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LimitKind {
    /// Time on a processor.
    Cpu,
    /// Time on the wall.
    Wall,
    /// Memory.
    Memory,
    /// Table elements.
    Table,
    /// Bytes in one host call.
    HostCallFuel,
    /// Live handles.
    Handles,
}

impl LimitKind {
    /// A stable word.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Cpu => "cpu-limit",
            Self::Wall => "time-limit",
            Self::Memory => "memory-limit",
            Self::Table => "table-limit",
            Self::HostCallFuel => "host-call-limit",
            Self::Handles => "handle-limit",
        }
    }
}

/// How a call ended that did not succeed. None of its effects are kept; what it saw of the state is, and what it asked for its session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallFailure {
    /// The handler wants the request to be tried again.
    #[error("the plugin asks for a retry ({}): {}", .0.code, .0.message)]
    Retry(ErrorInfo),
    /// The handler sets the request aside.
    #[error("the plugin skips it ({}): {}", .0.code, .0.message)]
    Skip(ErrorInfo),
    /// The handler gives up on the request.
    #[error("the plugin gives up ({}): {}", .0.code, .0.message)]
    Fatal(ErrorInfo),
    /// The plugin crashed.
    #[error("the plugin crashed: {message}")]
    Trap {
        /// What happened; the last error line that it logged, if it logged one.
        message: String,
        /// The frames, innermost first, as far as the component names them.
        backtrace: Vec<String>,
    },
    /// The plugin ran into a limit.
    #[error("{message}")]
    Limit {
        /// Which.
        which: LimitKind,
        /// How much was allowed, and the way out.
        message: String,
    },
    /// It was not the plugin's fault: the store could not be read, or this host is at fault.
    #[error("the host failed: {message}")]
    Host {
        /// What happened.
        message: String,
    },
    /// It was nobody's fault but the machine's: it gave the sandbox no memory. Any other call would have failed just then.
    #[error("the host failed: {message}")]
    Machine {
        /// What happened, and the way out.
        message: String,
    },
}

impl CallFailure {
    /// A stable word for statistics: a kind, or the handler's own code.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Retry(info) | Self::Skip(info) | Self::Fatal(info) => &info.code,
            Self::Trap { .. } => "trap",
            Self::Limit { which, .. } => which.code(),
            Self::Host { .. } | Self::Machine { .. } => "host",
        }
    }

    /// The same failure, said to be of a plugin's pipeline.
    #[must_use]
    pub(crate) fn of_pipeline(mut self, plugin: &str) -> Self {
        let (Self::Retry(ErrorInfo { message, .. })
        | Self::Skip(ErrorInfo { message, .. })
        | Self::Fatal(ErrorInfo { message, .. })
        | Self::Trap { message, .. }
        | Self::Limit { message, .. }
        | Self::Host { message }
        | Self::Machine { message }) = &mut self;
        *message = format!("in the pipeline of {plugin}: {message}");
        self
    }

    /// Whether the request is tried again within its maximum: the handler asked for it, a time limit ended the call, or the
    /// host failed. Everything else fails at once.
    #[must_use]
    pub const fn may_be_retried(&self) -> bool {
        matches!(
            self,
            Self::Retry(_)
                | Self::Host { .. }
                | Self::Machine { .. }
                | Self::Limit { which: LimitKind::Cpu | LimitKind::Wall, .. }
        )
    }
}

/// Why the host itself ended a call. Travels through wasmtime as the cause of a trap.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stop {
    #[error("{1}")]
    Limit(LimitKind, String),
    #[error("{0}")]
    Host(String),
}

/// What is known of a call beside its error.
pub(crate) struct Circumstances<'a> {
    /// The last error line that the plugin logged.
    pub(crate) last_words: Option<&'a str>,
    /// If memory was refused to it: how much it may have.
    pub(crate) memory_refused: Option<usize>,
    /// If table elements were refused to it: how many it may have.
    pub(crate) table_refused: Option<usize>,
    /// Whether the machine refused it memory that it may have.
    pub(crate) machine_refused: bool,
}

/// Whether an error says that the machine gave no memory or no address space. Only ever asked of errors that no plugin words.
pub(crate) fn machine_has_no_memory(error: &wasmtime::Error) -> bool {
    error.chain().any(|cause| {
        let out_of_memory = |error: &std::io::Error| error.kind() == std::io::ErrorKind::OutOfMemory;
        // The system's own errors are of types that are private to wasmtime; ENOMEM is 12 wherever it has a number.
        cause.downcast_ref::<std::io::Error>().is_some_and(out_of_memory) || cause.to_string().ends_with("(os error 12)")
    })
}

impl CallFailure {
    /// The machine gave no memory.
    pub(crate) fn starved() -> Self {
        let message = "the machine gave a sandbox no memory; allow the process more memory and address space (`ulimit -v`), or handle \
                       fewer pages at a time";
        Self::Machine { message: message.to_owned() }
    }

    /// From what wasmtime says.
    pub(crate) fn of(error: &wasmtime::Error, circumstances: &Circumstances<'_>) -> Self {
        if let Some(stop) = error.downcast_ref::<Stop>() {
            return match stop {
                Stop::Limit(which, message) => Self::Limit { which: *which, message: message.clone() },
                Stop::Host(message) => Self::Host { message: message.clone() },
            };
        }
        if let Some(full) = error.downcast_ref::<wasmtime::PoolConcurrencyLimitError>() {
            return Self::Host { message: format!("no sandbox was free ({full})") };
        }
        let limit = |which, message: String| Self::Limit { which, message };
        let chain = error.chain().map(ToString::to_string).collect::<Vec<_>>();
        let says = |words: &str| chain.iter().any(|message| message.contains(words));
        if says("fuel allocated for hostcalls has been exhausted") {
            return limit(
                LimitKind::HostCallFuel,
                "the plugin gave the host more data in one call than it may; send it in smaller parts".to_owned(),
            );
        }
        if says("store handle limit exceeded") {
            return limit(
                LimitKind::Handles,
                "the plugin holds more handles than it may; ask for the document once and keep it".to_owned(),
            );
        }
        if circumstances.machine_refused || machine_has_no_memory(error) {
            return Self::starved();
        }
        if let Some(allowed) = circumstances.memory_refused {
            let mib = allowed >> 20;
            return limit(
                LimitKind::Memory,
                format!(
                    "the plugin needs more than its {mib} MiB of memory; let it keep less, or raise the setting `plugin-memory`"
                ),
            );
        }
        if let Some(allowed) = circumstances.table_refused {
            let message = format!(
                "the plugin needs more than its {allowed} table elements, which no setting raises; build it of less code"
            );
            return limit(LimitKind::Table, message);
        }
        let what = if let Some(exit) = error.downcast_ref::<wasmtime_wasi::I32Exit>() {
            format!("it called exit({}); return from the handler instead", exit.0)
        } else if let Some(used_up) = guest_stack::used_up(error) {
            used_up.to_owned()
        } else if let Some(trap) = error.downcast_ref::<Trap>() {
            trap.to_string()
        } else {
            error.root_cause().to_string()
        };
        let message = match circumstances.last_words {
            Some(words) => format!("{words} ({what})"),
            None => what,
        };
        Self::Trap { message: in_one_line(&message, 2_000), backtrace: frames(error) }
    }
}

fn frames(error: &wasmtime::Error) -> Vec<String> {
    let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() else {
        return Vec::new();
    };
    // Its own text has the names as their authors wrote them.
    backtrace.to_string().lines().skip(1).map(|line| one_line(line, 200)).collect()
}

/// Text of a plugin's as one line: control characters become spaces, what is too long is cut.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    printable(text.trim(), most)
}

/// The same for text whose indentation means something.
pub(crate) fn indented_line(text: &str, most: usize) -> String {
    printable(text.trim_end().trim_start_matches(['\r', '\n']), most)
}

fn printable(text: &str, most: usize) -> String {
    let clean = |c: char| {
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') {
            ' '
        } else {
            c
        }
    };
    let mut line = String::with_capacity(text.len().min(most));
    for c in text.chars().map(clean) {
        if line.len() + c.len_utf8() > most {
            line.push('…');
            break;
        }
        line.push(c);
    }
    line
}

/// A plugin's own code as a stable word.
pub(crate) fn word(code: &str) -> String {
    let word = one_line(code, 64);
    if word.is_empty() { "error".to_owned() } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Circumstances<'static> =
        Circumstances { last_words: None, memory_refused: None, table_refused: None, machine_refused: false };

    #[test]
    fn a_limit_keeps_its_kind_through_wasmtime() {
        let error = wasmtime::Error::from(Stop::Limit(LimitKind::Cpu, "too long".into())).context("while calling");
        let failure = CallFailure::of(&error, &NOTHING);
        assert_eq!((failure.code(), failure.to_string().as_str()), ("cpu-limit", "too long"));
        assert!(failure.may_be_retried());
    }

    #[test]
    fn a_trap_after_refused_memory_is_a_memory_limit() {
        let error = wasmtime::Error::from(Trap::UnreachableCodeReached);
        let failure = CallFailure::of(&error, &Circumstances { memory_refused: Some(128 << 20), ..NOTHING });
        assert_eq!(failure.code(), "memory-limit");
        assert!(failure.to_string().contains("128 MiB") && !failure.may_be_retried());
    }

    #[test]
    fn a_machine_without_memory_is_no_fault_of_the_plugin() {
        let refused = wasmtime::Error::from(std::io::Error::from_raw_os_error(12)).context("while instantiating");
        let trap = wasmtime::Error::from(Trap::UnreachableCodeReached);
        for failure in [
            CallFailure::of(&refused, &Circumstances { last_words: Some("words"), ..NOTHING }),
            CallFailure::of(&trap, &Circumstances { machine_refused: true, memory_refused: Some(1), ..NOTHING }),
        ] {
            assert!(failure.code() == "host" && failure.may_be_retried(), "{failure}");
            assert!(failure.to_string().contains("the machine gave a sandbox no memory"), "{failure}");
        }
    }

    #[test]
    fn a_trap_says_the_last_words_in_one_line() {
        let error = wasmtime::Error::from(Trap::UnreachableCodeReached);
        let failure = CallFailure::of(&error, &Circumstances { last_words: Some("panicked\n at \u{1b}[31m here"), ..NOTHING });
        let text = failure.to_string();
        assert!(text.contains("panicked | at  [31m here") && text.contains("unreachable"), "{text}");
        assert!(!text.chars().any(char::is_control));
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        assert_eq!(one_line("äöü", 3), "ä…");
        assert_eq!(word("\n"), "error");
        assert_eq!(indented_line("\n  File \"x\"\t \r\n", 100), "  File \"x\"");
    }
}
