//! The session of a page, and how new ones are made.

use super::{Store, call, code, plugin};
use async_trait::async_trait;
use nephila_model::{AddedSession, PoolId, SessionId, SessionRecord, SessionSettings, Timestamp, Written};
use nephila_plugin::{
    AdditionRefused, Call, CallFailure, CallReport, CallSettings, Limits, ListenerEvent, NewSession, ReadError, SameSite,
    SessionAddition, SessionAsk, SessionCookie, SessionMark, SessionPoolView, SessionView,
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

/// A pool that has a session `taken`, and notes what it is asked for.
#[derive(Default)]
struct Pool(std::sync::Mutex<Vec<SessionAddition>>);

#[async_trait]
impl SessionPoolView for Pool {
    async fn prepare(&self, addition: SessionAddition) -> Result<Result<AddedSession, AdditionRefused>, ReadError> {
        let mut asked = self.0.lock().expect("nobody panicked");
        let made_up = format!("made-up-{}", asked.len());
        asked.push(addition.clone());
        let name = addition.id.unwrap_or(made_up);
        if name == "taken" {
            return Ok(Err(AdditionRefused::Taken));
        }
        let Some(id) = SessionId::new(&name) else { return Ok(Err(AdditionRefused::BadId)) };
        let mut record = SessionRecord::new(id, SessionSettings::default(), Timestamp::EPOCH);
        record.user_data = Written::first(addition.user_data);
        Ok(Ok(AddedSession { pool: PoolId(3), record: Box::new(record) }))
    }
}

async fn run_with_pool(word: &str, pool: &Arc<Pool>) -> CallReport {
    let view = Arc::clone(pool) as Arc<dyn SessionPoolView>;
    plugin().await.handle(Call { pool: Some(view), ..call(word, Limits::default(), Store::default()) }).await
}

#[tokio::test]
async fn a_session_that_a_call_adds_is_an_effect_and_needs_no_session_of_its_own() {
    let pool = Arc::new(Pool::default());
    let report = run_with_pool("session-add", &pool).await;
    assert_eq!(code(&report), "ok", "{:?}", report.ended);
    let item: Value = serde_json::from_str(&report.effects.items[0].json).expect("JSON");
    assert_eq!(item, json!({ "added": "account-7", "other": "made-up-1" }));
    let ids: Vec<&str> = report.effects.sessions.iter().map(|added| added.record.id.as_str()).collect();
    assert_eq!((ids, report.effects.sessions[0].pool), (vec!["account-7", "made-up-1"], PoolId(3)));
    let asked = pool.0.lock().expect("nobody panicked").clone();
    let set = |url: &str, line: &str| (Url::parse(url).expect("a URL"), line.to_owned());
    let cookies =
        [set("http://example.com/page", "a=1; Path=/"), set("http://other.example/", "b=2"), set("http://other.example/", "c=3")];
    assert_eq!((asked[0].user_data.as_str(), asked[0].set_cookies.as_slice()), ("{\"account\":7}", &cookies[..]));
    assert_eq!((asked[1].id.as_deref(), asked[1].user_data.as_str()), (None, "{}"));

    let report = run_with_pool("session-add-then-fatal", &pool).await;
    assert_eq!((code(&report), report.effects.sessions.len()), ("asked", 0), "it goes with the call's effects");
}

#[tokio::test]
async fn a_session_that_cannot_be_added_is_refused_by_code() {
    for (word, expected) in [
        ("session-add-taken", "session-exists"),
        ("session-add-twice", "session-exists"),
        ("session-add-bad-id", "bad-name"),
        ("session-add-bad-data", "bad-json"),
        ("session-add-bad-cookie", "bad-cookie"),
        ("session-add-flood", "quota"),
    ] {
        let report = run_with_pool(word, &Arc::new(Pool::default())).await;
        assert_eq!(code(&report), expected, "{word}: {:?}", report.ended);
    }
    let report = plugin().await.handle(call("session-add", Limits::default(), Store::default())).await;
    assert_eq!(code(&report), "no-session-pool");
    let CallFailure::Fatal(info) = report.ended.expect_err("it fails") else { panic!("another failure") };
    assert!(info.message.contains("--set session-pool=yes"), "{}", info.message);
}

#[tokio::test]
async fn a_listener_adds_sessions_too() {
    let input_json = json!({ "listen": ["page"] }).to_string();
    let settings = Arc::new(CallSettings { input_json, ..CallSettings::default() });
    let mut listener = plugin().await.listener(Arc::clone(&settings));
    listener.subscriptions().await.expect("it subscribes");
    let payload = json!({ "do": "add-session" }).to_string();
    let event = ListenerEvent { id: "e1".into(), name: "page".into(), payload, created_at: Timestamp::EPOCH };
    let pool = Arc::new(Pool::default()) as Arc<dyn SessionPoolView>;
    let call = Call { pool: Some(pool), settings, ..call("ok", Limits::default(), Store::default()) };
    let heard = listener.on_event(call, &event).await;
    assert!(heard.report.ended.is_ok(), "{:?}", heard.report.ended);
    assert_eq!(heard.report.effects.sessions.len(), 1);
}
