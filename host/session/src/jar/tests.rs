//! What a site may set, what it gets back, and that the order of changes does not matter.

use super::*;
use std::time::Duration;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);
const USE: UseNumber = UseNumber(1);

fn url(text: &str) -> Url {
    Url::parse(text).expect("a URL")
}

fn receive(jar: &mut CookieJar, from: &str, fields: &[&str]) -> Vec<CookieChange> {
    jar.receive(&url(from), fields.iter().copied(), NOW, USE)
}

fn jar(from: &str, fields: &[&str]) -> CookieJar {
    let mut jar = CookieJar::default();
    receive(&mut jar, from, fields);
    jar
}

fn sent(jar: &CookieJar, to: &str) -> String {
    jar.header(&url(to), NOW).unwrap_or_default()
}

#[test]
fn without_a_domain_a_cookie_is_its_hosts_alone() {
    let jar = jar("http://www.example.com/", &["a=1"]);
    assert_eq!(sent(&jar, "http://www.example.com:8080/x"), "a=1");
    for other in ["http://example.com/", "http://a.www.example.com/", "http://xwww.example.com/"] {
        assert_eq!(sent(&jar, other), "", "{other}");
    }
}

#[test]
fn with_a_domain_a_cookie_is_for_all_hosts_under_it() {
    for field in ["a=1; Domain=example.com", "a=1; Domain=.EXAMPLE.com"] {
        let jar = jar("http://www.example.com/", &[field]);
        for host in ["http://example.com/", "http://www.example.com/", "http://b.c.example.com/"] {
            assert_eq!(sent(&jar, host), "a=1", "{host}");
        }
        assert_eq!(sent(&jar, "http://badexample.com/"), "");
    }
}

#[test]
fn a_site_sets_cookies_for_itself_and_what_it_is_under_alone() {
    for (from, domain) in [
        ("http://example.com/", "other.com"),
        ("http://example.com/", "www.example.com"),
        ("http://example.com/", "com"),
        ("http://shop.example.co.uk/", "co.uk"),
        ("http://me.github.io/", "github.io"),
        ("http://a.xn--55qx5d.cn/", "公司.cn"),
        ("http://a.internal/", "internal"),
        ("http://127.0.0.1/", "0.0.1"),
        ("http://127.0.0.1/", "127.0.0.2"),
        ("http://[::1]/", "::1"),
        ("http://example.com/", "exa mple.com"),
    ] {
        let mut jar = CookieJar::default();
        assert_eq!(receive(&mut jar, from, &[&format!("a=1; Domain={domain}")]), [], "{domain} from {from}");
    }
    // A host that is a public suffix itself, or that has no dot, keeps it for itself.
    for (host, domain) in [("github.io", "github.io"), ("localhost", "localhost"), ("127.0.0.1", "127.0.0.1"), ("[::1]", "[::1]")]
    {
        let own = format!("http://{host}/");
        let jar = jar(&own, &[&format!("a=1; Domain={domain}")]);
        assert_eq!(
            (sent(&jar, &own), sent(&jar, &format!("http://x.{}/", "github.io"))),
            ("a=1".into(), String::new()),
            "{host}"
        );
    }
}

#[test]
fn international_domains_are_the_same_however_they_are_written() {
    let jar = jar("http://www.bücher.example/", &["a=1; Domain=BÜCHER.example"]);
    assert_eq!(sent(&jar, "http://shop.xn--bcher-kva.example/"), "a=1");
}

#[test]
fn paths_match_at_their_slashes() {
    let whole = jar("http://a.example/shop/books/1", &["a=1"]);
    for (path, expected) in
        [("/shop/books", "a=1"), ("/shop/books/2/3", "a=1"), ("/shop/booksellers", ""), ("/shop", ""), ("/", "")]
    {
        assert_eq!(sent(&whole, &format!("http://a.example{path}")), expected, "{path}");
    }
    for (field, path, expected) in [
        ("a=1; Path=/x/", "/x/y", "a=1"),
        ("a=1; Path=/x/", "/x", ""),
        ("a=1; Path=/X", "/x", ""),
        ("a=1; Path=x", "/shop", "a=1"),
        ("a=1; Path=/elsewhere", "/elsewhere", "a=1"),
        ("a=1; Path=/", "/anything?q=/", "a=1"),
    ] {
        assert_eq!(
            sent(&jar("http://a.example/shop/", &[field]), &format!("http://a.example{path}")),
            expected,
            "{field}, {path}"
        );
    }
    assert_eq!(sent(&jar("http://a.example", &["a=1"]), "http://a.example/b"), "a=1");
}

#[test]
fn secure_cookies_are_sent_by_https_alone() {
    let jar = jar("https://a.example/", &["a=1; Secure", "b=2; HttpOnly"]);
    assert_eq!(sent(&jar, "http://a.example/"), "b=2");
    assert_eq!(sent(&jar, "https://a.example/"), "a=1; b=2");
    let flags: Vec<_> = jar.cookies(NOW).map(|cookie| (cookie.secure, cookie.http_only)).collect();
    assert_eq!(flags, [(true, false), (false, true)]);
}

