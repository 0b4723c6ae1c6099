//! What a response becomes.

use crate::server::{Answer, Server, config, fetcher, html, page, response};
use nephila_fetch::{Exchange, Fetched, text};
use nephila_model::Method;
use std::io::Write;
use std::time::Duration;

fn sentence() -> String {
    "Jeder wackere Bayer vertilgt bequem zwo Pfund Kalbshaxen. ".repeat(2_000)
}

fn packed(coding: &str, text: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" | "x-gzip" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(text).and_then(|()| encoder.finish()).expect("gzip")
        }
        "deflate" => {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(text).and_then(|()| encoder.finish()).expect("zlib")
        }
        "br" => {
            let mut packed = Vec::new();
            brotli::BrotliCompress(
                &mut &text[..],
                &mut packed,
                &brotli::enc::BrotliEncoderParams { quality: 5, ..Default::default() },
            )
            .expect("brotli");
            packed
        }
        "zstd" => zstd::encode_all(text, 3).expect("zstd"),
        _ => text.to_vec(),
    }
}

fn chunked(headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 200 OK\r\n{headers}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
    for piece in body.chunks(1_000) {
        bytes.extend(format!("{:x};extension=1\r\n", piece.len()).bytes());
        bytes.extend(piece);
        bytes.extend(b"\r\n");
    }
    bytes.extend(b"0\r\nTrailer: x\r\n\r\n");
    bytes
}

const CODINGS: [&str; 6] = ["identity", "gzip", "x-gzip", "deflate", "br", "zstd"];

#[tokio::test]
async fn bodies_arrive_whole_in_every_coding_and_framing() {
    let server = Server::start(|request| {
        let path = request.split(' ').nth(1).unwrap_or_default();
        let (_, coding) = path.rsplit_once('/').expect("a coding");
        let headers = format!("Content-Type: text/plain\r\nContent-Encoding: {coding}\r\n");
        let body = packed(coding, sentence().as_bytes());
        match path.split('/').nth(1) {
            Some("length") => Answer::Send(response(200, &headers, &body)),
            Some("chunked") => Answer::Send(chunked(&headers, &body)),
            _ => Answer::Close([format!("HTTP/1.0 200 OK\r\n{headers}\r\n").as_bytes(), &body].concat()),
        }
    })
    .await;
    let fetcher = fetcher(config());
    for coding in CODINGS {
        for framing in ["length", "chunked", "close"] {
            let page = page(&fetcher, &server.url(&format!("/{framing}/{coding}"))).await;
            assert!(page.body == sentence(), "{framing} {coding}: {} bytes", page.body.len());
            assert_eq!(page.header("content-encoding"), Some(coding));
        }
    }
}

#[tokio::test]
async fn a_bomb_is_an_error_before_it_is_in_memory() {
    let server = Server::start(|request| {
        let coding = request.split(' ').nth(1).unwrap_or_default().trim_start_matches('/').to_owned();
        let body = packed(&coding, &vec![0; 64 << 20]);
        Answer::Send(response(200, &format!("Content-Encoding: {coding}\r\n"), &body))
    })
    .await;
    let fetcher = fetcher(nephila_fetch::FetchConfig { max_body_bytes: 1 << 20, ..config() });
    for coding in ["gzip", "deflate", "br", "zstd"] {
        let error = crate::server::error(&fetcher, &server.url(&format!("/{coding}"))).await;
        assert_eq!((error.code(), error.is_transient()), ("too-large", false), "{coding}: {error}");
        assert!(error.to_string().contains("1048576"), "{error}");
    }
}

