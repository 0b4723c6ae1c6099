//! The sessions of a pool, and which of them is taken next.
//!
//! Decision: those that may be taken stand in one line. A session that is found to be usable no more, or is in hand and exclusive,
//! leaves the line when its turn comes, and enters it again when it is free; so each checkout costs the same however many sessions
//! there are. A session has a number for each of its uses, out of ranges that the store has reserved: what has no number is not
//! begun, so that no limit is ever overshot, whatever is in flight.

use crate::jar::CookieJar;
use crate::settings::{ReuseStrategy, Sharing};
use nephila_model::{SessionDelta, SessionId, SessionRecord, Timestamp, Unusable, UseNumber, UseRange};
use std::collections::{HashMap, VecDeque};

/// Sessions that are gone and may stand in the line, beside as many as there are live ones twice over.
const SPARE: usize = 64;

/// A session in memory.
#[derive(Debug)]
pub(crate) struct Entry {
    /// As the store has it, once what is in hand is committed; the cookies are in the jar.
    pub(crate) record: SessionRecord,
    pub(crate) jar: CookieJar,
    // Uses that are reserved and not begun.
    ranges: VecDeque<UseRange>,
    // Uses that have begun and not ended.
    in_hand: u32,
    // Whether more uses are being reserved for it. One at a time: what is reserved and not begun is lost if the process is killed.
    reservation: OnItsWay,
    // Whether it stands in the line.
    listed: bool,
    // Whether it counts to the pool's size. One that has none is never taken again, and is forgotten when nobody has it in hand and
    // none of its uses is to be returned.
    placed: bool,
}

impl Entry {
    fn take(&mut self) -> Option<UseNumber> {
        let number = loop {
            match self.ranges.front_mut()?.take() {
                Some(number) => break number,
                None => drop(self.ranges.pop_front()),
            }
        };
        self.in_hand += 1;
        Some(number)
    }

    // Whether uses came back when it was taken for used up. One that is over by itself needs none any more.
    fn has_uses_to_return(&self) -> bool {
        self.record.unusable(self.record.created_at).is_none() && self.ranges.iter().any(|range| range.count() > 0)
    }
}

/// Whether somebody is on an errand for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnItsWay {
    Yes,
    No,
}

/// What comes of asking for a session.
#[derive(Debug, PartialEq)]
pub(crate) enum Pick {
    /// This use of this session.
    Use(SessionId, UseNumber),
    /// This session, once it has more uses: whoever asked is to reserve them.
    Reserve(SessionId),
    /// One for which somebody else is reserving uses: ask again when that is done.
    Arriving,
    /// Nobody is free.
    Nobody,
}

/// What comes of asking for one session.
#[derive(Debug, PartialEq)]
pub(crate) enum Bound {
    /// This use.
    Use(UseNumber),
    /// It needs more uses: whoever asked is to reserve them.
    Reserve,
    /// It needs more uses, which somebody else is reserving: ask again when that is done.
    Arriving,
    /// It is not there.
    Gone,
    /// It may be used no more.
    Unusable(Unusable),
    /// Somebody has it.
    Busy,
}

/// The sessions of a pool.
#[derive(Debug)]
pub(crate) struct Roster {
    strategy: ReuseStrategy,
    sharing: Sharing,
    entries: HashMap<SessionId, Entry>,
    line: VecDeque<SessionId>,
    // Sessions that have a place, and those that are on their way to one.
    places: usize,
    // Of these, those that are on their way.
    arriving: usize,
    // Sessions that have left.
    left: u64,
    pub(crate) dice: fastrand::Rng,
}

impl Roster {
    pub(crate) fn new(strategy: ReuseStrategy, sharing: Sharing, dice: fastrand::Rng) -> Self {
        Self { strategy, sharing, entries: HashMap::new(), line: VecDeque::new(), places: 0, arriving: 0, left: 0, dice }
    }

    pub(crate) const fn places(&self) -> usize {
        self.places
    }

    /// Whether a session is on its way for which whoever asks had better wait: where all are to have the same one, a second one that
    /// is made meanwhile would be one too many.
    pub(crate) fn is_worth_waiting(&self) -> bool {
        self.arriving > 0 && self.strategy == ReuseStrategy::UntilFailure && self.sharing == Sharing::Concurrent
    }

    /// A session is on its way: it has its place already.
    pub(crate) const fn expect(&mut self) {
        self.places += 1;
        self.arriving += 1;
    }

    /// It does not come.
    pub(crate) const fn expect_no_more(&mut self) {
        self.places -= 1;
        self.arriving -= 1;
    }

