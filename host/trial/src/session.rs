//! The session of a trial: one that nobody else has.

use crate::Session;
use nephila_model::{Timestamp, UseNumber};
use nephila_plugin::{SessionCookie, SessionView};
use nephila_session::CookieJar;
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
