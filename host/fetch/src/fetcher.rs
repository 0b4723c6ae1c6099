//! One hop: a request out, a page or a redirect back.
//!
//! Decision: reqwest does connections, TLS and HTTP; what a crawler must control (decompression, limits, redirects, addresses, times) is
//! done here, so that limits hold on the bytes as they come and every error has its cause. Nothing is retried, except by reqwest where a
//! server says over HTTP/2 that it has not looked at the request.

use crate::body::{self, Limits};
use crate::exchange::{header_map, method, named_host};
use crate::resolver::GuardedResolver;
use crate::{AddressGuard, Exchange, FetchConfig, FetchError, FetchSetupError, Fetched, Phase, Redirect};
use crate::{cause, charset, meta_refresh, redirect, sniff};
use bytes::Bytes;
use nephila_model::{Header, HopKind, Page, Timings};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, HeaderMap, HeaderValue, SET_COOKIE};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use url::Url;

/// Real sites send more fields than hyper's 100; the memory for them is bounded by hyper's buffer of 400 KiB.
const MAX_HEADERS: usize = 256;

/// The same bound for HTTP/2, whose default of 16 KiB cuts off real sites.
const MAX_HTTP2_HEADER_BYTES: u32 = 256 << 10;

/// Fetches pages over HTTP. One serves a whole process: it keeps the connections.
#[derive(Debug)]
pub struct Fetcher {
    client: reqwest::Client,
    config: FetchConfig,
    guard: Arc<AddressGuard>,
}

impl Fetcher {
    /// Makes a fetcher.
    ///
    /// # Errors
    /// The user agent cannot be sent, or the system's certificates cannot be read.
    pub fn new(config: FetchConfig) -> Result<Self, FetchSetupError> {
        // Fails if somebody was first, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();

        let user_agent = HeaderValue::from_str(&config.user_agent)
            .map_err(|_| FetchSetupError::UserAgent { user_agent: config.user_agent.clone() })?;
        let mut defaults = HeaderMap::new();
        defaults.insert(ACCEPT, HeaderValue::from_static("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"));
        defaults.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate, br, zstd"));
        let guard = Arc::new(config.guard.clone());
        let client = reqwest::Client::builder()
            .user_agent(user_agent)
            .default_headers(defaults)
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .no_proxy()
            .no_gzip()
            .no_deflate()
            .no_brotli()
            .no_zstd()
            .tcp_nodelay(true)
            .connect_timeout(config.connect_timeout)
            .pool_idle_timeout(config.pool_idle_timeout)
            .http1_max_headers(MAX_HEADERS)
            .http1_ignore_invalid_headers_in_responses(true)
            .http1_allow_spaces_after_header_name_in_responses(true)
            .http2_max_header_list_size(MAX_HTTP2_HEADER_BYTES)
            .dns_resolver(GuardedResolver(Arc::clone(&guard)))
            .build()
            .map_err(|error| {
                let root = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source()).last();
                FetchSetupError::Client { cause: root.unwrap_or(&error).to_string() }
            })?;
        Ok(Self { client, config, guard })
    }

    /// Sends one request and reads what comes back. Dropping the future ends the exchange.
    ///
    /// # Errors
    /// [`FetchError`] says what went wrong and whether it may pass. A status is no error.
    pub async fn fetch(&self, exchange: &Exchange<'_>) -> Result<Fetched, FetchError> {
        let total = exchange.timeout.unwrap_or(self.config.total_timeout);
        match tokio::time::timeout(total, self.hop(exchange)).await {
            Ok(fetched) => fetched,
            Err(_) => Err(FetchError::Timeout { host: named_host(exchange.url).to_owned(), phase: Phase::Total, after: total }),
        }
    }

    async fn hop(&self, exchange: &Exchange<'_>) -> Result<Fetched, FetchError> {
        let started = Instant::now();
        let host = named_host(exchange.url);
        let mut response = self.send(exchange, host).await?;
        if let Some(peer) = response.remote_addr() {
            self.guard.check(exchange.url.host_str().unwrap_or_default(), peer.ip())?;
        }
        let first_byte = started.elapsed();
        let status = response.status().as_u16();

        if let Some(to) = redirect::target(status, response.headers(), exchange.url)? {
            let body_bytes = body::drain(&mut response).await;
            let timings = Timings { first_byte, total: started.elapsed(), decode: Duration::ZERO };
            let set_cookies = set_cookies(response.headers());
            let kind = HopKind::HttpRedirect;
            return Ok(Fetched::Redirect(Redirect { status, to, kind, set_cookies, timings, body_bytes }));
        }

        let limits = Limits {
            host,
            bytes: self.config.max_body_bytes,
            read: self.config.read_timeout,
            connect: self.config.connect_timeout,
        };
        let body::Read { body, decode } = body::read(&mut response, &limits).await?;
        let mut timings = Timings { first_byte, total: started.elapsed(), decode };

        let detecting = Instant::now();

        let mut url = exchange.url.clone();
        url.set_fragment(None);
        let headers = fields(response.headers());
        let mut page = answered(url, status, headers, body);
        timings.decode += detecting.elapsed();
        page.timings = timings;

        Ok(match meta_refresh::target(&page) {
            Some(to) => {
                let body_bytes = page.body.len() as u64;
                let (kind, set_cookies) = (HopKind::MetaRefresh, set_cookies(response.headers()));
                Fetched::Redirect(Redirect { status, to, kind, set_cookies, timings, body_bytes })
            }
            None => Fetched::Page(page),
        })
    }

    async fn send(&self, exchange: &Exchange<'_>, host: &str) -> Result<reqwest::Response, FetchError> {
        self.guard.check_url(exchange.url)?;
        let mut request = self.client.request(method(exchange.method), exchange.url.clone()).headers(header_map(exchange)?);
        if let Some(payload) = exchange.payload {
            request = request.body(payload.clone());
        }
        match tokio::time::timeout(self.config.read_timeout, request.send()).await {
            Ok(sent) => sent.map_err(|error| cause::of(&error, host, self.config.connect_timeout)),
            Err(_) => Err(FetchError::Timeout { host: host.to_owned(), phase: Phase::Read, after: self.config.read_timeout }),
        }
    }
}

