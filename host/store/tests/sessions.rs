//! A session pool over a job's folder, killed at any moment: a site never sees a session more often than it may, and never the same use twice.
#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

use nephila_model::{
    CrawlId, CrawlerId, Effects, Group, Outcome, PoolId, PoolPlace, SessionDelta, SessionId, SessionSettings, Shard, SiteBy,
    StatsDelta, Subject, Timestamp, UseMark, UseNumber,
};
use nephila_session::{Checkout, Errand, PoolSettings, ReuseStrategy, SessionPool, SessionUse};
use nephila_store::{
    Company, CrawlOrder, CrawlSpec, Durability, JobDir, Leases, PoolUser, SessionCreated, SqliteStore, Store, StoreError,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);
const MAX_USES: u32 = 7;
const SIZE: usize = 3;

/// One process.
struct Process {
    store: SqliteStore,
    crawl: CrawlId,
    leases: Leases,
    id: PoolId,
    pool: SessionPool,
}

impl Process {
    async fn start(folder: &Path, strategy: ReuseStrategy, seed: u64) -> Self {
        let (dir, lock) = JobDir::open_or_create(folder).expect("a job");
        let store = SqliteStore::open(dir, lock, Durability::Kill).expect("a store");
        let spec = CrawlSpec {
            company: Company::Alone,
            crawler_id: CrawlerId::new("main").expect("an id"),
            plugin_name: "books".to_owned(),
            plugin_digest: "d1".to_owned(),
            site_by: SiteBy::Hostname,
            order: CrawlOrder::Fifo,
            max_state_value: 1_000,
        };
        let opened = store.open_crawl(&spec).await.expect("opened");
        let stored = store
            .open_pool(opened.record.id, opened.leases.of(Shard::CRAWL), &PoolPlace::default(), NOW, 1_000)
            .await
            .expect("a pool");
        let settings = PoolSettings {
            max_pool_size: SIZE,
            create_settings: Some(SessionSettings { max_uses: MAX_USES, ..SessionSettings::default() }),
            strategy,
            uses_per_reservation: 3,
            ..PoolSettings::default()
        };
        assert!(stored.sessions.len() <= SIZE);
        let dice = fastrand::Rng::with_seed(seed);
        let pool = SessionPool::new(stored.id, settings, stored.sessions, dice, NOW).expect("a pool");
        Self { store, crawl: opened.record.id, leases: opened.leases, id: stored.id, pool }
    }

    fn user(&self) -> PoolUser {
        PoolUser { pool: self.id, crawl: self.crawl, lease: self.leases.of(Shard::CRAWL) }
    }

    async fn take(&self) -> SessionUse {
        loop {
            let taken = match self.pool.checkout(NOW).expect("a session") {
                Checkout::Ready(taken) => Some(taken),
                Checkout::Errand(errand) => self.run(errand).await.expect("done"),
            };
            if let Some(taken) = taken {
                return taken;
            }
        }
    }

    async fn run(&self, errand: Errand) -> Result<Option<SessionUse>, StoreError> {
        Ok(match errand {
            Errand::Create(creation) => {
                let made = self.store.create_session(self.user(), creation.record(), creation.uses()).await?;
                let SessionCreated::Made(range) = made else { panic!("a name that was made up was taken") };
                creation.made(range, NOW)
            }
            Errand::Reserve(reservation) => {
                let range = self.store.reserve_uses(self.user(), reservation.id(), reservation.uses()).await?;
                reservation.granted(range, NOW)
            }
        })
    }

    async fn commit(&self, delta: SessionDelta) {
        let outcome = Outcome {
            subject: Subject::Crawl,
            lease: self.leases.of(Shard::CRAWL),
            verdict: None,
            effects: Effects::default(),
            stats: StatsDelta::default(),
            site_next_allowed: None,
            session: Some(delta),
        };
        let results = self.store.commit(self.crawl, Group { outcomes: vec![outcome], ..Group::default() }).await;
        assert!(results.expect("committed").iter().all(Result::is_ok));
    }
}

#[tokio::test]
async fn no_kill_makes_a_site_see_a_session_too_often_or_a_use_twice() {
    for (seed, strategy) in
        [ReuseStrategy::Random, ReuseStrategy::RoundRobin, ReuseStrategy::UntilFailure].into_iter().enumerate()
    {
        let folder = tempfile::tempdir().expect("a folder");
        let mut dice = fastrand::Rng::with_seed(seed as u64);
        let mut seen: BTreeMap<SessionId, BTreeSet<UseNumber>> = BTreeMap::new();
        let mut reported: BTreeMap<SessionId, u32> = BTreeMap::new();
        for life in 0..12 {
            let process = Process::start(&folder.path().join("job"), strategy, life).await;
            let mut flying = Vec::new();
            for _ in 0..dice.usize(1..25) {
                let taken = process.take().await;
                assert!(seen.entry(taken.id().clone()).or_default().insert(taken.number()), "a use was given out twice");
                flying.push(taken);
                if dice.bool() {
                    let finished = flying.swap_remove(dice.usize(..flying.len())).finish(UseMark::Good, NOW);
                    *reported.entry(finished.delta.session.clone()).or_insert(0) += 1;
                    process.commit(finished.delta).await;
                }
            }
            // Killed: what is in flight is never reported, and nothing is taken back.
        }
        assert!(seen.values().all(|numbers| numbers.len() <= MAX_USES as usize), "{seen:?}");
        let process = Process::start(&folder.path().join("job"), strategy, 99).await;
        for session in process.store.sessions(process.id).await.expect("sessions") {
            let (begun, reported) = (seen.get(&session.id), reported.get(&session.id).copied().unwrap_or(0));
            let begun = u32::try_from(begun.map_or(0, BTreeSet::len)).expect("a number");
            assert!(session.uses.used() >= begun && begun >= reported && session.uses.used() == session.reserved, "{session:?}");
        }
        assert!(seen.len() > SIZE, "{seen:?}");
    }
}

#[tokio::test]
async fn a_clean_end_loses_no_use() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut begun: BTreeMap<SessionId, u32> = BTreeMap::new();
    for life in 0..5 {
        let process = Process::start(&folder.path().join("job"), ReuseStrategy::Random, life).await;
        for session in process.pool.sessions() {
            assert_eq!(Some(&session.uses.used()), begun.get(&session.id), "as many as were begun");
        }
        for _ in 0..3 {
            let taken = process.take().await;
            *begun.entry(taken.id().clone()).or_insert(0) += 1;
            process.commit(taken.finish(UseMark::Good, NOW).delta).await;
        }
        process.store.return_uses(process.user(), &process.pool.take_unused()).await.expect("taken back");
    }
    assert_eq!(begun.values().sum::<u32>(), 15);
}
