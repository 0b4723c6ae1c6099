//! What servers do wrong, and what is said about it.

use crate::server::{Answer, Server, config, error, fetcher, get, html, response};
use nephila_fetch::{Exchange, FetchConfig, FetchError, Phase};
use std::net::TcpListener;
use std::time::Duration;
use url::Url;

async fn error_of(answer: fn() -> Answer) -> FetchError {
    let server = Server::always(answer).await;
    let error = error(&fetcher(config()), &server.url("/")).await;
    assert!(error.to_string().starts_with(&server.address.to_string()), "{error}");
    assert!(!error.to_string().contains('\n'), "{error}");
    error
}

#[tokio::test]
async fn a_cut_response_is_incomplete_and_may_come_whole_next_time() {
    let cut: [fn() -> Answer; 5] = [
        || Answer::Close(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".to_vec()),
        || Answer::Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n".to_vec()),
        || Answer::Close(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\0".to_vec()),
        || Answer::Close(b"HTTP/1.1 200 OK\r\nContent-Le".to_vec()),
        || Answer::Close(Vec::new()),
    ];
    for (index, answer) in cut.into_iter().enumerate() {
        let error = error_of(answer).await;
        assert_eq!((error.code(), error.is_transient()), ("incomplete", true), "{index}: {error}");
    }
}

#[tokio::test]
async fn no_cut_of_a_good_response_passes_for_a_page() {
    const GOOD: &[u8] =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let server = Server::start(|request| {
        let kept: usize = request.split(' ').nth(1).and_then(|path| path[1..].parse().ok()).expect("a number");
        Answer::Close(GOOD[..kept].to_vec())
    })
    .await;
    let fetcher = fetcher(config());
    for kept in 0..GOOD.len() {
        let error = error(&fetcher, &server.url(&format!("/{kept}"))).await;
        assert!(matches!(error.code(), "incomplete" | "protocol") && error.is_transient(), "cut at {kept}: {error}");
    }
    assert!(get(&fetcher, &server.url(&format!("/{}", GOOD.len()))).await.is_ok());
}

#[tokio::test]
async fn what_is_not_http_is_a_protocol_error() {
    let bad: [fn() -> Answer; 8] = [
        || Answer::Hold(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nrubbish\r\n".to_vec()),
        || Answer::Hold(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhello\r\n0\r\n\r\n".to_vec()),
        || Answer::Hold(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n".to_vec()),
        || Answer::Hold(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec()),
        || Answer::Hold(b"HTTP/1.1 twohundred OK\r\n\r\n".to_vec()),
        || Answer::Hold(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n".to_vec()),
        || Answer::Hold(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n".to_vec()),
        || Answer::Hold([b"HTTP/1.1 200 OK\r\nX: ", &vec![b'x'; 1 << 20][..]].concat()),
    ];
    for (index, answer) in bad.into_iter().enumerate() {
        let error = error_of(answer).await;
        assert_eq!(error.code(), "protocol", "{index}: {error}");
    }
}

#[tokio::test]
async fn a_body_that_is_not_in_its_coding_cannot_be_decoded() {
    let bad: [fn() -> Answer; 3] = [
        || Answer::Send(response(200, "Content-Encoding: gzip\r\n", b"<!doctype html>")),
        || Answer::Send(response(200, "Content-Encoding: compress\r\n", b"\x1f\x9d")),
        || Answer::Send(response(200, "Content-Encoding: zstd\r\n", b"{\"error\": true}")),
    ];
    for answer in bad {
        let error = error_of(answer).await;
        assert_eq!((error.code(), error.is_transient()), ("decode", false), "{error}");
    }
}

#[tokio::test]
async fn whoever_keeps_silent_or_drips_is_timed_out_and_the_phase_is_named() {
    let server = Server::start(|request| match request.split(' ').nth(1) {
        Some("/silent") => Answer::Hold(Vec::new()),
        Some("/stalled") => Answer::Hold(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".to_vec()),
        _ => Answer::Drip(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
    })
    .await;
    let limits = FetchConfig {
        read_timeout: Duration::from_millis(200),
        connect_timeout: Duration::from_millis(300),
        total_timeout: Duration::from_millis(1_000),
        ..config()
    };
    let fetcher = fetcher(limits);
    let timed_out = |error: FetchError, phase: Phase, millis: u64| match error {
        FetchError::Timeout { host, phase: found, after } => {
            assert_eq!((host, found, after), (server.address.to_string(), phase, Duration::from_millis(millis)));
        }
        other => panic!("{other}"),
    };
    timed_out(error(&fetcher, &server.url("/silent")).await, Phase::Read, 200);
    timed_out(error(&fetcher, &server.url("/stalled")).await, Phase::Read, 200);
    timed_out(error(&fetcher, &server.url("/drip")).await, Phase::Total, 1_000);

    let url = server.url("/drip");
    let impatient = Exchange { timeout: Some(Duration::from_millis(150)), ..Exchange::get(&url) };
    timed_out(fetcher.fetch(&impatient).await.expect_err("a time-out"), Phase::Total, 150);
}

#[tokio::test]
async fn a_handshake_that_never_ends_is_a_connect_timeout() {
    let server = Server::always(|| Answer::Hold(Vec::new())).await;
    let fetcher = fetcher(FetchConfig { connect_timeout: Duration::from_millis(200), ..config() });
    let url = Url::parse(&format!("https://{}/", server.address)).expect("a URL");
    let error = error(&fetcher, &url).await;
    assert!(matches!(error, FetchError::Timeout { phase: Phase::Connect, .. }), "{error}");
    assert!(error.is_transient());
}

#[tokio::test]
async fn who_cannot_be_reached_is_told_from_who_cannot_be_trusted() {
    let fetcher = fetcher(FetchConfig { guard: nephila_fetch::AddressGuard::new().allow_all_private(), ..config() });

    let nobody = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port");
    let refused = error(&fetcher, &Url::parse(&format!("http://{nobody}/")).expect("a URL")).await;
    assert_eq!((refused.code(), refused.is_transient()), ("connect", true), "{refused}");

    let plain = Server::always(|| Answer::Close(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())).await;
    let no_tls = error(&fetcher, &Url::parse(&format!("https://{}/", plain.address)).expect("a URL")).await;
    assert_eq!(no_tls.code(), "tls", "{no_tls}");

    let hangs_up = Server::always(|| Answer::Close(Vec::new())).await;
    let no_tls = error(&fetcher, &Url::parse(&format!("https://{}/", hangs_up.address)).expect("a URL")).await;
    assert_eq!((no_tls.code(), no_tls.is_transient()), ("tls", true), "{no_tls}");

    let nowhere = error(&fetcher, &Url::parse("http://no-such-host.invalid/").expect("a URL")).await;
    assert_eq!((nowhere.code(), nowhere.is_transient()), ("dns", true), "{nowhere}");
    assert!(nowhere.to_string().starts_with("no-such-host.invalid: "), "{nowhere}");
}

#[tokio::test]
async fn a_fetcher_survives_all_of_it() {
    let server = Server::start(|request| match request.split(' ').nth(1) {
        Some("/bad") => Answer::Close(b"rubbish".to_vec()),
        _ => html("fine"),
    })
    .await;
    let fetcher = fetcher(config());
    for _ in 0..5 {
        error(&fetcher, &server.url("/bad")).await;
        assert!(get(&fetcher, &server.url("/good")).await.is_ok());
    }
}