#[tokio::test]
async fn the_limit_holds_for_plain_bodies_to_the_byte_however_they_are_framed() {
    let server = Server::start(|request| {
        let mut words = request.split(' ').nth(1).unwrap_or_default().split('/').skip(1);
        let (framing, length) = (words.next(), words.next().and_then(|length| length.parse().ok()).unwrap_or(0));
        let body = vec![b'x'; length];
        match framing {
            Some("length") => Answer::Send(response(200, "", &body)),
            Some("chunked") => Answer::Send(chunked("", &body)),
            Some("announced") => Answer::Hold(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n".to_vec()),
            _ => Answer::Close([b"HTTP/1.1 200 OK\r\n\r\n", &body[..]].concat()),
        }
    })
    .await;
    let fetcher = fetcher(nephila_fetch::FetchConfig { max_body_bytes: 50_000, ..config() });
    for framing in ["length", "chunked", "close"] {
        assert_eq!(page(&fetcher, &server.url(&format!("/{framing}/50000"))).await.body.len(), 50_000);
        let error = crate::server::error(&fetcher, &server.url(&format!("/{framing}/50001"))).await;
        assert_eq!(error.code(), "too-large", "{framing}");
    }
    assert_eq!(crate::server::error(&fetcher, &server.url("/announced/0")).await.code(), "too-large");
}

#[tokio::test]
async fn a_page_has_its_url_status_headers_times_and_nothing_else() {
    let server = Server::start(|_| {
        let headers = b"HTTP/1.1 404 Gone Fishing\r\nContent-TYPE: Text/HTML; charset=Shift_JIS\r\nX-Twice: 1\r\nX-Twice: 2\r\nX-Raw: gr\xfcn\r\nX-Space : y\r\n not a header\r\nContent-Length: 4\r\n\r\nbody";
        Answer::Send(headers.to_vec())
    })
    .await;
    let page = page(&fetcher(config()), &server.url("/a?b#c")).await;
    assert_eq!((page.url.as_str(), page.status), (server.url("/a?b").as_str(), 404));
    assert_eq!((page.charset, text(&page)), (Some("Shift_JIS"), "body"));
    assert!(page.is_html() && page.chain.is_empty());
    assert_eq!(page.header("x-raw"), Some("gr\u{fffd}n"));
    let twice: Vec<_> = page.headers.iter().filter(|header| header.name == "x-twice").map(|header| &header.value[..]).collect();
    assert_eq!(twice, ["1", "2"]);
    assert!(Duration::ZERO < page.timings.first_byte && page.timings.first_byte <= page.timings.total);
}

#[tokio::test]
async fn more_headers_than_most_clients_take_are_taken() {
    let server = Server::start(|_| {
        let headers: String = (0..200).map(|number| format!("X-{number}: {number}\r\n")).collect();
        Answer::Send(response(200, &headers, b""))
    })
    .await;
    assert!(page(&fetcher(config()), &server.url("/")).await.headers.len() > 200);
}

#[tokio::test]
async fn answers_without_a_body_need_none() {
    let server = Server::start(|request| {
        let compressed = "Content-Type: text/html\r\nContent-Encoding: gzip\r\n";
        Answer::Send(match request.split(' ').nth(1) {
            Some("/204") => format!("HTTP/1.1 204 X\r\n{compressed}\r\n").into(),
            Some("/304") => format!("HTTP/1.1 304 X\r\n{compressed}Content-Length: 999\r\n\r\n").into(),
            Some("/empty") => response(200, compressed, b""),
            _ => format!("HTTP/1.1 200 X\r\n{compressed}Content-Length: 99999999999\r\n\r\n").into(),
        })
    })
    .await;
    let fetcher = fetcher(config());
    for path in ["/204", "/304", "/empty"] {
        assert!(page(&fetcher, &server.url(path)).await.body.is_empty(), "{path}");
    }
    let url = server.url("/head");
    let head = Exchange { method: Method::Head, ..Exchange::get(&url) };
    let Fetched::Page(page) = fetcher.fetch(&head).await.expect("a page") else { panic!("a redirect") };
    assert_eq!((page.body.len(), page.header("content-length")), (0, Some("99999999999")));
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn what_the_server_does_not_say_is_seen_in_the_body() {
    let server = Server::start(|request| {
        Answer::Send(match request.split(' ').nth(1) {
            Some("/html") => response(200, "", b"\r\n<!DOCTYPE html><meta charset=windows-1252><p>gr\xfcn"),
            Some("/binary") => response(200, "", b"\x7fELF\0\0"),
            Some("/image") => response(200, "Content-Type: image/png\r\n", b"\x89PNG"),
            _ => response(200, "", "grün".as_bytes()),
        })
    })
    .await;
    let fetcher = fetcher(config());
    let html = page(&fetcher, &server.url("/html")).await;
    assert!(html.is_html() && text(&html).ends_with("<p>grün"));
    assert_eq!(page(&fetcher, &server.url("/binary")).await.charset, None);
    assert_eq!(page(&fetcher, &server.url("/image")).await.charset, None);
    let plain = page(&fetcher, &server.url("/text")).await;
    assert_eq!((plain.content_type.map(|found| found.essence).as_deref(), plain.charset), (Some("text/plain"), Some("UTF-8")));
}

#[tokio::test]
async fn one_connection_serves_many_fetches() {
    let server = Server::always(|| html("hello")).await;
    let fetcher = fetcher(config());
    for _ in 0..20 {
        page(&fetcher, &server.url("/")).await;
    }
    assert_eq!((server.connections(), server.requests().len()), (1, 20));
}
