//! `session`: the session that fetched the page in hand. What is asked of it is kept also if the call fails; a session that is added is an
//! effect like any other.

use super::context::no_page;
use super::requests::Origin;
use crate::bindings::nephila::crawler::session;
use crate::draft::session_exists;
use crate::failure::one_line;
use crate::fault::Fault;
use crate::sandbox::{Inside, Present};
use crate::session::{AdditionRefused, SessionAddition, SessionCookie, SessionMark, SessionView};
use crate::{Limits, json, time};
use std::sync::Arc;
use url::Url;

/// Bytes of one `Set-Cookie` header field: what browsers take (4,096 of name and value, 1,024 of each attribute), and some air.
const LONGEST: usize = 8 << 10;

impl session::Host for Inside {
    fn id(&mut self) -> Result<String, Fault> {
        Ok(self.session()?.1.id().to_owned())
    }

    fn user_data(&mut self) -> Result<String, Fault> {
        let (present, view) = self.session()?;
        Ok(present.ask.user_data.clone().unwrap_or_else(|| view.user_data()))
    }

    fn set_user_data(&mut self, text: String) -> Result<(), Fault> {
        self.check_time()?;
        let allowed = self.limits.session_data_bytes;
        let (present, _) = self.session()?;
        let text = checked_user_data(&text, allowed)?;
        present.draft.pay(text.len())?;
        present.ask.user_data = Some(text);
        Ok(())
    }

    fn cookies(&mut self, url: Option<String>) -> Result<Vec<session::Cookie>, Fault> {
        self.check_time()?;
        let (present, view) = self.session()?;
        let url = target(present, url)?;
        Ok(view.cookies(&url, &present.ask.set_cookies).into_iter().map(record).collect())
    }

    fn set_cookies(&mut self, url: Option<String>, lines: Vec<String>) -> Result<(), Fault> {
        self.check_time()?;
        let allowed = self.limits.set_cookies;
        let (present, _) = self.session()?;
        let url = target(present, url)?;
        lines.iter().try_for_each(|line| check_line(line))?;
        if present.ask.set_cookies.len() + lines.len() > allowed {
            return Err(Fault::quota(format!("one call may set {allowed} cookies; set only those that its session lacks")));
        }
        present.draft.pay(lines.iter().map(|line| line.len() + url.as_str().len() + 100).sum())?;
        present.ask.set_cookies.extend(lines.into_iter().map(|line| (url.clone(), line)));
        Ok(())
    }

    fn good(&mut self) -> Result<(), Fault> {
        self.mark(SessionMark::Good)
    }

    fn bad(&mut self) -> Result<(), Fault> {
        self.mark(SessionMark::Bad)
    }

    fn retire(&mut self) -> Result<(), Fault> {
        self.mark(SessionMark::Retire)
    }

    async fn add(&mut self, session: session::Addition) -> Result<String, Fault> {
        self.check_time()?;
        let limits = self.limits;
        let present = self.acting()?;
        let pool = present.call.pool.clone().ok_or_else(|| {
            let message = "this crawl uses no sessions; start it with --set session-pool=yes, or ask for it in the manifest";
            Fault::refused("no-session-pool", message)
        })?;
        present.draft.may_add(session.id.as_deref())?;
        let addition = checked_addition(present, session, limits)?;
        let id = addition.id.clone().unwrap_or_default();
        let added = match self.wait(pool.prepare(addition)).await? {
            Ok(added) => added,
            Err(AdditionRefused::Taken) => return Err(session_exists(&id)),
            Err(AdditionRefused::Full(message)) => return Err(Fault::quota(message)),
            Err(AdditionRefused::BadId) => {
                let message =
                    format!("`{}` cannot be a session's id; use 1 to 128 bytes without control characters", one_line(&id, 80));
                return Err(Fault::refused("bad-name", message));
            }
            Err(AdditionRefused::Unusable(message)) => return Err(Fault::refused("bad-session", message)),
        };
        let id = added.record.id.to_string();
        self.present()?.draft.add(added)?;
        Ok(id)
    }
}