/// A page from the parts of an answer: its media type and its encoding are found out as those of a page that is fetched. Names of header
/// fields are in lower case; the body is decompressed.
#[must_use]
pub fn answered(url: Url, status: u16, headers: Vec<Header>, body: Bytes) -> Page {
    let declared = headers.iter().find(|header| header.name == "content-type").map(|header| header.value.as_str());
    let content_type = sniff::content_type(declared, &body);
    let charset = charset::detect(content_type.as_ref(), &body, charset::top_level_domain(&url)).map(|encoding| encoding.name());
    let (chain, timings, text) = (Vec::new(), Timings::default(), OnceLock::new());
    Page { url, status, headers, content_type, body, charset, chain, timings, text }
}

fn set_cookies(map: &HeaderMap) -> Vec<String> {
    let values = map.get_all(SET_COOKIE).iter().filter(|value| is_text(value));
    values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
}

// A cookie must go back as it came, and what is no UTF-8 would come back as something else.
fn is_text(value: &HeaderValue) -> bool {
    let is_text = std::str::from_utf8(value.as_bytes()).is_ok();
    if !is_text {
        tracing::debug!(bytes = value.len(), "a Set-Cookie field that is no UTF-8 is left out");
    }
    is_text
}

fn fields(map: &HeaderMap) -> Vec<Header> {
    map.iter()
        .filter(|(name, value)| *name != SET_COOKIE || is_text(value))
        .map(|(name, value)| Header {
            name: name.as_str().to_owned(),
            value: String::from_utf8_lossy(value.as_bytes()).into_owned(),
        })
        .collect()
}
