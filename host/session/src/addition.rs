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
    /// The session that an addition comes to, with the limits of the pool's own. Nothing changes by it.
    ///
    /// # Errors
    /// [`AddError`]: there is one of its name in memory (the store may know of more), the pool is full, or it may not be used.
    pub fn prepare(&self, addition: Addition, now: Timestamp) -> Result<AddedSession, AddError> {
        let most = self.settings().max_pool_size.max(MOST);
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
