//! Redirects are returned, never followed.

use crate::server::{Answer, Server, config, error, fetcher, html, page, redirect, response};
use nephila_model::HopKind;
use std::time::Duration;

#[tokio::test]
async fn every_kind_of_redirect_is_one_hop_and_keeps_the_connection() {
    let server = Server::start(|request| {
        let status = request.split(' ').nth(1).and_then(|path| path[1..].parse().ok()).expect("a status");
        Answer::Send(response(status, "Location: ../next?x#y\r\n", b"moved"))
    })
    .await;
    let fetcher = fetcher(config());
    for status in [301, 302, 303, 307, 308] {
        let redirect = redirect(&fetcher, &server.url(&format!("/{status}"))).await;
        assert_eq!((redirect.status, redirect.kind, redirect.body_bytes), (status, HopKind::HttpRedirect, 5));
        assert_eq!(redirect.to, server.url("/next?x"));
        assert!(Duration::ZERO < redirect.timings.first_byte && redirect.timings.first_byte <= redirect.timings.total);
    }
    for status in [200, 201, 300, 304, 305, 399] {
        assert_eq!(page(&fetcher, &server.url(&format!("/{status}"))).await.status, status);
    }
    // A 304 has no body, whatever it sends: the five bytes of ours cost it the connection.
    assert!(server.connections() <= 2 && server.requests().len() == 11, "{} connections", server.connections());
}

#[tokio::test]
async fn a_redirect_without_a_location_is_a_page_and_a_bad_one_an_error() {
    let server = Server::start(|request| match request.split(' ').nth(1) {
        Some("/none") => Answer::Send(response(302, "", b"where?")),
        Some("/empty") => Answer::Send(response(302, "Location: \r\n", b"where?")),
        Some("/file") => Answer::Send(response(302, "Location: file:///etc/passwd\r\n", b"")),
        _ => Answer::Send(response(302, "Location: http://[\r\n", b"")),
    })
    .await;
    let fetcher = fetcher(config());
    for path in ["/none", "/empty"] {
        let page = page(&fetcher, &server.url(path)).await;
        assert_eq!((page.status, &page.body[..]), (302, &b"where?"[..]));
    }
    for path in ["/file", "/bad"] {
        assert_eq!(error(&fetcher, &server.url(path)).await.code(), "bad-redirect");
    }
}

#[tokio::test]
async fn a_redirect_does_not_wait_for_a_body_that_nobody_reads() {
    let server = Server::start(|request| match request.split(' ').nth(1) {
        Some("/endless") => Answer::Hold(b"HTTP/1.1 302 X\r\nLocation: /next\r\nContent-Length: 999999999\r\n\r\n".to_vec()),
        Some("/cut") => Answer::Close(b"HTTP/1.1 302 X\r\nLocation: /next\r\nContent-Length: 10\r\n\r\nx".to_vec()),
        _ => Answer::Drip(b"HTTP/1.1 302 X\r\nLocation: /next\r\n\r\n".to_vec()),
    })
    .await;
    let fetcher = fetcher(config());
    for path in ["/endless", "/cut", "/drip"] {
        assert_eq!(redirect(&fetcher, &server.url(path)).await.to, server.url("/next"), "{path}");
    }
}

#[tokio::test]
async fn a_meta_refresh_is_a_redirect_of_its_own_kind() {
    let server = Server::start(|request| match request.split(' ').nth(1) {
        Some("/a") => html("<title>Moved</title><meta http-equiv=\"refresh\" content=\"0; url=b\">"),
        Some("/b") => html("<meta http-equiv=\"refresh\" content=\"30; url=/b#reload\">"),
        _ => Answer::Send(response(404, "Content-Type: text/html\r\n", b"<meta http-equiv=refresh content='0;url=/a'>")),
    })
    .await;
    let fetcher = fetcher(config());
    let redirect = redirect(&fetcher, &server.url("/a")).await;
    assert_eq!((redirect.status, redirect.kind, &redirect.to), (200, HopKind::MetaRefresh, &server.url("/b")));
    assert!(redirect.body_bytes > 50);
    assert_eq!(page(&fetcher, &redirect.to).await.status, 200);
    assert_eq!(page(&fetcher, &server.url("/c")).await.status, 404);
}

#[tokio::test]
async fn the_cookies_that_a_redirect_sets_come_with_it() {
    let server = Server::start(|request| match request.split(' ').nth(1) {
        Some("/moved") => Answer::Send(response(302, "Location: /next\r\nSet-Cookie: a=1; Path=/\r\nset-cookie: b=2\r\n", b"")),
        _ => Answer::Send(response(
            200,
            "Content-Type: text/html\r\nSet-Cookie: c=3\r\n",
            b"<meta http-equiv=refresh content='0; url=/next'>",
        )),
    })
    .await;
    let fetcher = fetcher(config());
    assert_eq!(redirect(&fetcher, &server.url("/moved")).await.set_cookies, ["a=1; Path=/", "b=2"]);
    assert_eq!(redirect(&fetcher, &server.url("/refresh")).await.set_cookies, ["c=3"]);
}

#[tokio::test]
async fn a_cookie_that_is_no_utf_8_is_left_out_rather_than_sent_back_as_another() {
    let server = Server::start(|request| {
        let (status, location) = if request.starts_with("GET /moved") { (302, "Location: /next\r\n") } else { (200, "") };
        let mut answer = response(status, &format!("{location}Set-Cookie: a=1\r\nSet-Cookie: b=?\r\nX-Word: ?\r\n"), b"");
        answer.iter_mut().filter(|byte| **byte == b'?').for_each(|byte| *byte = 0xff);
        Answer::Send(answer)
    })
    .await;
    let fetcher = fetcher(config());
    assert_eq!(redirect(&fetcher, &server.url("/moved")).await.set_cookies, ["a=1"]);
    let page = page(&fetcher, &server.url("/")).await;
    let values = |name: &str| {
        page.headers.iter().filter(|header| header.name == name).map(|header| header.value.clone()).collect::<Vec<_>>()
    };
    assert_eq!((values("set-cookie"), values("x-word")), (vec!["a=1".to_owned()], vec!["\u{fffd}".to_owned()]));
}
