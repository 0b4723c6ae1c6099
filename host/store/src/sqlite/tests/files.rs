//! Files that are refused, and files that are made again.

use super::Job;
use crate::contract::spec;
use crate::sqlite::read_status;
use crate::{Company, CrawlSpec, JobDir, SiteOrder, Store, StoreError};
use rusqlite::Connection;
use std::path::Path;

#[tokio::test]
async fn refused_files_stay_as_they_are_to_the_byte() {
    type Edit = Box<dyn Fn(&Path)>;
    type Refused = fn(&StoreError) -> bool;
    let header = |at: usize, value: u8| {
        move |path: &Path| {
            let mut bytes = std::fs::read(path).expect("bytes");
            bytes[at] = value;
            std::fs::write(path, bytes).expect("written");
        }
    };
    let cases: [(Edit, Refused); 7] = [
        (Box::new(header(63, 99)), |error| matches!(error, StoreError::NewerFormat { found: 99, known: 3 })),
        (Box::new(header(63, 4)), |error| matches!(error, StoreError::NewerFormat { found: 4, known: 3 })),
        (Box::new(header(63, 1)), |error| matches!(error, StoreError::OlderFormat { found: 1, known: 3 })),
        (Box::new(header(70, 7)), |error| matches!(error, StoreError::NotAJob { .. })),
        (Box::new(header(0, b'?')), |error| matches!(error, StoreError::Damaged { .. })),
        (Box::new(|path| std::fs::write(path, "a note").expect("written")), |error| matches!(error, StoreError::Damaged { .. })),
        (
            Box::new(|path| {
                let bytes = std::fs::read(path).expect("bytes");
                std::fs::write(path, &bytes[..bytes.len() - 4_096]).expect("written");
            }),
            |error| matches!(error, StoreError::Damaged { .. }),
        ),
    ];
    for (edit, expected) in cases {
        let job = Job::closed().await;
        edit(&job.database());
        std::fs::write(job.path().join("lock"), "4711\n").expect("written");
        let before = job.files();
        let error = job.open().err().expect("refused");
        assert!(expected(&error), "{error}");
        let dir = JobDir::existing(job.path()).expect("a job");
        assert!(expected(&read_status(&dir).expect_err("refused")));
        assert_eq!(job.files(), before);
    }
}

#[tokio::test]
async fn a_refused_crawl_leaves_every_file_as_it_is() {
    for (job, has_log) in [(Job::closed().await, false), (Job::killed().await, true)] {
        std::fs::write(job.path().join("lock"), "4711\n").expect("written");
        let before = job.files();
        assert_eq!(before.contains_key("nephila.db-wal"), has_log);
        let store = job.open().expect("a store");
        let other = CrawlSpec { plugin_name: "news".into(), company: Company::Alone, ..spec("main") };
        assert!(matches!(store.find_crawl(&other).await, Err(StoreError::OtherPlugin { .. })));
        assert!(matches!(store.open_crawl(&other).await, Err(StoreError::OtherPlugin { .. })));
        drop(store);
        assert_eq!(job.files(), before);
        // Nor does looking for it, when it is there and when it is not.
        let store = job.open().expect("a store");
        assert!(store.find_crawl(&spec("main")).await.expect("an answer").is_some());
        assert_eq!(store.find_crawl(&spec("side")).await.expect("an answer"), None);
        drop(store);
        assert_eq!(job.files(), before);
    }
    let job = Job::closed().await;
    job.edit("UPDATE meta SET value = 2 WHERE name = 'normaliser'");
    let before = job.files();
    let store = job.open().expect("a store");
    let error = store.open_crawl(&spec("main")).await.expect_err("refused");
    assert!(matches!(error, StoreError::OtherNormaliser { found: 2, known: 1 }));
    drop(store);
    assert_eq!(job.files(), before);
}

