//! Owners, and what their leaving does.

use super::*;

#[tokio::test(start_paused = true)]
async fn the_last_close_waits_for_the_last_persist_state_and_for_all_else() {
    let (events, diary) = (events(quiet()), Diary::new());
    let owner = events.enter().await.unwrap();
    events.on([EventName::PersistState, EventName::Exit], diary.listener(Duration::from_secs(2))).unwrap();
    events.on(EventName::Exit, diary.listener(Duration::from_secs(9))).unwrap();
    events.emit(Event::Exit).unwrap();
    owner.close().await;
    assert_eq!(diary.began.elapsed(), Duration::from_secs(9));
    assert_eq!(diary.count(&EventName::PersistState), 1);
}

#[tokio::test(start_paused = true)]
async fn a_close_that_is_not_the_last_emits_nothing_and_clears_nothing() {
    let (events, diary) = (events(quiet()), Diary::new());
    let (first, second) = (events.enter().await.unwrap(), events.enter().await.unwrap());
    events.on([EventName::PersistState, EventName::Exit], diary.quick()).unwrap();
    first.close().await;
    events.emit(Event::Exit).unwrap();
    second.close().await;
    assert_eq!(diary.names(), [EventName::Exit, EventName::PersistState]);
    events.emit(Event::Exit).unwrap();
    all_done(&events).await;
    assert_eq!(diary.names().len(), 2, "listeners were cleared");
    events.run(async {}).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_lazily_started_manager_outlives_owners_and_is_closed_by_the_wrapper() {
    let (counted, diary) = (Counted::default(), Diary::new());
    let events = events(EventConfig::default().with_sampler(counted.clone()));
    events.on(EventName::PersistState, diary.quick()).unwrap();
    seconds(1.0).await;
    let owner = events.enter().await.unwrap();
    seconds(1.0).await;
    owner.close().await;
    seconds(68.0).await;
    assert_eq!(diary.seconds(), [0.0, 60.0], "it went on");
    events.run(async {}).await.unwrap();
    assert_eq!(diary.seconds(), [0.0, 60.0, 70.0]);
    let samples = counted.samples();
    seconds(100.0).await;
    assert_eq!((diary.seconds().len(), counted.samples()), (3, samples), "it has stopped");
}

#[tokio::test(start_paused = true)]
async fn an_emit_starts_the_manager_too() {
    let counted = Counted::default();
    let events = events(EventConfig::default().with_sampler(counted.clone()));
    events.emit(Event::Exit).unwrap();
    seconds(1.5).await;
    assert_eq!(counted.samples(), 2);
    events.enter().await.unwrap().close().await;
    seconds(1.0).await;
    assert_eq!(counted.samples(), 3, "an owner that came and went did not stop it");
    events.run(async {}).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_entry_during_the_close_keeps_listeners_and_timers() {
    let (counted, diary) = (Counted::default(), Diary::new());
    let events = events(EventConfig::default().with_sampler(counted.clone()));
    let owner = events.enter().await.unwrap();
    events.on(EventName::PersistState, diary.listener(Duration::from_secs(10))).unwrap();
    let close = tokio::spawn(owner.close());
    seconds(5.0).await;
    assert!(!close.is_finished());
    let samples = counted.samples();
    let other = events.enter().await.unwrap();
    close.await.unwrap();
    assert_eq!((diary.seconds(), counted.samples()), (vec![0.0], samples), "timers stand still during a close");
    seconds(65.0).await;
    assert_eq!(diary.seconds(), [0.0, 70.0], "the close ended at 10 s, and an interval later it goes on");
    assert!(counted.samples() > samples + 60);
    other.close().await;
    assert_eq!(diary.count(&EventName::PersistState), 3);
    seconds(100.0).await;
    assert_eq!(diary.count(&EventName::PersistState), 3);
}

#[tokio::test(start_paused = true)]
async fn one_that_comes_and_goes_during_the_close_has_a_last_persist_state_of_its_own() {
    let (events, diary) = (events(quiet()), Diary::new());
    let owner = events.enter().await.unwrap();
    events.on([EventName::PersistState], diary.listener(Duration::from_secs(10))).unwrap();
    let first = tokio::spawn(owner.close());
    seconds(5.0).await;
    events.enter().await.unwrap().close().await;
    assert!(first.is_finished());
    assert_eq!((diary.seconds(), diary.began.elapsed()), (vec![0.0, 10.0], Duration::from_secs(20)));
}

#[tokio::test(start_paused = true)]
async fn closes_at_once_all_end_with_one_last_persist_state() {
    let (events, diary) = (events(quiet()), Diary::new());
    let owners = [events.enter().await.unwrap(), events.enter().await.unwrap(), events.enter().await.unwrap()];
    events.on(EventName::PersistState, diary.quick()).unwrap();
    futures_util::future::join_all(owners.map(|owner| owner.close())).await;
    assert_eq!(diary.count(&EventName::PersistState), 1);
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_is_dropped_gives_its_reference_back_and_says_so() {
    let (log, _guard) = Log::begin();
    let (events, diary) = (events(EventConfig::default()), Diary::new());
    let owner = events.enter().await.unwrap();
    events.on(EventName::PersistState, diary.quick()).unwrap();
    drop(owner);
    seconds(100.0).await;
    assert_eq!(diary.events(), [], "no last event, and no timer");
    assert_eq!(log.lines_with("dropped without a close").len(), 1);
    let (first, second) = (events.enter().await.unwrap(), events.enter().await.unwrap());
    events.on(EventName::PersistState, diary.quick()).unwrap();
    drop(first);
    second.close().await;
    assert_eq!(diary.events(), [persist()], "the other one's close is the last");
}

#[tokio::test(start_paused = true)]
async fn a_close_that_is_given_up_is_carried_through() {
    let (events, diary) = (events(quiet()), Diary::new());
    let owner = events.enter().await.unwrap();
    events.on(EventName::PersistState, diary.listener(Duration::from_secs(10))).unwrap();
    assert!(tokio::time::timeout(Duration::from_secs(1), owner.close()).await.is_err());
    seconds(20.0).await;
    assert_eq!(diary.events(), [persist()]);
    events.emit(persist()).unwrap();
    all_done(&events).await;
    assert_eq!(diary.events(), [persist()], "listeners were cleared");
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_hangs_keeps_nobody_from_closing_and_is_named() {
    let (log, _guard) = Log::begin();
    let (events, diary) = (events(EventConfig { close_timeout: Duration::from_secs(7), ..quiet() }), Diary::new());
    let owner = events.enter().await.unwrap();
    let ended = Arc::new(());
    let held = Arc::clone(&ended);
    let hanging = Listener::without_event(move || {
        let held = Arc::clone(&held);
        async move {
            std::future::pending::<()>().await;
            drop(held);
        }
    });
    events.on(EventName::Exit, hanging.named("the hanging one")).unwrap();
    events.emit(Event::Exit).unwrap();
    owner.close().await;
    assert_eq!(diary.began.elapsed(), Duration::from_secs(7));
    let warnings = log.lines_with("closes without waiting longer");
    assert!(warnings.len() == 1 && warnings[0].contains("the hanging one"), "{warnings:?}");
    while Arc::strong_count(&ended) > 1 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_wrapper_closes_also_when_its_future_panics() {
    let (events, diary) = (events(quiet()), Diary::new());
    events.on(EventName::PersistState, diary.quick()).unwrap();
    all_done(&events).await;
    let wrapped = events.clone();
    let ended = tokio::spawn(async move { wrapped.run(async { panic!("the crawl") }).await }).await;
    assert!(ended.unwrap_err().is_panic());
    assert_eq!(diary.events(), [persist(), persist()]);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_comes_during_the_wrappers_close_gets_a_last_persist_state() {
    let (events, slow, late) = (events(quiet()), Diary::new(), Diary::new());
    let wrapped = events.clone();
    let listener = slow.listener(Duration::from_secs(10));
    let run = tokio::spawn(async move {
        wrapped.run(async { wrapped.on(EventName::PersistState, listener).map(|_| ()) }).await.unwrap().unwrap();
    });
    seconds(5.0).await;
    events.on(EventName::PersistState, late.quick()).unwrap();
    run.await.unwrap();
    assert_eq!((slow.seconds(), late.seconds()), (vec![0.0, 10.0], vec![10.0]));
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_comes_during_an_owners_close_starts_the_manager_for_itself() {
    let (events, slow, late) = (events(EventConfig::default()), Diary::new(), Diary::new());
    let owner = events.enter().await.unwrap();
    events.on(EventName::PersistState, slow.listener(Duration::from_secs(10))).unwrap();
    let close = tokio::spawn(owner.close());
    seconds(5.0).await;
    events.on(EventName::PersistState, late.quick()).unwrap();
    close.await.unwrap();
    seconds(61.0).await;
    assert_eq!(late.seconds(), [70.0]);
    events.run(async {}).await.unwrap();
}
