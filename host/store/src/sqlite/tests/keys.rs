//! Dedup where the table of known keys is not the whole truth.

use super::Job;
use crate::contract::{Crawl, items, page, spec};
use crate::sqlite::known::KnownKeys;
use crate::sqlite::{Durability, Rows, SqliteStore};
use nephila_model::{Effects, NewRequest};
use std::sync::Arc;

#[tokio::test]
async fn what_a_refused_outcome_would_have_accepted_is_new_to_the_next_one() {
    let job = Job::closed().await;
    job.edit("CREATE TRIGGER no BEFORE INSERT ON items WHEN new.json LIKE '%poison%' BEGIN SELECT raise(ABORT, 'no'); END");
    let crawl = job.crawl().await;
    let accepted = crawl.accept(vec![page("3"), page("4"), page("5")]).await;
    let wanting = |mark: &str| Effects { requests: vec![page("new"), page("3")], ..items(&[mark]) };
    for (marks, new) in [(["poison", "poison"], [0, 0]), (["poison", "fine"], [0, 1])] {
        let outcomes = vec![crawl.handled(&accepted[0], wanting(marks[0])), crawl.handled(&accepted[1], wanting(marks[1]))];
        let results = crawl.commit(outcomes).await;
        let counts = results.iter().map(|result| result.as_ref().map_or(0, |applied| applied.accepted.len()));
        assert_eq!(counts.collect::<Vec<_>>(), new, "{marks:?}");
        let known = crawl.store.known(crawl.id, &[page("new").unique_key]).await.expect("answers");
        assert_eq!(known, [new[1] == 1]);
    }
}

#[tokio::test]
async fn the_keys_of_a_large_job_are_known_from_its_opening_on() {
    const MANY: usize = 10_000;
    let job = Job::new();
    let crawl = job.crawl().await;
    let of = |number: usize| NewRequest { depth: 9, ..page(&number.to_string()) };
    crawl.accept((0..MANY).map(of).collect()).await;
    crawl.store.close().await.expect("closed");
    drop(crawl);

    // More than are taken in at once: those that are not yet are on the disk.
    let crawl = job.crawl().await;
    let keys: Vec<_> = (0..2 * MANY).map(|number| of(number).unique_key).collect();
    for _ in 0..20 {
        let known = crawl.store.known(crawl.id, &keys).await.expect("answers");
        assert!(known.iter().enumerate().all(|(number, known)| *known == (number < MANY)));
        assert!(crawl.accept(vec![of(MANY - 1), of(0)]).await.is_empty());
    }
    let nearer = NewRequest { depth: 2, ..of(MANY - 1) };
    let effects = Effects { requests: vec![nearer], ..Effects::default() };
    assert_eq!(crawl.apply(crawl.of_crawl(effects)).await.shallower.len(), 1);
    assert_eq!(crawl.accept(vec![of(MANY), of(MANY)]).await.len(), 1);
}

#[tokio::test]
async fn a_table_that_had_to_forget_accepts_every_key_once_all_the_same() {
    // More than the smallest table holds.
    const MANY: usize = 32_000;
    let job = Job::new();
    let open = async || {
        let (dir, lock) = job.lock();
        let rows = Rows::in_file(&dir, lock, Durability::Kill, KnownKeys::with_doublings(0)).expect("a store");
        Crawl::open(Arc::new(SqliteStore { rows }), spec("main")).await
    };
    let of = |number: usize| page(&number.to_string());
    let keys: Vec<_> = (0..MANY + 1_000).map(|number| of(number).unique_key).collect();
    let assert_known = async |crawl: &Crawl| {
        // Twice: what the disk said is taken in, in the place of something else.
        for _ in 0..2 {
            let known = crawl.store.known(crawl.id, &keys).await.expect("answers");
            assert!(known.iter().enumerate().all(|(number, known)| *known == (number < MANY)));
        }
    };
    // Commits that overlap by half, and the second time all of it again.
    let accept_all = async |crawl: &Crawl| {
        let mut accepted = 0;
        for first in (0..MANY).step_by(4_000) {
            accepted += crawl.accept((first..MANY.min(first + 8_000)).map(of).collect()).await.len();
        }
        accepted
    };
    let crawl = open().await;
    assert_eq!(accept_all(&crawl).await, MANY);
    assert_known(&crawl).await;
    assert_eq!(accept_all(&crawl).await, 0);
    assert_eq!(crawl.store.counts(crawl.id).await.expect("counts").pending, MANY as u64);
    drop(crawl);

    // So does one that has never held all of them.
    let crawl = open().await;
    assert_eq!(accept_all(&crawl).await, 0);
    assert_known(&crawl).await;
    assert_eq!(crawl.accept(vec![of(MANY), of(0), of(MANY)]).await.len(), 1);
}

#[tokio::test]
async fn a_crawl_is_opened_though_its_keys_cannot_be_read_and_the_disk_is_asked_for_them() {
    let job = Job::closed().await;
    // Its rows cannot be read any more; the index by key can.
    job.spoil("requests");
    let crawl = job.crawl().await;
    let keys = ["1", "2", "9"].map(|path| page(path).unique_key);
    assert_eq!(crawl.store.known(crawl.id, &keys).await.expect("answers"), [true, true, false]);
}
