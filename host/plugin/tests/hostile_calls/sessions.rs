//! The session of a page, and how new ones are made.

use super::{Store, call, code, plugin};
use nephila_model::Timestamp;
use nephila_plugin::{
    Call, CallFailure, CallReport, CallSettings, Limits, NewSession, SameSite, SessionAsk, SessionCookie, SessionMark,
    SessionView,
};
use serde_json::{Value, json};
use std::sync::Arc;
use url::Url;

/// A session with one cookie, which takes every other.
struct Visitor;

fn cookie(name: &str) -> SessionCookie {
    SessionCookie {
        name: name.into(),
        value: "secret".into(),
        domain: "example.com".into(),
        host_only: true,
        path: "/".into(),
        secure: false,
        http_only: true,
        expires: Some(Timestamp::from_millis(951_827_696_007)),
        same_site: Some(SameSite::Lax),
    }
}

impl SessionView for Visitor {
    fn id(&self) -> &str {
        "visitor-1"
    }

    fn user_data(&self) -> String {
        "{\"seen\":false}".to_owned()
    }

    fn cookies(&self, url: &Url, set: &[(Url, String)]) -> Vec<SessionCookie> {
        let of_url = set.iter().filter(|(from, _)| from == url);
        let names = of_url.filter_map(|(_, line)| line.split_once('=')).map(|(name, _)| cookie(name));
        std::iter::once(cookie("first")).chain(names).collect()
    }
}

async fn run_in_session(word: &str, limits: Limits) -> CallReport {
    plugin().await.handle(Call { session: Some(Arc::new(Visitor)), ..call(word, limits, Store::default()) }).await
}

fn changes(mark: SessionMark) -> SessionAsk {
    let set = |url: &str, line: &str| (Url::parse(url).expect("a URL"), line.to_owned());
    SessionAsk {
        mark: Some(mark),
        user_data: Some("{\"seen\":true}".into()),
        set_cookies: vec![
            set("http://example.com/page", "a=1; Path=/"),
            set("http://example.com/page", "b=2"),
            set("http://example.com/shop/", "c=3"),
        ],
    }
}

#[tokio::test]
async fn a_call_sees_its_session_and_its_own_changes() {
    let report = run_in_session("session", Limits::default()).await;
    assert_eq!(code(&report), "ok", "{:?}", report.ended);
    let item: Value = serde_json::from_str(&report.effects.items[0].json).expect("JSON");
    let first = json!({ "domain": "example.com", "hostOnly": true, "expires": "2000-02-29T12:34:56.007Z", "sameSite": "Lax" });
    let before = json!({ "data": { "seen": false }, "here": ["first"], "there": ["first"] });
    let after = json!({ "data": { "seen": true }, "here": ["first", "a", "b"], "there": ["first", "c"] });
    assert_eq!(item, json!({ "id": "visitor-1", "first": first, "before": before, "after": after }));
    assert_eq!(report.session, changes(SessionMark::Good), "of good and bad the last one counts");
}

#[tokio::test]
async fn what_a_call_asks_for_its_session_outlives_its_failure() {
    let report = run_in_session("session-then-fatal", Limits::default()).await;
    assert_eq!((code(&report), &report.session), ("asked", &changes(SessionMark::Retire)));
    let report = run_in_session("session-then-trap", Limits::default()).await;
    assert_eq!((code(&report), &report.session), ("trap", &changes(SessionMark::Bad)));
    let report = run_in_session("ok", Limits::default()).await;
    assert!(report.session.is_empty());
}

#[tokio::test]
async fn what_cannot_be_asked_of_a_session_is_refused_by_code() {
    for (word, expected) in [
        ("session-bad-data", "bad-json"),
        ("session-huge-data", "quota"),
        ("session-bad-cookie", "bad-cookie"),
        ("session-bad-url", "bad-url"),
        ("session-flood", "quota"),
    ] {
        let report = run_in_session(word, Limits::default()).await;
        assert_eq!(code(&report), expected, "{word}: {:?}", report.ended);
    }
    let report = run_in_session("session", Limits { effect_bytes: 100, ..Limits::default() }).await;
    assert_eq!(code(&report), "quota", "it is paid for");
}

#[tokio::test]
async fn without_a_session_it_is_told() {
    for word in ["session", "session-then-fatal", "session-bad-data"] {
        let report = plugin().await.handle(call(word, Limits::default(), Store::default())).await;
        assert_eq!(code(&report), "no-session", "{word}");
        assert!(report.session.is_empty());
    }
}

async fn create(word: &str) -> Result<Option<NewSession>, CallFailure> {
    let input_json = json!({ "session": word }).to_string();
    plugin().await.create_session(Arc::new(CallSettings { input_json, ..CallSettings::default() })).await.0
}

#[tokio::test]
async fn a_plugin_makes_sessions_from_its_input() {
    let made = create("account-7").await;
    assert_eq!(made, Ok(Some(NewSession { user_data: "{\"word\":\"account-7\"}".into(), extra_json: None })));
}

#[tokio::test]
async fn a_session_that_cannot_be_made_is_told_why() {
    for (word, expected) in [
        ("trap", "trap"),
        ("fatal", "asked"),
        ("not-an-object", "bad-json"),
        ("huge", "quota"),
        ("state", "denied"),
        ("events", "not-a-listener"),
    ] {
        let failure = create(word).await.expect_err(word);
        assert_eq!(failure.code(), expected, "{word}: {failure}");
    }
}
