//! What goes out on the wire.

use crate::server::{Server, config, fetcher, html, page};
use bytes::Bytes;
use nephila_fetch::{DEFAULT_USER_AGENT, Exchange, FetchConfig, Fetcher};
use nephila_model::{Header, Method};
use url::Url;

fn header(name: &str, value: &str) -> Header {
    Header { name: name.to_owned(), value: value.to_owned() }
}

fn lines(request: &str) -> Vec<String> {
    request.lines().map(str::to_ascii_lowercase).collect()
}

#[tokio::test]
async fn a_plain_request_introduces_itself_and_says_no_more_than_it_must() {
    let server = Server::always(|| html("")).await;
    page(&fetcher(config()), &server.url("/a?b=c#secret")).await;
    let mut sent = lines(&server.requests()[0]);
    assert_eq!(sent.remove(0), "get /a?b=c http/1.1");
    sent.retain(|line| !line.is_empty());
    sent.sort();
    let expected = [
        "accept-encoding: gzip, deflate, br, zstd".to_owned(),
        "accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8".to_owned(),
        format!("host: {}", server.address),
        format!("user-agent: {}", DEFAULT_USER_AGENT.to_ascii_lowercase()),
    ];
    assert_eq!(sent, expected);
    assert!(DEFAULT_USER_AGENT.starts_with("Nephila/"));
}

#[tokio::test]
async fn a_sessions_cookies_are_sent_unless_the_request_has_its_own() {
    let server = Server::always(|| html("")).await;
    let (fetcher, url) = (fetcher(config()), server.url("/"));
    let own = [header("Cookie", "own=1")];
    let with = |headers, cookie| Exchange { headers, cookie, ..Exchange::get(&url) };
    for exchange in
        [with(&[][..], Some("a=1; b=2")), with(&own[..], Some("a=1")), with(&[][..], Some("a=\n")), with(&[][..], None)]
    {
        fetcher.fetch(&exchange).await.expect("a page");
    }
    let sent: Vec<Vec<String>> = server
        .requests()
        .iter()
        .map(|request| lines(request).into_iter().filter(|line| line.starts_with("cookie")).collect())
        .collect();
    assert_eq!(sent, [vec!["cookie: a=1; b=2"], vec!["cookie: own=1"], vec![], vec![]]);
}

#[tokio::test]
async fn method_headers_and_payload_are_sent_as_given() {
    let server = Server::always(|| html("")).await;
    let fetcher = fetcher(FetchConfig { user_agent: "Shelob/1 (+https://example.com)".to_owned(), ..config() });
    let url = server.url("/");
    let headers =
        [header("content-type", "application/json"), header("accept", "text/plain"), header("x-a", "1"), header("x-a", "grün")];
    let payload = Bytes::from_static(b"{\"a\":1}");
    for method in [Method::Post, Method::Put, Method::Patch, Method::Delete, Method::Options, Method::Get] {
        let exchange = Exchange { method, headers: &headers, payload: Some(&payload), ..Exchange::get(&url) };
        fetcher.fetch(&exchange).await.expect("a page");
    }
    for (request, method) in server.requests().iter().zip(["post", "put", "patch", "delete", "options", "get"]) {
        let sent = lines(request);
        assert_eq!(sent[0], format!("{method} / http/1.1"));
        for line in [
            "content-type: application/json",
            "accept: text/plain",
            "x-a: 1",
            "x-a: grün",
            "content-length: 7",
            "user-agent: shelob/1 (+https://example.com)",
        ] {
            assert_eq!(sent.iter().filter(|sent| *sent == line).count(), 1, "{line} in {request}");
        }
        assert!(request.ends_with("{\"a\":1}"));
    }
}

#[tokio::test]
async fn a_request_cannot_set_what_frames_it_or_belongs_to_the_connection() {
    let server = Server::always(|| html("")).await;
    let fetcher = fetcher(config());
    let url = server.url("/");
    for (name, value) in [
        ("connection", "close"),
        ("content-length", "0"),
        ("expect", "100-continue"),
        ("host", "intranet.example"),
        ("http2-settings", "x"),
        ("keep-alive", "timeout=5"),
        ("proxy-connection", "keep-alive"),
        ("te", "trailers"),
        ("trailer", "x"),
        ("Transfer-Encoding", "chunked"),
        ("upgrade", "h2c"),
        ("x-a", "1\r\nHost: intranet.example"),
        ("x\r\ny", "1"),
        ("", "1"),
        (":path", "/"),
    ] {
        let headers = [header(name, value)];
        let error = fetcher.fetch(&Exchange { headers: &headers, ..Exchange::get(&url) }).await.expect_err(name);
        assert_eq!((error.code(), error.is_transient()), ("invalid-request", false), "{name}: {error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn credentials_in_a_url_are_sent_as_a_header() {
    let server = Server::always(|| html("")).await;
    let url = Url::parse(&format!("http://Aladdin:open%20sesame@{}/", server.address)).expect("a URL");
    page(&fetcher(config()), &url).await;
    let sent = &server.requests()[0];
    assert!(sent.contains("QWxhZGRpbjpvcGVuIHNlc2FtZQ==") && !sent.contains("Aladdin"), "{sent}");
    // Messages name the host without them.
    let refused = fetcher(FetchConfig::default()).fetch(&Exchange::get(&url)).await.expect_err("refused");
    assert!(!refused.to_string().contains("sesame"), "{refused}");
}

#[test]
fn a_user_agent_that_cannot_be_sent_is_refused_at_once() {
    let error = Fetcher::new(FetchConfig { user_agent: "a\nb".to_owned(), ..config() }).expect_err("refused");
    assert!(error.to_string().contains("a\\nb"), "{error}");
}

#[tokio::test]
async fn fetches_may_run_on_any_thread() {
    let server = Server::always(|| html("")).await;
    let fetcher = std::sync::Arc::new(fetcher(config()));
    let url = server.url("/");
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let (fetcher, url) = (fetcher.clone(), url.clone());
            tokio::spawn(async move { fetcher.fetch(&Exchange::get(&url)).await.is_ok() })
        })
        .collect();
    for task in tasks {
        assert!(task.await.expect("no panic"));
    }
}
