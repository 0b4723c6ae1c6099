//! Two crawls in one process, started and stopped in every order.

use super::*;
use crate::Owner;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Start(usize),
    Stop(usize),
}

/// Every order in which two crawls start and stop.
fn orders() -> Vec<Vec<Step>> {
    fn extend(done: Vec<Step>, all: &mut Vec<Vec<Step>>) {
        if done.len() == 4 {
            return all.push(done);
        }
        for crawl in 0..2 {
            for step in [Step::Start(crawl), Step::Stop(crawl)] {
                let may = matches!(step, Step::Start(_)) || done.contains(&Step::Start(crawl));
                if may && !done.contains(&step) {
                    extend([done.clone(), vec![step]].concat(), all);
                }
            }
        }
    }
    let mut all = Vec::new();
    extend(Vec::new(), &mut all);
    all
}

#[tokio::test(start_paused = true)]
async fn in_every_order_there_is_one_sampling_loop_one_last_persist_state_and_no_listener_is_lost() {
    assert_eq!(orders().len(), 6);
    for order in orders() {
        let counted = Counted::default();
        let events = events(EventConfig::default().with_sampler(counted.clone()));
        let diaries = [Diary::new(), Diary::new()];
        let mut owners: [Option<Owner>; 2] = [None, None];
        let (mut emitted, mut since, mut seconds_run, mut starts, mut last_closes) = (0, [0, 0], 0, 0, 0);
        for step in &order {
            match *step {
                Step::Start(crawl) => {
                    starts += usize::from(owners.iter().all(Option::is_none));
                    owners[crawl] = Some(events.enter().await.unwrap());
                    let names = [EventName::PersistState, EventName::Named(low())];
                    events.on(names, diaries[crawl].quick()).unwrap();
                    since[crawl] = emitted;
                }
                Step::Stop(crawl) => {
                    owners[crawl].take().unwrap().close().await;
                    last_closes += usize::from(owners.iter().all(Option::is_none));
                }
            }
            if owners.iter().any(Option::is_some) {
                // Five seconds and a half, in which five samples are taken beside the first, and two events are emitted.
                (0..2).for_each(|offset| events.emit(numbered(emitted + offset)).unwrap());
                emitted += 2;
                all_done(&events).await;
                seconds(5.0).await;
                seconds_run += 5;
            }
        }
        let samples = counted.samples();
        seconds(100.0).await;
        assert_eq!(counted.samples(), samples, "{order:?}: it has stopped");
        // At each start there is one at once.
        let slack = starts + last_closes;
        assert!((seconds_run..=seconds_run + slack).contains(&samples), "{order:?}: {samples} samples in {seconds_run} s");
        for (crawl, diary) in diaries.iter().enumerate() {
            assert_eq!(diary.count(&EventName::PersistState), 1, "{order:?}");
            let end = if last_closes == 2 { since[crawl] + 2 } else { emitted };
            assert_eq!(diary.numbers(), (since[crawl]..end).collect::<Vec<_>>(), "{order:?}");
        }
    }
}