#[test]
fn longer_paths_come_first_and_then_what_was_made_first() {
    let mut jar = jar("http://a.example/", &["one=1", "long=2; Path=/x/y", "two=3", "mid=4; Path=/x"]);
    assert_eq!(sent(&jar, "http://a.example/x/y"), "long=2; mid=4; one=1; two=3");
    // A new value keeps the place; a cookie that was gone in between has a new one.
    receive(&mut jar, "http://a.example/", &["one=new"]);
    assert_eq!(sent(&jar, "http://a.example/"), "one=new; two=3");
    receive(&mut jar, "http://a.example/", &["one=; Max-Age=0", "one=again"]);
    assert_eq!(sent(&jar, "http://a.example/"), "two=3; one=again");
}

#[test]
fn cookies_end_at_a_point_in_time_whatever_happens_until_then() {
    let mut jar = jar("http://a.example/", &["short=1; Max-Age=60", "long=2", "past=3; Expires=Thu, 01 Jan 1970 00:00:01 GMT"]);
    let at = |jar: &CookieJar, seconds| jar.header(&url("http://a.example/"), NOW.plus(Duration::from_secs(seconds)));
    assert_eq!(at(&jar, 59).as_deref(), Some("short=1; long=2"));
    // Kept, and read back a minute later.
    let later = NOW.plus(Duration::from_secs(60));
    jar = CookieJar::new(jar.to_changes(), later);
    assert_eq!(at(&jar, 0).as_deref(), Some("long=2"));
    assert_eq!(jar.cookies(NOW).count(), 1);
}

#[test]
fn a_removal_is_a_change_of_what_is_there_alone() {
    let mut jar = jar("http://a.example/", &["a=1"]);
    assert_eq!(receive(&mut jar, "http://a.example/", &["b=; Max-Age=0"]), []);
    let changes = receive(&mut jar, "http://a.example/", &["a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"]);
    assert!(matches!(changes.as_slice(), [CookieChange { deed: CookieDeed::Remove(key), .. }] if key.name == "a"));
    assert_eq!(sent(&jar, "http://a.example/"), "");
    let key = changes[0].key().clone();
    assert_eq!(jar.remove(&key, NOW, USE), None);
}

#[test]
fn changes_of_attempts_at_the_same_time_give_the_same_jar_in_every_order() {
    // One jar sees it happen; the others get the changes.
    let mut seen = CookieJar::default();
    let mut changes = Vec::new();
    for (by, fields) in [
        (1, vec!["a=1", "b=1; Domain=example.com", "c=1"]),
        (2, vec!["a=2; Max-Age=9"]),
        (1, vec!["c=; Max-Age=0"]),
        (3, vec!["b=3; Domain=example.com", "a=; Max-Age=0"]),
        (2, vec!["a=5"]),
    ] {
        changes.extend(seen.receive(&url("http://w.example.com/"), fields, NOW, UseNumber(by)));
    }
    let expected = seen.to_changes();
    assert_eq!(seen.header(&url("http://w.example.com/"), NOW).as_deref(), Some("b=3; a=5"));
    let mut state = 1_u64;
    for _ in 0..500 {
        // A shuffle that is the same everywhere.
        for at in (1..changes.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            changes.swap(at, usize::try_from(state >> 33).expect("a number") % (at + 1));
        }
        let mut jar = CookieJar::default();
        changes.iter().for_each(|change| jar.apply(change));
        assert_eq!(jar.to_changes(), expected);
        // Twice is as good as once.
        changes.iter().for_each(|change| jar.apply(change));
        assert_eq!(jar.to_changes(), expected);
    }
}

#[test]
fn a_clock_that_is_set_back_makes_no_change_older_than_one_before() {
    let mut jar = jar("http://a.example/", &["a=1"]);
    let changes = jar.receive(&url("http://a.example/"), ["a=2"], Timestamp::EPOCH, USE);
    let mut other = CookieJar::new(jar.to_changes(), NOW);
    other.apply(&changes[0]);
    assert_eq!((sent(&jar, "http://a.example/"), sent(&other, "http://a.example/")), ("a=2".into(), "a=2".into()));
}

#[test]
fn a_site_cannot_fill_a_jar() {
    let mut jar = jar("http://b.example/", &["mine=1"]);
    let fields: Vec<String> = (0..200).map(|number| format!("c{number}={}", "x".repeat(100))).collect();
    let changes = jar.receive(&url("http://a.example/"), fields.iter().map(String::as_str), NOW, USE);
    assert_eq!(jar.cookies(NOW).count(), 51);
    assert!(sent(&jar, "http://a.example/").starts_with("c150="), "the newest fifty");
    // Whoever gets the changes has the same.
    let mut other = CookieJar::default();
    changes.iter().for_each(|change| other.apply(change));
    assert_eq!(sent(&other, "http://a.example/"), sent(&jar, "http://a.example/"));
}
