//! Every interleaving of two owners, and of three as far as patience goes, with loom.
//!
//! The house around the state machine is modelled as what it is in `house.rs`: under the one lock, each answer of the machine is
//! carried out at once; the wait for listeners is a moment without the lock, in which anything may happen. Loom then tries every
//! order of the threads' steps, and finds any in which a thread waits for ever.

use super::{Abandonment, Arrival, Conclusion, Departure, Leaving, Ownership, Touch};
use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
use loom::thread;

#[derive(Default)]
struct House {
    ownership: Ownership,
    timers: usize,
    starts: usize,
    listeners: Vec<Listener>,
    /// What there is to persist: grows with each change that somebody makes.
    changes: u32,
    /// How much of it a last `persistState` has told.
    told: u32,
    /// How much of that its listeners are done with.
    persisted: u32,
    rounds: u32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Listener(&'static str);

#[derive(Default)]
struct Model {
    house: Mutex<House>,
    over: Condvar,
}

impl Model {
    fn lock(&self) -> MutexGuard<'_, House> {
        self.house.lock().unwrap()
    }

    fn enter(&self) {
        let mut house = self.lock();
        let arrival = house.ownership.enter();
        house.arrived(arrival);
    }

    /// Registers a listener without having entered.
    fn on(&self, listener: Listener) {
        let mut house = self.lock();
        let arrival = house.ownership.touch(Touch::Listen);
        house.listeners.push(listener);
        house.changes += 1;
        house.arrived(arrival);
    }

    /// Registers a listener as an owner, who changes something that the next close has to tell.
    fn work(&self, listener: Listener) {
        let mut house = self.lock();
        assert_eq!(house.ownership.touch(Touch::Listen), Arrival::Runs, "it runs while somebody owns it");
        house.listeners.push(listener);
        house.changes += 1;
    }

    fn close(&self, leaving: Leaving) {
        let mut house = self.lock();
        let mine = house.changes;
        let round = match house.ownership.leave(leaving) {
            Departure::NotLast => return,
            Departure::Joins(round) => round,
            Departure::Last(round) => {
                house.send_last();
                drop(house);
                self.conclude_rounds();
                house = self.lock();
                round
            }
        };
        while house.ownership.over() < round {
            house = self.over.wait(house).unwrap();
        }
        assert!(
            house.persisted >= mine || house.timers == 1 || !house.listeners.is_empty(),
            "a close that returns has told everything, or was not the last"
        );
    }

    fn abandon(&self) {
        let mut house = self.lock();
        if house.ownership.abandon() == Abandonment::Stops {
            house.timers -= 1;
            house.listeners.clear();
        }
    }

    /// What the task that closes does, with a wait for listeners before each conclusion.
    fn conclude_rounds(&self) {
        loop {
            thread::yield_now();
            let mut house = self.lock();
            house.persisted = house.told;
            let conclusion = house.ownership.conclude();
            match conclusion {
                Conclusion::GoesOn => house.timers += 1,
                Conclusion::OnceMore => {
                    house.told = house.changes;
                    house.rounds += 1;
                }
                Conclusion::Stops => house.listeners.clear(),
            }
            self.over.notify_all();
            if conclusion != Conclusion::OnceMore {
                return;
            }
        }
    }
}

impl House {
    fn arrived(&mut self, arrival: Arrival) {
        if arrival == Arrival::Starts {
            assert_eq!(self.timers, 0, "never two sets of timers");
            self.timers += 1;
            self.starts += 1;
        }
    }

    fn send_last(&mut self) {
        self.timers -= 1;
        self.told = self.changes;
        self.rounds += 1;
    }

    fn assert_stopped(&self) {
        assert_eq!(self.timers, 0);
        assert!(self.listeners.is_empty());
        assert_eq!(self.persisted, self.changes, "nothing was left untold");
    }