    pub(crate) fn get(&self, id: &SessionId) -> Option<&Entry> {
        self.entries.get(id)
    }

    pub(crate) fn get_mut(&mut self, id: &SessionId) -> Option<&mut Entry> {
        self.entries.get_mut(id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    #[cfg(test)]
    pub(crate) fn line_length(&self) -> usize {
        self.line.len()
    }

    /// Sessions that have left since the pool was made.
    pub(crate) const fn left(&self) -> u64 {
        self.left
    }

    /// A session comes, with uses that were reserved for it. It has its place ([`Roster::expect`]), and gives it back where it is here already:
    /// somebody who looked for it in the store may have been quicker than whoever had it made.
    pub(crate) fn arrive(&mut self, mut record: SessionRecord, range: Option<UseRange>, now: Timestamp) {
        let id = record.id.clone();
        self.arriving -= 1;
        if self.entries.contains_key(&id) {
            self.places -= 1;
            if range.is_some() {
                self.granted(&id, range);
            }
            return;
        }
        record.reserved = record.reserved.max(range.map_or(0, |range| range.last.0));
        let jar = CookieJar::new(std::mem::take(&mut record.cookies), now);
        let entry = Entry {
            record,
            jar,
            ranges: range.into_iter().collect(),
            in_hand: 0,
            reservation: OnItsWay::No,
            listed: false,
            placed: true,
        };
        self.entries.insert(id.clone(), entry);
        self.enlist(&id);
    }

    /// The same, for whoever had it made: gives the first use, however old the session is by now.
    pub(crate) fn arrive_in_use(&mut self, record: SessionRecord, range: Option<UseRange>, now: Timestamp) -> Option<UseNumber> {
        let id = record.id.clone();
        self.arrive(record, range, now);
        self.entries.get_mut(&id)?.take()
    }

    /// A session has more uses; `None`: the store has none for it any more.
    pub(crate) fn granted(&mut self, id: &SessionId, range: Option<UseRange>) {
        let Some(entry) = self.entries.get_mut(id) else { return };
        match range {
            Some(range) => {
                entry.record.reserved = entry.record.reserved.max(range.last.0);
                entry.ranges.push_back(range);
            }
            None => entry.record.reserved = entry.record.settings.max_uses,
        }
    }

    /// Nobody is reserving uses of a session any more, whether it has got some or not.
    pub(crate) fn reserved(&mut self, id: &SessionId) {
        if let Some(entry) = self.entries.get_mut(id) {
            entry.reservation = OnItsWay::No;
        }
    }

    /// Whether there is a session that may be used, now or once it is free, or one on its way.
    pub(crate) fn has_hope(&self, now: Timestamp) -> bool {
        self.arriving > 0 || self.entries.values().any(|entry| entry.placed && entry.record.unusable(now).is_none())
    }

    /// The session whose turn it is.
    pub(crate) fn pick(&mut self, now: Timestamp) -> Pick {
        let mut passed = 0;
        while !self.line.is_empty() {
            let at = match self.strategy {
                ReuseStrategy::Random => self.dice.usize(..self.line.len()),
                ReuseStrategy::RoundRobin | ReuseStrategy::UntilFailure => 0,
            };
            let Some(id) = self.line.get(at).cloned() else { break };
            match self.bind(&id, now) {
                Bound::Use(number) => {
                    match (self.sharing, self.strategy) {
                        (Sharing::Exclusive, _) => self.delist(at),
                        (Sharing::Concurrent, ReuseStrategy::RoundRobin) => self.line.rotate_left(1),
                        (Sharing::Concurrent, ReuseStrategy::Random | ReuseStrategy::UntilFailure) => {}
                    }
                    return Pick::Use(id, number);
                }
                Bound::Reserve => {
                    // Its turn is taken all the same.
                    if self.strategy == ReuseStrategy::RoundRobin {
                        self.line.rotate_left(1);
                    }
                    return Pick::Reserve(id);
                }
                Bound::Arriving => {
                    // By turns the others come first, as far as there are any; who waits is woken in a moment.
                    if self.strategy == ReuseStrategy::RoundRobin && passed < self.line.len() {
                        passed += 1;
                        self.line.rotate_left(1);
                        continue;
                    }
                    return Pick::Arriving;
                }
                Bound::Gone | Bound::Unusable(_) | Bound::Busy => self.delist(at),
            }
        }
        Pick::Nobody
    }

    /// This session, whoever's turn it is.
    pub(crate) fn bind(&mut self, id: &SessionId, now: Timestamp) -> Bound {
        let Some(entry) = self.entries.get_mut(id) else { return Bound::Gone };
        let used_up = Unusable::UsedUp { max: entry.record.settings.max_uses };
        if let Some(why) = entry.record.unusable(now) {
            self.leave(id);
            return Bound::Unusable(why);
        }
        if !entry.placed {
            return Bound::Unusable(used_up);
        }
        if self.sharing == Sharing::Exclusive && entry.in_hand > 0 {
            return Bound::Busy;
        }
        if let Some(number) = entry.take() {
            return Bound::Use(number);
        }
        if entry.record.reserved < entry.record.settings.max_uses {
            return match std::mem::replace(&mut entry.reservation, OnItsWay::Yes) {
                OnItsWay::Yes => Bound::Arriving,
                OnItsWay::No => Bound::Reserve,
            };
        }
        // Its last uses are in hand.
        self.leave(id);
        Bound::Unusable(used_up)
    }

    /// A use ends, with what it did. Says why the session is used no more, if this use ended that.
    pub(crate) fn end(&mut self, delta: &mut SessionDelta, now: Timestamp) -> Option<Unusable> {
        let entry = self.entries.get_mut(&delta.session)?;
        entry.in_hand = entry.in_hand.saturating_sub(1);
        let ended = entry.record.end_use(delta, now);
        // Its score may have said so.
        delta.retired |= matches!(ended, Some(Unusable::Blocked { .. } | Unusable::Retired));
        match entry.record.unusable(now) {
            Some(_) => self.leave(&delta.session),
            None => self.free(&delta.session),
        }
        ended
    }

    /// A use that never began goes back, and may be taken again.
    pub(crate) fn give_back(&mut self, id: &SessionId, number: UseNumber) {
        let Some(entry) = self.entries.get_mut(id) else { return };
        entry.in_hand = entry.in_hand.saturating_sub(1);
        entry.ranges.push_front(UseRange { first: number, last: number });
        self.free(id);
    }

    /// Uses that are reserved and were not begun; from now on they are nobody's. What stayed for its uses alone is forgotten.
    pub(crate) fn take_unused(&mut self) -> Vec<(SessionId, UseRange)> {
        let mut unused = Vec::new();
        for (id, entry) in &mut self.entries {
            let ranges = entry.ranges.drain(..).filter(|range| range.count() > 0);
            unused.extend(ranges.map(|range| (id.clone(), range)));
        }
        // The last ones first: a store takes back what is at the end alone.
        unused.sort_unstable_by(|(a, x), (b, y)| (a, y.last).cmp(&(b, x.last)));
        self.entries.retain(|_, entry| entry.placed || entry.in_hand > 0);
        unused
    }

    // Nobody has it in hand, or one fewer.
    fn free(&mut self, id: &SessionId) {
        let Some(entry) = self.entries.get(id) else { return };
        if entry.placed {
            self.enlist(id);
        } else if entry.in_hand == 0 && !entry.has_uses_to_return() {
            self.entries.remove(id);
        }
    }

    fn enlist(&mut self, id: &SessionId) {
        let Some(entry) = self.entries.get_mut(id).filter(|entry| !entry.listed) else { return };
        entry.listed = true;
        match self.strategy {
            ReuseStrategy::UntilFailure => self.line.push_front(id.clone()),
            ReuseStrategy::Random | ReuseStrategy::RoundRobin => self.line.push_back(id.clone()),
        }
        self.shorten();
    }

    // Those that are gone leave the line when their turn comes, and while a pool grows no turn does. What this costs is paid by those that
    // came since it was done last.
    fn shorten(&mut self) {
        if self.line.len() <= 2 * self.places + SPARE {
            return;
        }
        let entries = &mut self.entries;
        self.line.retain(|id| match entries.get_mut(id) {
            Some(entry) if entry.placed => true,
            Some(entry) => {
                entry.listed = false;
                false
            }
            None => false,
        });
    }

    fn delist(&mut self, at: usize) {
        let gone = match self.strategy {
            ReuseStrategy::Random => self.line.swap_remove_back(at),
            ReuseStrategy::RoundRobin | ReuseStrategy::UntilFailure => self.line.remove(at),
        };
        if let Some(entry) = gone.and_then(|id| self.entries.get_mut(&id)) {
            entry.listed = false;
        }
    }

    // It is never taken again. In the line it may stand until its turn comes.
    fn leave(&mut self, id: &SessionId) {
        let Some(entry) = self.entries.get_mut(id) else { return };
        if std::mem::replace(&mut entry.placed, false) {
            self.places -= 1;
            self.left += 1;
        }
        if entry.in_hand == 0 {
            self.entries.remove(id);
        }
        self.shorten();
    }
}