#[tokio::test]
async fn a_clean_close_leaves_one_file() {
    let job = Job::closed().await;
    assert_eq!(job.files().into_keys().collect::<Vec<_>>(), ["lock", "nephila.db"]);
    assert_eq!(std::fs::read(job.path().join("lock")).expect("bytes"), b"");
}

#[tokio::test]
async fn a_file_whose_maker_died_is_made() {
    let job = Job::new();
    let (_, lock) = job.lock();
    drop(lock);
    std::fs::write(job.database(), b"").expect("written");
    assert!(matches!(read_status(&JobDir::existing(job.path()).expect("a job")), Err(StoreError::NoJob { .. })));
    job.crawl().await.accept_one("1").await;
}

#[tokio::test]
async fn an_empty_file_beside_a_log_is_damaged_and_the_log_stays() {
    let job = Job::killed().await;
    std::fs::write(job.database(), b"").expect("written");
    let before = job.files();
    assert!(!before["nephila.db-wal"].is_empty());
    assert!(matches!(job.open().err().expect("refused"), StoreError::Damaged { .. }));
    assert!(matches!(read_status(&JobDir::existing(job.path()).expect("a job")), Err(StoreError::Damaged { .. })));
    assert_eq!(job.files(), before);
}

#[tokio::test]
async fn a_log_that_is_no_file_is_damaged() {
    for name in ["nephila.db-wal", "nephila.db-shm", "nephila.db-journal"] {
        let job = Job::closed().await;
        std::os::unix::fs::symlink("lock", job.path().join(name)).expect("a link");
        let before = job.files();
        assert!(matches!(job.open().err().expect("refused"), StoreError::Damaged { .. }), "{name}");
        assert_eq!(job.files(), before);
    }
}

#[tokio::test]
async fn a_file_whose_maker_died_inside_its_first_transaction_is_made_again() {
    let (dying, job) = (Job::new(), Job::new());
    drop((dying.lock(), job.lock()));
    let look = || read_status(&JobDir::existing(job.path())?);
    assert!(matches!(look(), Err(StoreError::NoJob { .. })));
    let maker = Connection::open(dying.database()).expect("a connection");
    maker.execute_batch("PRAGMA cache_size = 1; BEGIN IMMEDIATE; CREATE TABLE a (b); CREATE TABLE c (d);").expect("begun");
    for _ in 0..100 {
        maker.execute("INSERT INTO a VALUES (randomblob(2000))", []).expect("written");
    }
    for name in ["nephila.db", "nephila.db-journal"] {
        let bytes = std::fs::read(dying.path().join(name)).expect("bytes");
        assert!(!bytes.is_empty(), "{name}");
        std::fs::write(job.path().join(name), bytes).expect("written");
    }
    let before = job.files();
    assert!(matches!(look(), Err(StoreError::NoJob { .. })));
    assert_eq!(job.files(), before);
    job.crawl().await.accept_one("1").await;
    assert_eq!(look().expect("a status").counts.pending, 1);
}

#[tokio::test]
async fn a_job_in_which_no_crawl_was_opened_is_none_yet() {
    let job = Job::new();
    let store = job.open().expect("a store");
    for _ in 0..2 {
        let dir = JobDir::existing(job.path()).expect("a database");
        assert!(matches!(read_status(&dir), Err(StoreError::NoJob { .. })));
        store.close().await.expect("closed");
    }
    job.crawl().await.accept_one("1").await;
}

#[tokio::test]
async fn a_missing_index_is_found_at_opening_and_a_bad_page_when_it_is_read() {
    let job = Job::closed().await;
    job.edit("DROP INDEX requests_ready");
    assert!(matches!(job.open().err().expect("refused"), StoreError::Damaged { .. }));

    let job = Job::closed().await;
    job.spoil("requests_ready");
    let store = job.open().expect("it looks whole");
    let opened = store.open_crawl(&spec("main")).await.expect("opened");
    let site = store.ready_sites(opened.record.id, SiteOrder::ByHead, 1).await.expect("a site")[0].id;
    let error = store.site_window(opened.record.id, site, 1).await.expect_err("damaged");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}
