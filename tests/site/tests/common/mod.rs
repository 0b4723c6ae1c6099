//! A client that hides nothing: one connection per request, no redirects, no decoding, and it says when a body was cut.
#![allow(dead_code, reason = "every test file uses another part")]

use nephila_site::Running;
use std::collections::{HashMap, HashSet};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

pub struct Reply {
    pub status: u16,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub fn is_whole(&self) -> bool {
        self.header("content-length").parse() == Ok(self.body.len())
    }
}

/// Sends `METHOD target` with a Host header and further header lines.
pub async fn send(site: &Running, method: &str, host: &str, target: &str, more: &str) -> Reply {
    send_body(site, &format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}"), "").await
}

/// Sends a form, with further header lines.
pub async fn post(site: &Running, target: &str, more: &str, form: &str) -> Reply {
    let kind = "Content-Type: application/x-www-form-urlencoded";
    let length = form.len();
    let head = format!("POST {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{kind}\r\nContent-Length: {length}\r\n{more}");
    send_body(site, &head, form).await
}

async fn send_body(site: &Running, head: &str, body: &str) -> Reply {
    let mut stream = TcpStream::connect(site.address()).await.unwrap();
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    parse(&bytes)
}

fn parse(bytes: &[u8]) -> Reply {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines.map(|line| line.split_once(": ").unwrap()).map(|(n, v)| (n.to_lowercase(), v.to_owned())).collect();
    Reply { status, headers, body: bytes[end + 4..].to_vec() }
}

pub async fn get(site: &Running, target: &str) -> Reply {
    send(site, "GET", &site.address().to_string(), target, "").await
}

/// Gets an absolute URL, whatever its host, from this site.
pub async fn get_url(site: &Running, url: &Url) -> Reply {
    let host = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap());
    send(site, "GET", &host, &url[url::Position::BeforePath..], "").await
}

/// Follows redirects by hand.
pub async fn follow(site: &Running, url: &Url) -> (Url, Vec<u16>, Reply) {
    let (mut url, mut statuses) = (url.clone(), Vec::new());
    loop {
        let reply = get_url(site, &url).await;
        statuses.push(reply.status);
        if !(300..400).contains(&reply.status) {
            return (url, statuses, reply);
        }
        url = url.join(reply.header("location")).unwrap();
        assert!(statuses.len() < 10, "a loop of redirects at {url}");
    }
}

/// The texts between `before` and `after`.
pub fn between<'a>(text: &'a str, before: &str, after: &str) -> Vec<&'a str> {
    text.split(before).skip(1).filter_map(|rest| rest.split(after).next()).collect()
}

/// Every page that links lead to, each got once, by its URL.
pub async fn crawl(site: &Running, start: &str) -> HashMap<Url, Reply> {
    let start = Url::parse(start).unwrap();
    let (mut seen, mut waiting) = (HashSet::from([start.clone()]), vec![start]);
    let mut replies = HashMap::new();
    while let Some(url) = waiting.pop() {
        let (end, _, reply) = follow(site, &url).await;
        let text = String::from_utf8_lossy(&reply.body);
        let links = between(&text, "<a href=\"", "\"").into_iter().map(|href| end.join(href).unwrap());
        waiting.extend(links.filter(|link| seen.insert(link.clone())).collect::<Vec<_>>());
        drop(text);
        replies.insert(url, reply);
    }
    replies
}
