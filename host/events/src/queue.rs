//! The events that wait for one listener.
//!
//! Decision: what waits is bounded, and what happens at the bound depends on what an event means.
//!
//! - Levels (`systemInfo`, and `crawlerStatus` of each crawl): only the newest says anything. It takes over the place of the
//!   older one: at the end of the line it would never have its turn with a listener that is always behind.
//! - Calls to act (`persistState`, `migrating`, `aborting`, `exit`): one of each waits at most, and is never dropped. The newer
//!   one goes to the end and takes the older one with it, since it means: with all that was said before.
//! - Anything else: each has a place, as many as the bound says, and what comes then is dropped and counted.
//!
//! So a queue holds its bound, four calls to act, and one level of each kind and crawl.

use crate::{Event, EventSet};
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// A place in one queue. Greater is later; the first is 1.
pub(crate) type Ticket = u64;

/// What waits for one listener.
#[derive(Debug)]
pub(crate) struct Queue {
    waiting: VecDeque<Waiting>,
    bound: NonZeroUsize,
    /// Those that have a place each, of which there may be `bound`.
    singles: usize,
    last: Ticket,
    burst: Burst,
    pub(crate) replaced: u64,
    pub(crate) dropped: u64,
}

#[derive(Debug)]
struct Waiting {
    ticket: Ticket,
    event: Arc<Event>,
}

/// Whether events are being dropped, and somebody was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Burst {
    No,
    Going,
}

/// What became of an event that was put into the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// It waits.
    Waits,
    /// There was no place, and it is the first in a while.
    DroppedFirst,
    /// There was no place, again.
    Dropped,
}

enum Kind {
    Level,
    Call,
    Single,
}

impl Kind {
    fn of(event: &Event) -> Self {
        match event {
            Event::SystemInfo(_) | Event::CrawlerStatus { .. } => Self::Level,
            Event::PersistState { .. } | Event::Migrating { .. } | Event::Aborting | Event::Exit => Self::Call,
            _ => Self::Single,
        }
    }
}

impl Queue {
    pub(crate) fn new(bound: NonZeroUsize) -> Self {
        Self { waiting: VecDeque::new(), bound, singles: 0, last: 0, burst: Burst::No, replaced: 0, dropped: 0 }
    }

    pub(crate) fn push(&mut self, event: &Arc<Event>) -> Pushed {
        let mut event = Arc::clone(event);
        match Kind::of(&event) {
            Kind::Level => {
                if let Some(older) = self.waiting.iter_mut().find(|older| is_same_thing(&older.event, &event)) {
                    older.event = event;
                    self.replaced += 1;
                    return Pushed::Waits;
                }
            }
            Kind::Call => {
                let place = self.waiting.iter().position(|older| is_same_thing(&older.event, &event));
                if let Some(older) = place.and_then(|place| self.waiting.remove(place)) {
                    event = with_what_was_said(&older.event, event);
                    self.replaced += 1;
                }
            }
            Kind::Single if self.singles >= self.bound.get() => {
                self.dropped += 1;
                let before = std::mem::replace(&mut self.burst, Burst::Going);
                return if before == Burst::No { Pushed::DroppedFirst } else { Pushed::Dropped };
            }
            Kind::Single => self.singles += 1,
        }
        self.last += 1;
        self.waiting.push_back(Waiting { ticket: self.last, event });
        Pushed::Waits
    }

    pub(crate) fn pop(&mut self) -> Option<(Ticket, Arc<Event>)> {
        let Waiting { ticket, event } = self.waiting.pop_front()?;
        if matches!(Kind::of(&event), Kind::Single) {
            self.singles -= 1;
            self.settle();
        }
        Some((ticket, event))
    }

    /// Takes out what has one of these names.
    pub(crate) fn forget(&mut self, names: &EventSet) {
        self.waiting.retain(|waiting| !names.names().contains(&waiting.event.name()));
        self.singles = self.waiting.iter().filter(|waiting| matches!(Kind::of(&waiting.event), Kind::Single)).count();
        self.settle();
    }

    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
        self.singles = 0;
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The last place that was given out.
    pub(crate) fn last(&self) -> Ticket {
        self.last
    }

    /// A burst is over when half of the places are free again: around the bound itself, each second event would begin one.
    fn settle(&mut self) {
        if self.singles <= self.bound.get() / 2 {
            self.burst = Burst::No;
        }
    }
}

/// Whether the newer of the two makes the older one superfluous.
fn is_same_thing(older: &Event, newer: &Event) -> bool {
    match (older, newer) {
        (Event::CrawlerStatus { crawler_id: older, .. }, Event::CrawlerStatus { crawler_id: newer, .. }) => older == newer,
        (Event::SystemInfo(_), Event::SystemInfo(_))
        | (Event::PersistState { .. }, Event::PersistState { .. })
        | (Event::Migrating { .. }, Event::Migrating { .. })
        | (Event::Aborting, Event::Aborting)
        | (Event::Exit, Event::Exit) => true,
        _ => false,
    }
}

