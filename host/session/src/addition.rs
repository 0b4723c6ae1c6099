//! Sessions that are made elsewhere and added to a pool (Crawlee: `SessionPool.add_session`).
//!
//! Decision: to add is two steps, since in between the session is made durable with whatever page it was found on: the pool says what it
//! would be ([`SessionPool::prepare`]), which changes nothing, and takes it in once it is there ([`SessionPool::adopt`]). Added sessions may be more
//! than `max-pool-size`, as in Crawlee, but not without end: each is held in memory.

use crate::error::AddError;
use crate::jar::CookieJar;
use crate::pool::SessionPool;
use crate::settings::{check_session, check_user_data};
use nephila_model::{AddedSession, SessionId, SessionRecord, Timestamp, UseNumber, Written};
use url::Url;

/// Sessions that a pool may come to by additions, unless `max-pool-size` is more.
const MOST: usize = 10_000;

/// What a session that is added is to be.
#[derive(Clone, PartialEq, Eq)]
pub struct Addition {
    /// Its name; `None`: ten random letters and digits.
    pub id: Option<SessionId>,
    /// Its user data: a JSON object.
    pub user_data: String,
    /// `Set-Cookie` header fields, each as if its URL had answered with it, in order. What a URL may not set is passed over.
    pub set_cookies: Vec<(Url, String)>,
}

impl std::fmt::Debug for Addition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Cookies and user data are secrets.
        f.debug_struct("Addition").field("id", &self.id).field("set_cookies", &self.set_cookies.len()).finish_non_exhaustive()
    }
}

impl SessionPool {
    /// Sessions that the pool may come to by additions, those in the store included: `max-pool-size`, or 10,000 if that is more.
    #[must_use]
    pub fn most_sessions(&self) -> usize {
        self.settings().max_pool_size.max(MOST)
    }

    /// The session that an addition comes to, with the limits of the pool's own. Nothing changes by it.
    ///
    /// # Errors
    /// [`AddError`]: there is one of its name in memory (the store may know of more), the pool is full, or it may not be used.
    pub fn prepare(&self, addition: Addition, now: Timestamp) -> Result<AddedSession, AddError> {
        let most = self.most_sessions();
        if self.with(|roster| roster.places()) >= most {
            return Err(AddError::Full { most });
        }
        let named = addition.id.or_else(|| self.new_name());
        let id = named.ok_or(AddError::NoName)?;
        if self.with(|roster| roster.get(&id).is_some()) {
            return Err(AddError::Duplicate { id });
        }
        let settings = self.settings().create_settings.clone().unwrap_or_default();
        if let Err(cause) = check_session(&settings).and_then(|()| check_user_data(&addition.user_data)) {
            return Err(AddError::Invalid { id, cause });
        }
        let mut jar = CookieJar::default();
        for (url, field) in &addition.set_cookies {
            jar.receive(url, [field.as_str()], now, UseNumber(0));
        }
        let mut record = SessionRecord::new(id, settings, now);
        record.user_data = Written::first(addition.user_data);
        record.cookies = jar.to_changes();
        Ok(AddedSession { pool: self.id(), record: Box::new(record) })
    }

    /// Takes in a session that the store has: one that was added, by this crawl or by another one that shares the pool. One that is here
    /// already, or may not be used, changes nothing. Says whether it was taken in.
    pub fn adopt(&self, record: SessionRecord, now: Timestamp) -> bool {
        let is_usable = record.unusable(now).is_none();
        self.with(|roster| {
            let is_new = is_usable && roster.get(&record.id).is_none();
            if is_new {
                roster.expect();
                roster.arrive(record, None, now);
            }
            is_new
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReuseStrategy;
    use crate::given::{Given, NOW, id, uses};
    use crate::{Checkout, Errand};

    #[test]
    fn a_session_is_added_once_and_only_if_it_may_be_used() {
        let mut given = Given::small(ReuseStrategy::UntilFailure, 1, uses(7));
        let asked = |name: Option<&str>, user_data: &str| Addition {
            id: name.map(id),
            user_data: user_data.to_owned(),
            set_cookies: vec![
                (Url::parse("http://a.example/in").expect("a URL"), "a=1; Path=/".to_owned()),
                (Url::parse("http://b.example/").expect("a URL"), "c=2; Domain=a.example".to_owned()),
            ],
        };
        given.take().give_back();
        // Over the pool's size too.
        let added = given.pool.prepare(asked(Some("mine"), "{\"of\":1}"), NOW).expect("it can be added");
        assert_eq!(given.pool.counts(NOW).sessions, 1, "nothing has changed yet");
        let record = *added.record;
        assert_eq!((record.settings.max_uses, record.reserved, record.user_data.value.as_str()), (7, 0, "{\"of\":1}"));
        assert!(given.ledger.create(&record, 0).is_none());
        assert!(given.pool.adopt(record.clone(), NOW) && !given.pool.adopt(record.clone(), NOW));
        let taken = given.bound(&id("mine")).expect("it is there");
        let url = Url::parse("http://a.example/").expect("a URL");
        assert_eq!((taken.number(), taken.cookie_header(&url, NOW).as_deref()), (UseNumber(1), Some("a=1")));
        drop(taken);
        assert!(matches!(given.pool.prepare(asked(Some("mine"), "{}"), NOW), Err(AddError::Duplicate { .. })));
        assert!(matches!(given.pool.prepare(asked(Some("odd"), "1"), NOW), Err(AddError::Invalid { .. })));
        assert!(!given.pool.adopt(SessionRecord { retired: true, ..SessionRecord::new(id("old"), uses(1), NOW) }, NOW));
        let unnamed = given.pool.prepare(asked(None, "{}"), NOW).expect("it can be added");
        assert_eq!(unnamed.record.id.as_str().len(), 10);
        assert_eq!(given.pool.counts(NOW).sessions, 2);
    }

    #[test]
    fn additions_come_to_an_end() {
        let given = Given::small(ReuseStrategy::Random, 1, uses(7));
        for number in 0..10_000 {
            assert!(given.pool.adopt(SessionRecord::new(id(&number.to_string()), uses(7), NOW), NOW));
        }
        let one_more = Addition { id: None, user_data: "{}".to_owned(), set_cookies: Vec::new() };
        assert_eq!(given.pool.prepare(one_more, NOW), Err(AddError::Full { most: 10_000 }));
    }

    #[test]
    fn what_was_adopted_while_it_was_made_is_one_session_with_all_uses() {
        let mut given = Given::small(ReuseStrategy::UntilFailure, 2, uses(50));
        let Ok(Checkout::Errand(Errand::Create(creation))) = given.pool.checkout(NOW) else { panic!("there is none") };
        let range = given.ledger.create(creation.record(), creation.uses());
        let name = creation.record().id.clone();
        // A request that is bound to it finds it in the store first.
        assert!(given.pool.adopt(creation.record().clone(), NOW));
        let bound = given.bound(&name).expect("a use");
        let made = creation.made(range, NOW).expect("a use");
        assert_ne!(bound.number(), made.number());
        assert_eq!(given.pool.counts(NOW).sessions, 1);
        drop((bound, made));
        assert_eq!(given.pool.take_unused().iter().map(|(_, range)| range.count()).sum::<u32>(), 18, "two count as used");
    }
}
