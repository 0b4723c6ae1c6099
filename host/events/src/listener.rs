//! What is called when something happens.
//!
//! Decision: a listener says itself which kind it is. An asynchronous one runs on the thread of events and must not block it; a
//! synchronous one has a thread of its own and may. One constructor each, with and without the event, instead of guessing from a
//! signature as Crawlee does. Calls of one listener never overlap, so that it may change what it holds (`FnMut`).

use crate::{Event, EventName};
use futures_util::future::BoxFuture;
use nephila_model::CrawlerId;
use std::fmt::{Debug, Display, Formatter};
use std::sync::atomic::{AtomicU64, Ordering};

/// Which listener. Every registration in a process has one of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ListenerId(u64);

impl ListenerId {
    /// One that nobody had before; for managers of one's own.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a new id is an act, not a default")]
    pub fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

impl Display for ListenerId {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "listener {}", self.0)
    }
}

/// What a listener does, as a manager calls it. An error is a sentence for the log.
pub enum Call {
    /// On the thread of events.
    Asynchronous(Box<dyn FnMut(Event) -> BoxFuture<'static, Result<(), String>> + Send>),
    /// On a thread of its own.
    Synchronous(Box<dyn FnMut(Event) -> Result<(), String> + Send>),
}

/// What is to be called, and what it is called in the log: the name of its type, if it is given no other.
pub struct Listener {
    /// For the log.
    pub name: String,
    /// What it does.
    pub call: Call,
    /// Whose crawl it hears of, if of one alone.
    pub crawler: Option<CrawlerId>,
}

impl Listener {
    /// Gets the event, asynchronously. It may await for as long as it likes; what blocks belongs in [`Listener::blocking`].
    ///
    /// A call ends with `()` or a `Result<(), E>`; an error is logged.
    ///
    /// ```
    /// use nephila_events::{Event, Listener};
    ///
    /// let listener = Listener::new(async |event: Event| println!("{}: {}", event.name(), event.payload())).named("printer");
    /// ```
    #[must_use]
    pub fn new<F, A>(mut listener: F) -> Self
    where
        F: FnMut(Event) -> A + Send + 'static,
        A: Future<Output: Ending> + Send + 'static,
    {
        let call = move |event| -> BoxFuture<'static, Result<(), String>> {
            let answer = listener(event);
            Box::pin(async move { answer.await.into_result() })
        };
        Self { name: type_name::<F>(), call: Call::Asynchronous(Box::new(call)), crawler: None }
    }

    /// Like [`Listener::new`], for one that only wants to know that it happened.
    #[must_use]
    pub fn without_event<F, A>(mut listener: F) -> Self
    where
        F: FnMut() -> A + Send + 'static,
        A: Future<Output: Ending> + Send + 'static,
    {
        Self { name: type_name::<F>(), ..Self::new(move |_| listener()) }
    }

    /// Gets the event on a thread of its own, and may block it.
    #[must_use]
    pub fn blocking<F, E>(mut listener: F) -> Self
    where
        F: FnMut(Event) -> E + Send + 'static,
        E: Ending,
    {
        let call = move |event| listener(event).into_result();
        Self { name: type_name::<F>(), call: Call::Synchronous(Box::new(call)), crawler: None }
    }

    /// Like [`Listener::blocking`], for one that only wants to know that it happened.
    #[must_use]
    pub fn blocking_without_event<F, E>(mut listener: F) -> Self
    where
        F: FnMut() -> E + Send + 'static,
        E: Ending,
    {
        Self { name: type_name::<F>(), ..Self::blocking(move |_| listener()) }
    }

    /// The same under another name.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// The same, for what is about the crawl of this crawler and what is about none. What is about others takes no place in its
    /// queue.
    #[must_use]
    pub fn of(self, crawler: CrawlerId) -> Self {
        Self { crawler: Some(crawler), ..self }
    }
}

impl Debug for Listener {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").field("name", &self.name).finish_non_exhaustive()
    }
}

/// How a call of a listener may end: with `()`, or with a `Result<(), E>`.
pub trait Ending {
    /// The failure as a sentence for the log.
    ///
    /// # Errors
    /// What the listener failed with.
    fn into_result(self) -> Result<(), String>;
}

impl Ending for () {
    fn into_result(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: Display> Ending for Result<(), E> {
    fn into_result(self) -> Result<(), String> {
        // The alternate form of `anyhow` has the causes too.
        self.map_err(|error| format!("{error:#}"))
    }
}

/// One event or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSet(Vec<EventName>);

impl EventSet {
    /// The events, each once, in the order given.
    #[must_use]
    pub fn names(&self) -> &[EventName] {
        &self.0
    }
}

impl FromIterator<EventName> for EventSet {
    fn from_iter<I: IntoIterator<Item = EventName>>(names: I) -> Self {
        let mut set = Vec::new();
        for name in names {
            if !set.contains(&name) {
                set.push(name);
            }
        }
        Self(set)
    }
}

impl From<EventName> for EventSet {
    fn from(name: EventName) -> Self {
        Self(vec![name])
    }
}

impl From<&EventName> for EventSet {
    fn from(name: &EventName) -> Self {
        Self(vec![name.clone()])
    }
}

impl<const N: usize> From<[EventName; N]> for EventSet {
    fn from(names: [EventName; N]) -> Self {
        names.into_iter().collect()
    }
}

impl From<Vec<EventName>> for EventSet {
    fn from(names: Vec<EventName>) -> Self {
        names.into_iter().collect()
    }
}

impl From<&[EventName]> for EventSet {
    fn from(names: &[EventName]) -> Self {
        names.iter().cloned().collect()
    }
}

/// A function's path; of a closure, the path of where it is written.
fn type_name<F>() -> String {
    std::any::type_name::<F>().trim_end_matches("::{{closure}}").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(_: Event) -> Result<(), String> {
        Err("no bell".to_owned())
    }

    #[test]
    fn a_listener_is_called_by_its_type_or_by_the_name_it_is_given() {
        assert_eq!(Listener::blocking(ring).name, "nephila_events::listener::tests::ring");
        let here = "nephila_events::listener::tests::a_listener_is_called_by_its_type_or_by_the_name_it_is_given";
        assert_eq!(Listener::new(|_| async {}).name, here);
        assert_eq!(Listener::without_event(|| async {}).name, here);
        assert_eq!(Listener::blocking_without_event(|| ()).name, here);
        assert_eq!(Listener::new(|_| async {}).named("bell").name, "bell");
    }

    #[test]
    fn an_ending_that_is_an_error_says_why() {
        let Call::Synchronous(mut call) = Listener::blocking(ring).call else { panic!("it is synchronous") };
        assert_eq!(call(Event::Exit), Err("no bell".to_owned()));
        let Call::Synchronous(mut call) = Listener::blocking_without_event(|| ()).call else { panic!("it is synchronous") };
        assert_eq!(call(Event::Exit), Ok(()));
    }

    #[test]
    fn a_set_has_each_event_once() {
        let set = EventSet::from([EventName::Exit, EventName::Aborting, EventName::Exit]);
        assert_eq!(set.names(), [EventName::Exit, EventName::Aborting]);
    }

    #[test]
    fn no_two_listeners_have_one_id() {
        let (first, second) = (ListenerId::new(), ListenerId::new());
        assert!(first < second);
        assert!(first.to_string().starts_with("listener "));
    }
}