/// A `persistState` that stands for two says that the process migrates if either did.
fn with_what_was_said(older: &Event, newer: Arc<Event>) -> Arc<Event> {
    match (older, &*newer) {
        (Event::PersistState { is_migrating: true }, Event::PersistState { is_migrating: false }) => {
            Arc::new(Event::PersistState { is_migrating: true })
        }
        _ => newer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CpuInfo, EventName, MemoryInfo, OwnName, SystemInfo};
    use nephila_model::{CrawlerId, Timestamp};
    use serde_json::json;
    use std::time::Duration;

    fn queue(bound: usize) -> Queue {
        Queue::new(NonZeroUsize::new(bound).unwrap())
    }

    fn single(number: u64) -> Event {
        Event::Named { name: OwnName::new("n").unwrap(), payload: json!(number) }
    }

    fn info(current_size: u64) -> Event {
        let created_at = Timestamp::EPOCH;
        let memory = MemoryInfo { current_size, total_size: 9, system_wide_used_size: 9, created_at };
        Event::SystemInfo(SystemInfo { cpu: CpuInfo { used_ratio: 0.0, created_at }, memory })
    }

    fn status(crawler: &str, message: &str) -> Event {
        Event::CrawlerStatus { crawler_id: CrawlerId::new(crawler).unwrap(), message: message.to_owned() }
    }

    fn persist(is_migrating: bool) -> Event {
        Event::PersistState { is_migrating }
    }

    fn push(queue: &mut Queue, events: impl IntoIterator<Item = Event>) -> Vec<Pushed> {
        events.into_iter().map(|event| queue.push(&Arc::new(event))).collect()
    }

    fn drain(queue: &mut Queue) -> Vec<Event> {
        std::iter::from_fn(|| queue.pop()).map(|(_, event)| Arc::unwrap_or_clone(event)).collect()
    }

    #[test]
    fn events_come_out_in_the_order_they_went_in() {
        let mut queue = queue(8);
        push(&mut queue, [single(1), info(1), single(2), Event::Exit]);
        assert_eq!(drain(&mut queue), [single(1), info(1), single(2), Event::Exit]);
    }

    #[test]
    fn of_a_level_only_the_newest_waits_in_the_place_of_the_first() {
        let mut queue = queue(8);
        push(&mut queue, [info(1), status("a", "old"), single(1), status("b", "b"), info(2), status("a", "new"), info(3)]);
        assert_eq!(queue.replaced, 3);
        assert_eq!(drain(&mut queue), [info(3), status("a", "new"), single(1), status("b", "b")]);
        push(&mut queue, [info(4)]);
        assert_eq!(drain(&mut queue), [info(4)], "one that was taken out is replaced no more");
    }

    #[test]
    fn of_a_call_to_act_one_waits_behind_all_that_came_before_it() {
        let mut queue = queue(8);
        let seconds = |left| Event::Migrating { time_remaining: Some(Duration::from_secs(left)) };
        push(&mut queue, [persist(true), seconds(9), single(1), Event::Aborting, persist(false), seconds(3), Event::Aborting]);
        assert_eq!(drain(&mut queue), [single(1), persist(true), seconds(3), Event::Aborting]);
    }

    #[test]
    fn calls_to_act_and_levels_find_a_place_in_a_full_queue_and_others_do_not() {
        let mut queue = queue(2);
        assert_eq!(push(&mut queue, [single(1), single(2)]), [Pushed::Waits; 2]);
        assert_eq!(push(&mut queue, [single(3), single(4)]), [Pushed::DroppedFirst, Pushed::Dropped]);
        let migrating = Event::Migrating { time_remaining: None };
        let wanted = [persist(false), migrating, Event::Aborting, Event::Exit, info(1), status("a", "")];
        assert_eq!(push(&mut queue, wanted.clone()), [Pushed::Waits; 6]);
        assert_eq!(queue.dropped, 2);
        assert_eq!(drain(&mut queue), [vec![single(1), single(2)], wanted.to_vec()].concat());
    }

    #[test]
    fn a_burst_of_dropped_events_is_told_once_and_ends_when_half_the_places_are_free() {
        let mut queue = queue(4);
        push(&mut queue, (0..4).map(single));
        assert_eq!(push(&mut queue, [single(5)]), [Pushed::DroppedFirst]);
        queue.pop();
        assert_eq!(push(&mut queue, [single(6), single(7)]), [Pushed::Waits, Pushed::Dropped], "the same burst");
        queue.pop();
        queue.pop();
        assert_eq!(push(&mut queue, (0..3).map(single)), [Pushed::Waits, Pushed::Waits, Pushed::DroppedFirst], "another burst");
        assert_eq!(queue.dropped, 3);
    }

    #[test]
    fn what_is_forgotten_frees_its_places() {
        let mut queue = queue(2);
        push(&mut queue, [single(1), Event::Exit, single(2)]);
        queue.forget(&EventName::Named(OwnName::new("n").unwrap()).into());
        assert_eq!(push(&mut queue, [single(3), single(4)]), [Pushed::Waits; 2]);
        assert_eq!(drain(&mut queue), [Event::Exit, single(3), single(4)]);
    }

    #[test]
    fn tickets_grow_along_the_queue_also_when_an_event_moves_to_the_end() {
        let mut queue = queue(8);
        push(&mut queue, [persist(false), single(1), info(1), persist(false), info(2)]);
        let tickets: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(ticket, _)| ticket).collect();
        assert!(tickets.is_sorted() && tickets.last() == Some(&queue.last()), "{tickets:?}");
    }
}
