//! The session of a trial: one that nobody else has.

use crate::Session;
use async_trait::async_trait;
use nephila_model::{AddedSession, PoolId, SessionId, Timestamp, UseNumber};
use nephila_plugin::{AdditionRefused, ReadError, SessionAddition, SessionCookie, SessionPoolView, SessionView};
use nephila_session::{AddError, Addition, CookieJar, PoolSettings, SessionPool};
use serde_json::Value;
use url::Url;

/// A session as a call sees it.
pub(crate) struct TrialSession {
    id: String,
    user_data: String,
    jar: CookieJar,
}

impl TrialSession {
    /// With cookies as a page at `url` would set them.
    pub(crate) fn of(given: &Session, url: &Url) -> Self {
        let mut jar = CookieJar::default();
        receive(&mut jar, url, given.cookies.iter().map(String::as_str));
        let id = given.id.clone().unwrap_or_else(|| "session".to_owned());
        Self { id, user_data: Value::Object(given.user_data.clone()).to_string(), jar }
    }
}

impl SessionView for TrialSession {
    fn id(&self) -> &str {
        &self.id
    }

    fn user_data(&self) -> String {
        self.user_data.clone()
    }

    fn cookies(&self, url: &Url, set: &[(Url, String)]) -> Vec<SessionCookie> {
        let mut jar = self.jar.clone();
        for (from, line) in set {
            receive(&mut jar, from, [line.as_str()]);
        }
        jar.cookies_for(url, Timestamp::now()).into_iter().cloned().map(SessionCookie::from).collect()
    }
}

fn receive<'f>(jar: &mut CookieJar, url: &Url, lines: impl IntoIterator<Item = &'f str>) {
    // What changes is of interest to a store alone.
    let _ = jar.receive(url, lines, Timestamp::now(), UseNumber(1));
}

/// A pool that has no session, and takes what is added. The names that it makes up are the same in each trial.
pub(crate) struct TrialPool(SessionPool);

impl TrialPool {
    /// `None` if the pool's usual settings contradict each other, which they do not.
    pub(crate) fn new() -> Option<Self> {
        let dice = fastrand::Rng::with_seed(0);
        SessionPool::new(PoolId(1), PoolSettings::default(), [], dice, Timestamp::now()).ok().map(Self)
    }
}

#[async_trait]
impl SessionPoolView for TrialPool {
    async fn prepare(&self, addition: SessionAddition) -> Result<Result<AddedSession, AdditionRefused>, ReadError> {
        let id = match addition.id.as_deref().map(SessionId::new) {
            Some(None) => return Ok(Err(AdditionRefused::BadId)),
            id => id.flatten(),
        };
        let SessionAddition { user_data, set_cookies, .. } = addition;
        let prepared = self.0.prepare(Addition { id, user_data, set_cookies }, Timestamp::now());
        Ok(prepared.map_err(|error| match error {
            AddError::Duplicate { .. } => AdditionRefused::Taken,
            AddError::Full { .. } => AdditionRefused::Full(error.to_string()),
            AddError::NoName | AddError::Invalid { .. } => AdditionRefused::Unusable(error.to_string()),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_cookies_that_its_page_would_set_and_those_of_the_call() {
        let url = Url::parse("http://a.example/b/").expect("a URL");
        let given = Session { cookies: vec!["x=1; Path=/".into(), "y=2; Domain=b.example".into()], ..Session::default() };
        let session = TrialSession::of(&given, &url);
        let names = |set: &[(Url, String)]| session.cookies(&url, set).into_iter().map(|one| one.name).collect::<Vec<_>>();
        assert_eq!(names(&[]), ["x"]);
        assert_eq!(names(&[(url.clone(), "z=3; Path=/".to_owned())]), ["x", "z"]);
        assert_eq!((session.id(), session.user_data().as_str()), ("session", "{}"));
    }
}
