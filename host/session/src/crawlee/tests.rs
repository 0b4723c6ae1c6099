//! The shape, field by field.

use super::*;
use nephila_model::UseMark;
use serde_json::{Value, json};

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

fn session() -> SessionRecord {
    let id = SessionId::new("abc123DEFG").expect("a name");
    let mut record = SessionRecord::new(id, SessionSettings::default(), Timestamp::from_millis(NOW.as_millis() - 1_500));
    record.user_data = Written::first("{\"token\":\"x\",\"n\":1.50}".into());
    record.reserved = 10;
    record.uses.mark(UseNumber(1), UseMark::Bad, 0.5);
    record.uses.mark(UseNumber(2), UseMark::Good, 0.5);
    let url = url::Url::parse("https://www.example.com/shop/").expect("a URL");
    let fields = ["sid=1; Domain=example.com; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=60", "own=2", "past=3; Max-Age=1"];
    let mut jar = crate::CookieJar::default();
    record.cookies = jar.receive(&url, fields, Timestamp::from_millis(NOW.as_millis() - 1_500), UseNumber(1));
    record
}

fn written(max_pool_size: usize, sessions: impl IntoIterator<Item = SessionRecord>) -> String {
    let mut text = Vec::new();
    write_pool(&mut text, max_pool_size, sessions, NOW).expect("written");
    String::from_utf8(text).expect("UTF-8")
}

#[test]
fn no_session_is_taken_when_no_more_text_is() {
    let taken = Cell::new(0);
    let sessions = std::iter::repeat_with(|| {
        taken.set(taken.get() + 1);
        session()
    });
    let mut few = [0; 5_000];
    let error = write_pool(few.as_mut_slice(), 7, sessions.take(1_000_000), NOW).expect_err("full");
    assert!(matches!(&error, ShapeError::Json(error) if error.is_io()), "{error}");
    assert!((1..20).contains(&taken.get()), "{}", taken.get());
    let odd = SessionRecord { user_data: Written::first("{".into()), ..session() };
    let error = write_pool(Vec::new(), 7, [session(), odd], NOW).expect_err("no JSON");
    assert!(matches!(error, ShapeError::NotExpressible { what: "user data are not JSON", .. }), "{error}");
}

#[test]
fn a_pool_is_written_with_exactly_crawlees_fields() {
    let retired = SessionRecord { retired: true, id: SessionId::new("gone").expect("a name"), ..session() };
    let text = written(1_000, [session(), retired]);
    let shape: Value = serde_json::from_str(&text).expect("JSON");
    let cookies = json!([
        {"name": "sid", "value": "1", "domain": ".example.com", "path": "/", "secure": true, "http_only": true,
         "expires": NOW.as_millis() / 1_000 + 58, "same_site": "Lax"},
        {"name": "own", "value": "2", "domain": "www.example.com", "path": "/shop", "secure": false, "http_only": false},
    ]);
    let expected = |id: &str, score: f64| {
        json!({
            "id": id, "maxAge": "PT50M", "userData": {"token": "x", "n": 1.5}, "maxErrorScore": 3.0, "errorScoreDecrement": 0.5,
            "createdAt": "2025-12-31T23:59:58.5Z", "usageCount": 2, "maxUsageCount": 50, "errorScore": score, "cookies": cookies,
            "blockedStatusCodes": [401, 403, 429],
        })
    };
    assert_eq!(
        shape,
        json!({
            "maxPoolSize": 1_000, "sessions": [expected("abc123DEFG", 0.5), expected("gone", 3.5)], "sessionCount": 2,
            "usableSessionCount": 1, "retiredSessionCount": 1,
        })
    );
}

#[test]
fn what_was_written_is_read_back() {
    let text = written(7, [session()]);
    let read = read_pool(&text, NOW).expect("read");
    assert_eq!((read.max_pool_size, read.left_out.len()), (7, 0));
    let (read, before) = (&read.sessions[0], session());
    assert_eq!(
        (&read.id, &read.settings, read.created_at, &read.user_data),
        (&before.id, &before.settings, before.created_at, &before.user_data)
    );
    assert_eq!((read.uses.used(), read.score(), read.reserved, read.unusable(NOW)), (2, 0.5, 2, None));
    let (read, before) = (crate::CookieJar::new(read.cookies.clone(), NOW), crate::CookieJar::new(before.cookies, NOW));
    for url in ["https://www.example.com/shop/", "http://www.example.com/shop/1", "https://other.example.com/"] {
        let url = url::Url::parse(url).expect("a URL");
        assert_eq!(read.header(&url, NOW), before.header(&url, NOW));
    }
    // Written once more, it is the same text.
    assert_eq!(written(7, read_pool(&text, NOW).expect("read").sessions), text);
}

#[test]
fn what_crawlee_writes_is_read() {
    let text = json!({
        "maxPoolSize": 2,
        "sessions": [{
            "id": "s", "maxAge": "P1DT2H", "userData": {}, "maxErrorScore": 3.0, "errorScoreDecrement": 0.5,
            "createdAt": "2026-01-01T00:00:00.123456+00:00", "usageCount": 3, "maxUsageCount": 50, "errorScore": 3.0,
            "cookies": [{"name": "a", "value": "1", "domain": "", "path": "/", "secure": false, "http_only": false},
                        {"name": "b", "value": "2", "domain": "Example.com"}],
            "blockedStatusCodes": [403], "ofALaterVersion": 1,
        }],
        "sessionCount": 1, "usableSessionCount": 0, "retiredSessionCount": 1,
    });
    let read = read_pool(&text.to_string(), NOW).expect("read");
    let session = &read.sessions[0];
    assert_eq!(session.settings.max_age, Duration::from_secs(26 * 3_600));
    assert_eq!(session.created_at, Timestamp::from_millis(NOW.as_millis() + 123));
    assert!(session.unusable(NOW).is_some() && session.cookies.len() == 1);
    assert_eq!(read.left_out, [(session.id.clone(), "a".to_owned())]);
}

#[test]
fn what_cannot_be_is_refused_with_the_session_and_the_field() {
    let good = written(1, [session()]);
    for (field, value) in [
        ("id", json!("")),
        ("maxAge", json!("an hour")),
        ("maxAge", json!("P1M")),
        ("maxAge", json!("-PT1H")),
        ("createdAt", json!("yesterday")),
        ("userData", json!([])),
        ("errorScore", json!(-1.0)),
        ("limits", json!(0)),
    ] {
        let mut shape: Value = serde_json::from_str(&good).expect("JSON");
        let name = if field == "limits" { "maxUsageCount" } else { field };
        shape["sessions"][0][name] = value;
        let error = read_pool(&shape.to_string(), NOW).expect_err(field);
        assert!(error.to_string().contains(&format!("`{field}`")), "{error}");
    }
    for text in ["", "[]", "{\"sessions\": []}"] {
        assert!(matches!(read_pool(text, NOW), Err(ShapeError::Json(_))), "{text}");
    }
}
