//! What the timers send, and when.

use super::*;

#[tokio::test(start_paused = true)]
async fn persist_state_comes_at_the_start_at_each_interval_and_once_at_the_close() {
    let (events, diary) = (events(EventConfig::default()), Diary::new());
    events.on(EventName::PersistState, diary.quick()).unwrap();
    events.run(seconds(150.0)).await.unwrap();
    seconds(1_000.0).await;
    assert_eq!(diary.seconds(), [0.0, 60.0, 120.0, 150.0]);
    assert!(diary.events().iter().all(|event| *event == persist()));
}

#[tokio::test(start_paused = true)]
async fn intervals_are_measured_from_start_to_start() {
    let (events, diary) = (events(EventConfig::default()), Diary::new());
    events.on(EventName::PersistState, diary.listener(Duration::from_secs(20))).unwrap();
    events.run(seconds(200.0)).await.unwrap();
    assert_eq!(diary.seconds(), [0.0, 60.0, 120.0, 180.0, 200.0]);
}

#[tokio::test(start_paused = true)]
async fn the_next_persist_state_waits_for_the_last_and_what_was_missed_is_skipped() {
    let config = EventConfig { persist_state_timeout: Duration::from_secs(1_000), ..EventConfig::default() };
    let (events, slow, quick) = (events(config), Diary::new(), Diary::new());
    events.on(EventName::PersistState, slow.listener(Duration::from_secs(100))).unwrap();
    let _owner = events.enter().await.unwrap();
    events.on(EventName::PersistState, quick.quick()).unwrap();
    seconds(300.0).await;
    assert_eq!(slow.seconds(), [0.0, 120.0, 240.0]);
    assert_eq!(quick.seconds(), [120.0, 240.0], "one barrier for all, registered after the start");
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_is_late_is_named_and_waited_for_no_longer() {
    let (log, _guard) = Log::begin();
    let (events, slow, quick) = (events(EventConfig::default()), Diary::new(), Diary::new());
    events.on(EventName::PersistState, slow.listener(Duration::from_secs(10_000)).named("the slow one")).unwrap();
    events.on(EventName::PersistState, quick.quick().named("the quick one")).unwrap();
    seconds(29.0).await;
    assert!(log.lines_with("late with persistState").is_empty());
    seconds(2.0).await;
    let warnings = log.lines_with("late with persistState");
    assert!(
        warnings.len() == 1 && warnings[0].contains("the slow one") && !warnings[0].contains("the quick one"),
        "{warnings:?}"
    );
    seconds(100.0).await;
    assert_eq!(quick.seconds(), [60.0, 120.0]);
    assert_eq!(slow.seconds(), [0.0]);
}

#[tokio::test(start_paused = true)]
async fn system_info_comes_each_interval_from_one_sample_each() {
    let (counted, diary) = (Counted::default(), Diary::new());
    let events = events(EventConfig::default().with_sampler(counted.clone()));
    events.on(EventName::SystemInfo, diary.quick()).unwrap();
    seconds(4.5).await;
    assert_eq!(diary.seconds(), [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(counted.samples(), 5);
    events.run(async {}).await.unwrap();
    seconds(10.0).await;
    assert_eq!(counted.samples(), 5, "no sample without a manager that runs");
}

#[tokio::test(start_paused = true)]
async fn without_a_sampler_and_without_a_sample_nothing_is_emitted() {
    struct Blind;
    impl Sampler for Blind {
        fn sample(&mut self) -> Option<SystemInfo> {
            None
        }
    }
    for config in [EventConfig::default(), EventConfig::default().with_sampler(Blind)] {
        let (events, diary) = (events(config), Diary::new());
        events.on(EventName::SystemInfo, diary.quick()).unwrap();
        seconds(5.0).await;
        assert_eq!(diary.count(&EventName::SystemInfo), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_sampler_that_panics_is_asked_again() {
    struct Once(Counted);
    impl Sampler for Once {
        fn sample(&mut self) -> Option<SystemInfo> {
            let info = self.0.sample();
            assert!(self.0.samples() > 1, "the first one fails");
            info
        }
    }
    let (events, diary) = (events(EventConfig::default().with_sampler(Once(Counted::default()))), Diary::new());
    events.on(EventName::SystemInfo, diary.quick()).unwrap();
    seconds(2.5).await;
    assert_eq!(diary.seconds(), [1.0, 2.0]);
}