/// What a plugin adds, as it may be.
fn checked_addition(present: &Present, asked: session::Addition, limits: Limits) -> Result<SessionAddition, Fault> {
    let user_data = checked_user_data(&asked.user_data, limits.session_data_bytes)?;
    if let Some(extra) = &asked.extra_json {
        json::check_object(extra).map_err(|cause| {
            Fault::refused("bad-json", format!("the extra JSON of a session is wrong: {}", one_line(&cause, 200)))
        })?;
    }
    let lines: usize = asked.cookies.iter().map(|cookies| cookies.set_cookie_lines.len()).sum();
    if present.draft.added_cookies() + lines > limits.set_cookies {
        let allowed = limits.set_cookies;
        return Err(Fault::quota(format!(
            "the sessions that one call adds may have {allowed} cookies; add the rest from another page"
        )));
    }
    let mut set_cookies = Vec::with_capacity(lines);
    for session::UrlCookies { url, set_cookie_lines } in asked.cookies {
        let url = target(present, url)?;
        set_cookie_lines.iter().try_for_each(|line| check_line(line))?;
        set_cookies.extend(set_cookie_lines.into_iter().map(|line| (url.clone(), line)));
    }
    Ok(SessionAddition { id: asked.id, user_data, set_cookies })
}

impl Inside {
    /// The call and its session, for a host function that needs one.
    fn session(&mut self) -> Result<(&mut Present, Arc<dyn SessionView>), Fault> {
        let present = self.present()?;
        let view = present.call.session.clone().ok_or_else(|| {
            let message =
                "no session fetched this page; `finish` and `listener` have none, and others only if the crawl uses sessions";
            Fault::refused("no-session", message)
        })?;
        Ok((present, view))
    }

    fn mark(&mut self, mark: SessionMark) -> Result<(), Fault> {
        self.session()?.0.ask.mark(mark);
        Ok(())
    }
}

/// A session's user data: a JSON object in one line, of so many bytes at most.
pub(crate) fn checked_user_data(text: &str, allowed: usize) -> Result<String, Fault> {
    json::check_object(text).map_err(|cause| {
        let (cause, begins) = (one_line(&cause, 200), one_line(text, 60));
        Fault::refused("bad-json", format!("the user data of a session is not a JSON object: {cause}; it begins `{begins}`"))
    })?;
    let text = json::one_line(text);
    if text.len() > allowed {
        let bytes = text.len();
        return Err(Fault::quota(format!(
            "the user data of a session has {bytes} bytes, and {allowed} are allowed; keep large values in a key-value store"
        )));
    }
    Ok(text.into_owned())
}

/// What a URL means here; none is the page's own, or where there is no page the request's.
fn target(present: &Present, url: Option<String>) -> Result<Url, Fault> {
    let call = &present.call;
    let Some(reference) = url else {
        let page = call.page.as_deref().map(|page| &page.page().url);
        return page.or(call.request.as_deref().map(|request| &request.url)).cloned().ok_or_else(no_page);
    };
    Origin::of(call, None).target(&reference).map_err(|reason| {
        let message = format!("`{}` is not a URL that cookies are for ({})", one_line(&reference, 80), reason.code());
        Fault::refused("bad-url", message)
    })
}

fn check_line(line: &str) -> Result<(), Fault> {
    let cause = if line.len() > LONGEST {
        format!("it has {} bytes, and {LONGEST} are allowed", line.len())
    } else if line.contains(char::is_control) {
        "it has control characters".to_owned()
    } else if line.split(';').next().and_then(|pair| pair.split_once('=')).is_none_or(|(name, _)| name.trim().is_empty()) {
        "it does not begin with `NAME=VALUE`".to_owned()
    } else {
        return Ok(());
    };
    // What it says may be a secret.
    Err(Fault::refused("bad-cookie", format!("a `Set-Cookie` line cannot be taken: {cause}; write `NAME=VALUE; Path=/`")))
}

fn record(cookie: SessionCookie) -> session::Cookie {
    session::Cookie {
        name: cookie.name,
        value: cookie.value,
        domain: cookie.domain,
        host_only: cookie.host_only,
        path: cookie.path,
        secure: cookie.secure,
        http_only: cookie.http_only,
        expires: cookie.expires.map(time::rfc3339),
        same_site: cookie.same_site.map(|same_site| same_site.as_str().to_owned()),
        extra_json: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_data_is_an_object_of_bounded_size() {
        assert_eq!(checked_user_data(" {\"a\":\n1}", 20).expect("fits"), "{\"a\":1}");
        for bad in ["", "[]", "1", "{", "{\"a\": \"0123456789\"}"] {
            assert!(checked_user_data(bad, 10).is_err(), "{bad}");
        }
    }

    #[test]
    fn lines_that_could_be_no_header_field_are_refused() {
        for good in ["a=b", "a=", " a = b; Path=/; HttpOnly", "a=b=c"] {
            assert!(check_line(good).is_ok(), "{good}");
        }
        for bad in ["", "a", "=b", "; a=b", "a=b\r\nX: y", &format!("a={}", "x".repeat(LONGEST))] {
            assert!(check_line(bad).is_err(), "{bad}");
        }
    }
}
