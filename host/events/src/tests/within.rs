//! What a listener may do from within itself.

use super::*;
use crate::Owner;
use futures_util::future::join;

/// A listener that does something with the access point when it is called.
fn acting<A>(events: &Events, act: impl Fn(Events, Event) -> A + Send + 'static) -> Listener
where
    A: Future<Output = ()> + Send + 'static,
{
    let events = events.clone();
    Listener::new(move |event| act(events.clone(), event))
}

/// An owner that a listener takes and closes.
fn handed(owner: Owner) -> Arc<Mutex<Option<Owner>>> {
    Arc::new(Mutex::new(Some(owner)))
}

async fn close_handed(owner: &Mutex<Option<Owner>>) {
    let owner = owner.lock().unwrap().take();
    if let Some(owner) = owner {
        owner.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn it_may_register_emit_and_take_off() {
    let (events, diary) = (events(quiet()), Diary::new());
    let inner = diary.clone();
    let listener = acting(&events, move |events, _| {
        let diary = inner.clone();
        async move {
            events.on(EventName::Named(low()), diary.quick()).unwrap();
            events.emit(numbered(1)).unwrap();
            events.off(EventName::Exit, None);
        }
    });
    events.on(EventName::Exit, listener).unwrap();
    events.emit(Event::Exit).unwrap();
    events.emit(Event::Exit).unwrap();
    all_done(&events).await;
    all_done(&events).await;
    assert_eq!(diary.numbers(), [1]);
}

#[tokio::test(start_paused = true)]
async fn it_may_wait_for_all_others_and_two_that_wait_do_not_wait_for_each_other() {
    let (events, diary) = (events(quiet()), Diary::new());
    for _ in 0..2 {
        let diary = diary.clone();
        let waiting = acting(&events, move |events, event| {
            let diary = diary.clone();
            async move {
                all_done(&events).await;
                diary.write(event);
            }
        });
        events.on(EventName::Exit, waiting).unwrap();
    }
    events.on(EventName::Exit, diary.listener(Duration::from_secs(5))).unwrap();
    events.emit(Event::Exit).unwrap();
    all_done(&events).await;
    assert_eq!(diary.seconds(), [0.0, 5.0, 5.0]);
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_also_when_the_other_begins_to_wait_later() {
    let (events, diary) = (events(quiet()), Diary::new());
    for delay in [0.0, 3.0] {
        let diary = diary.clone();
        let waiting = acting(&events, move |events, event| {
            let diary = diary.clone();
            async move {
                seconds(delay).await;
                all_done(&events).await;
                diary.write(event);
            }
        });
        events.on(EventName::Exit, waiting).unwrap();
    }
    events.emit(Event::Exit).unwrap();
    all_done(&events).await;
    assert_eq!(diary.seconds(), [3.0, 3.0]);
}

#[tokio::test(start_paused = true)]
async fn it_may_close_as_the_last_owner_and_its_call_goes_on() {
    let (events, diary) = (events(quiet()), Diary::new());
    let owner = handed(events.enter().await.unwrap());
    let inner = diary.clone();
    let closing = acting(&events, move |_, event| {
        let (owner, diary) = (Arc::clone(&owner), inner.clone());
        async move {
            close_handed(&owner).await;
            seconds(1.0).await;
            diary.write(event);
        }
    });
    events.on(EventName::Exit, closing).unwrap();
    events.on(EventName::PersistState, diary.listener(Duration::from_secs(5))).unwrap();
    events.emit(Event::Exit).unwrap();
    all_done(&events).await;
    assert_eq!(diary.names(), [EventName::PersistState, EventName::Exit]);
    assert_eq!(diary.seconds(), [0.0, 6.0]);
}

#[tokio::test(start_paused = true)]
async fn it_may_close_another_owner_while_the_manager_is_being_closed() {
    let (events, diary) = (events(quiet()), Diary::new());
    let owner = events.enter().await.unwrap();
    let inner = diary.clone();
    let comes_and_goes = acting(&events, move |events, event| {
        let diary = inner.clone();
        async move {
            diary.write(event);
            if diary.events().len() == 1 {
                events.enter().await.unwrap().close().await;
            }
        }
    });
    events.on(EventName::PersistState, comes_and_goes).unwrap();
    let other = Diary::new();
    events.on(EventName::PersistState, other.quick()).unwrap();
    owner.close().await;
    all_done(&events).await;
    assert_eq!(diary.count(&EventName::PersistState), 1, "who closes from within is in its call until the manager has stopped");
    assert_eq!(other.count(&EventName::PersistState), 2);
}

#[tokio::test(start_paused = true)]
async fn one_that_waits_and_one_that_closes_let_each_other_go() {
    let (events, diary) = (events(quiet()), Diary::new());
    let owner = handed(events.enter().await.unwrap());
    events.on(EventName::Exit, acting(&events, |events, _| async move { all_done(&events).await })).unwrap();
    let closing = acting(&events, move |_, _| {
        let owner = Arc::clone(&owner);
        async move {
            seconds(1.0).await;
            close_handed(&owner).await;
        }
    });
    events.on(EventName::Exit, closing).unwrap();
    events.on(EventName::PersistState, diary.quick()).unwrap();
    events.emit(Event::Exit).unwrap();
    all_done(&events).await;
    assert_eq!(diary.events(), [persist()]);
}

#[tokio::test(start_paused = true)]
async fn a_close_from_outside_and_one_from_within_both_end() {
    let (events, diary) = (events(quiet()), Diary::new());
    let owners = (events.enter().await.unwrap(), handed(events.enter().await.unwrap()));
    let inner = Arc::clone(&owners.1);
    let closing = acting(&events, move |_, _| {
        let owner = Arc::clone(&inner);
        async move {
            seconds(2.0).await;
            close_handed(&owner).await;
        }
    });
    events.on(EventName::Exit, closing).unwrap();
    events.on(EventName::PersistState, diary.quick()).unwrap();
    events.emit(Event::Exit).unwrap();
    join(owners.0.close(), all_done(&events)).await;
    assert_eq!(diary.events(), [persist()]);
}

#[tokio::test(start_paused = true)]
async fn what_it_does_does_not_keep_the_manager_open() {
    let (counted, diary) = (Counted::default(), Diary::new());
    let events = events(EventConfig::default().with_sampler(counted.clone()));
    let owner = events.enter().await.unwrap();
    let busy = acting(&events, move |events, _| {
        let diary = diary.clone();
        async move {
            events.emit(numbered(1)).unwrap();
            events.on(EventName::Exit, diary.quick()).unwrap();
        }
    });
    events.on(EventName::PersistState, busy).unwrap();
    owner.close().await;
    let samples = counted.samples();
    seconds(100.0).await;
    assert_eq!(counted.samples(), samples, "it has stopped");
}

#[tokio::test]
async fn a_synchronous_one_may_do_all_of_that_too() {
    let (events, diary) = (events(quiet()), Diary::new());
    let owner = handed(events.enter().await.unwrap());
    let (inner, access, given) = (diary.clone(), events.clone(), Arc::clone(&owner));
    let (done, was_done) = tokio::sync::oneshot::channel();
    let mut done = Some(done);
    let runtime = Handle::current();
    let busy = Listener::blocking_without_event(move || {
        access.on(EventName::Named(low()), inner.quick()).unwrap();
        access.emit(numbered(1)).unwrap();
        runtime.block_on(async {
            all_done(&access).await;
            close_handed(&given).await;
        });
        if let Some(done) = done.take() {
            done.send(()).unwrap();
        }
    });
    events.on(EventName::Exit, busy).unwrap();
    events.on(EventName::PersistState, diary.quick()).unwrap();
    events.emit(Event::Exit).unwrap();
    was_done.await.unwrap();
    assert_eq!(diary.events(), [numbered(1), persist()]);
}
