//! `__RQ_STATE_<id>`: the order of a queue (Crawlee for Python: `RequestQueueState`).
//!
//! Decision: written in one pass over iterators that may fail, so that ten million requests need no more memory than one; the
//! counters, which are only known at the end, stand at the end. Crawlee gives ascending numbers as requests are added, and takes the
//! *highest* of the forefront and the *lowest* of the regular ones first. We count in the order in which requests would be fetched:
//! down from 0 in the forefront, up from 0 elsewhere. So nobody has to know in advance how many there are, and what Crawlee adds
//! later gets the right place.
//!
//! It lists requests by their unique keys alone. Crawlee's queue needs the files of `request_queues/` beside it.

use crate::json::line;
use std::error::Error;
use std::io::{self, Write};

/// A queue: unique keys, from iterators.
///
/// A request in progress is in its list as well, as in Crawlee; a handled one is not.
#[derive(Debug, Clone)]
pub struct QueueState<F, R, P, H> {
    /// Those that wait at the forefront, the next to be fetched first.
    pub forefront: F,
    /// Those that wait, the next to be fetched first.
    pub regular: R,
    /// Those that are being fetched and handled. Crawlee takes them back when it opens the queue.
    pub in_progress: P,
    /// Those that are done, in any order.
    pub handled: H,
}

/// How many of each were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueCounts {
    /// At the forefront.
    pub forefront: u64,
    /// Waiting elsewhere.
    pub regular: u64,
    /// In progress.
    pub in_progress: u64,
    /// Handled.
    pub handled: u64,
}

impl<F, R, P, H> QueueState<F, R, P, H> {
    /// Writes the queue's state as readable JSON.
    ///
    /// # Errors
    /// What `out` fails with; what an iterator fails with, as [`io::Error::other`].
    pub fn write<K, E>(self, out: &mut dyn Write) -> io::Result<QueueCounts>
    where
        F: IntoIterator<Item = Result<K, E>>,
        R: IntoIterator<Item = Result<K, E>>,
        P: IntoIterator<Item = Result<K, E>>,
        H: IntoIterator<Item = Result<K, E>>,
        K: AsRef<str>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        out.write_all(b"{")?;
        let counts = QueueCounts {
            forefront: section(out, "forefront_requests", Numbers::Down, self.forefront)?,
            regular: section(out, "regular_requests", Numbers::Up, self.regular)?,
            in_progress: section(out, "in_progress_requests", Numbers::None, self.in_progress)?,
            handled: section(out, "handled_requests", Numbers::None, self.handled)?,
        };
        // The numbers that the next ones get.
        write!(out, "\n  \"sequence_counter\": {},", counts.regular)?;
        write!(out, "\n  \"forefront_sequence_counter\": {}\n}}", u8::from(counts.forefront > 0))?;
        Ok(counts)
    }
}

/// Whether the requests of a section have numbers, and which way they go.
#[derive(Clone, Copy)]
enum Numbers {
    Up,
    Down,
    None,
}

fn section<K: AsRef<str>, E: Into<Box<dyn Error + Send + Sync>>>(
    out: &mut dyn Write,
    name: &str,
    numbers: Numbers,
    keys: impl IntoIterator<Item = Result<K, E>>,
) -> io::Result<u64> {
    let (open, close) = match numbers {
        Numbers::Up | Numbers::Down => ('{', '}'),
        Numbers::None => ('[', ']'),
    };
    write!(out, "\n  \"{name}\": {open}")?;
    let mut count = 0_u64;
    for key in keys {
        let key = key.map_err(io::Error::other)?;
        if count > 0 {
            out.write_all(b",")?;
        }
        line(out, 2)?;
        serde_json::to_writer(&mut *out, key.as_ref())?;
        match numbers {
            Numbers::Down if count > 0 => write!(out, ": -{count}")?,
            Numbers::Up | Numbers::Down => write!(out, ": {count}")?,
            Numbers::None => {}
        }
        count += 1;
    }
    if count > 0 {
        line(out, 1)?;
    }
    write!(out, "{close},")?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::cell::Cell;
    use std::convert::Infallible;
    use std::rc::Rc;

    fn keys(keys: &[&'static str]) -> Vec<Result<&'static str, Infallible>> {
        keys.iter().copied().map(Ok).collect()
    }

    #[test]
    fn a_queue_is_written_in_the_order_in_which_crawlee_fetches() {
        let state = QueueState {
            forefront: keys(&["f1", "f2", "f3"]),
            regular: keys(&["r\"1", "r2"]),
            in_progress: keys(&["r2"]),
            handled: keys(&["h1", "h2"]),
        };
        let mut out = Vec::new();
        let counts = state.write(&mut out).unwrap();
        assert_eq!(counts, QueueCounts { forefront: 3, regular: 2, in_progress: 1, handled: 2 });
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("{\n  \"forefront_requests\": {\n    \"f1\": 0,\n    \"f2\": -1,\n"), "{text}");
        let expected = json!({
            "forefront_requests": { "f1": 0, "f2": -1, "f3": -2 },
            "regular_requests": { "r\"1": 0, "r2": 1 },
            "in_progress_requests": ["r2"],
            "handled_requests": ["h1", "h2"],
            "sequence_counter": 2,
            "forefront_sequence_counter": 1,
        });
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    }

    #[test]
    fn an_empty_queue_is_json_too() {
        let mut out = Vec::new();
        let state = QueueState { forefront: keys(&[]), regular: keys(&[]), in_progress: keys(&[]), handled: keys(&[]) };
        assert_eq!(state.write(&mut out).unwrap(), QueueCounts::default());
        let value: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!((&value["forefront_requests"], &value["handled_requests"]), (&json!({}), &json!([])));
        assert_eq!(value["forefront_sequence_counter"], 0);
    }

    #[test]
    fn a_source_that_fails_ends_the_writing() {
        let regular = [Ok("a"), Err("the store is closed"), Ok("b")];
        let state = QueueState { forefront: [], regular, in_progress: [], handled: [] };
        let error = state.write(&mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "the store is closed");
    }

    #[test]
    fn a_key_is_written_before_the_next_one_is_asked_for() {
        #[derive(Default)]
        struct Written(Rc<Cell<usize>>);
        impl Write for Written {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.set(self.0.get() + bytes.len());
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (mut out, mut given) = (Written::default(), 0);
        let written = Rc::clone(&out.0);
        let handled = (0..10_000).map(|n| {
            assert!(written.get() >= given, "key {n}");
            let key = format!("https://site.test/{n}");
            given += key.len();
            Ok::<_, Infallible>(key)
        });
        let state = QueueState { forefront: [], regular: [], in_progress: [], handled };
        assert_eq!(state.write(&mut out).unwrap().handled, 10_000);
    }
}