    fn assert_runs(&self, listeners: &[Listener]) {
        assert_eq!(self.timers, 1);
        assert_eq!(self.listeners, listeners);
    }
}

/// How often the turn is taken from a thread that could go on, where there are more than two of them. The number of orders grows
/// beyond all patience; with two threads, there is no limit. `LOOM_MAX_PREEMPTIONS=3` tries more of them, in seconds.
const BOUND: usize = 2;

/// Runs the threads in every order, and looks at the house when all are done.
fn in_every_order<const N: usize>(before: fn(&Model), threads: [fn(&Model); N], after: impl Fn(&Model) + Send + Sync + 'static) {
    let mut every = loom::model::Builder::new();
    if N > 2 {
        every.preemption_bound = every.preemption_bound.or(Some(BOUND));
    }
    every.check(move || {
        let model = Arc::new(Model::default());
        before(&model);
        let running = threads.map(|run| {
            let model = Arc::clone(&model);
            thread::spawn(move || run(&model))
        });
        for thread in running {
            thread.join().unwrap();
        }
        after(&model);
    });
}

const A: Listener = Listener("a");
const B: Listener = Listener("b");
const KEPT: Listener = Listener("kept");

fn come_and_go(model: &Model) {
    model.enter();
    model.work(A);
    model.close(Leaving::Own);
}

fn nothing(_: &Model) {}

#[test]
fn two_owners_that_close_at_once_have_one_last_persist_state() {
    let before = |model: &Model| {
        model.enter();
        model.enter();
        model.work(A);
        model.work(B);
    };
    let close = |model: &Model| model.close(Leaving::Own);
    in_every_order(before, [close, close], |model| {
        let house = model.lock();
        assert_eq!(house.rounds, 1);
        house.assert_stopped();
    });
}

#[test]
fn an_entry_during_the_last_close_keeps_timers_and_listeners() {
    let before = |model: &Model| {
        model.enter();
        model.work(A);
    };
    let close: fn(&Model) = |model| model.close(Leaving::Own);
    let enter: fn(&Model) = |model| {
        model.enter();
        model.work(B);
    };
    in_every_order(before, [close, enter], |model| {
        let house = model.lock();
        match house.starts {
            // It came before the last close was concluded: everything stays.
            1 => house.assert_runs(&[A, B]),
            // It came afterwards, to an empty house.
            _ => house.assert_runs(&[B]),
        }
        drop(house);
        model.close(Leaving::Own);
        model.lock().assert_stopped();
    });
}

#[test]
fn two_entries_during_the_last_close_that_close_again_lose_nothing() {
    let before = |model: &Model| {
        model.enter();
        model.work(A);
    };
    let close: fn(&Model) = |model| model.close(Leaving::Own);
    in_every_order(before, [close, come_and_go, come_and_go], |model| {
        let house = model.lock();
        assert!((1..=3).contains(&house.rounds));
        house.assert_stopped();
    });
}

#[test]
fn one_that_comes_and_goes_during_the_close_is_let_go_when_another_one_stays() {
    let before = |model: &Model| {
        model.enter();
        model.work(A);
    };
    let close: fn(&Model) = |model| model.close(Leaving::Own);
    in_every_order(before, [close, come_and_go, |model| model.enter()], |model| {
        // Nobody waits for the one that stays: it could not be joined if anybody did.
        assert_eq!(model.lock().timers, 1);
        model.close(Leaving::Own);
        model.lock().assert_stopped();
    });
}

#[test]
fn owners_that_come_and_go_lose_nothing() {
    in_every_order(nothing, [come_and_go, come_and_go], |model| {
        let house = model.lock();
        assert!(house.rounds == house.starts as u32 || house.rounds == house.starts as u32 + 1);
        house.assert_stopped();
    });
}

#[test]
fn a_lazy_start_that_races_an_entry_is_kept_or_closed_with_everything_told() {
    in_every_order(nothing, [|model| model.on(KEPT), come_and_go], |model| {
        let house = model.lock();
        if house.listeners.contains(&KEPT) {
            // It held the manager itself: the owner's close touched neither it nor the timers.
            assert_eq!(house.timers, 1);
            drop(house);
            model.enter();
            model.close(Leaving::OwnAndLazy);
            model.lock().assert_stopped();
        } else {
            house.assert_stopped();
        }
    });
}

#[test]
fn a_lazily_started_one_survives_all_owners() {
    in_every_order(
        |model| model.on(KEPT),
        [come_and_go, come_and_go],
        |model| {
            let house = model.lock();
            assert_eq!((house.timers, house.starts, house.rounds), (1, 1, 0));
            assert!(house.listeners.contains(&KEPT));
        },
    );
}

#[test]
fn the_wrappers_close_races_a_listener_and_an_owner() {
    let before = |model: &Model| {
        model.on(KEPT);
        model.enter();
    };
    let wrapper: fn(&Model) = |model| model.close(Leaving::OwnAndLazy);
    in_every_order(before, [wrapper, |model| model.on(B), come_and_go], |model| {
        let house = model.lock();
        assert!(!house.listeners.contains(&KEPT) || house.timers == 1);
        if house.timers == 0 {
            house.assert_stopped();
        } else {
            // The late listener came when everything was over, and started it anew.
            assert!(house.listeners.contains(&B));
        }
    });
}

#[test]
fn an_abandoned_reference_races_a_close() {
    let before = |model: &Model| {
        model.enter();
        model.enter();
        model.work(A);
    };
    let close: fn(&Model) = |model| model.close(Leaving::Own);
    in_every_order(before, [close, |model| model.abandon()], |model| {
        let house = model.lock();
        assert_eq!(house.timers, 0);
        assert!(house.listeners.is_empty());
    });
}
