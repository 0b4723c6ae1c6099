//! What a fetcher is made with.

use crate::AddressGuard;
use std::time::Duration;

/// How Nephila introduces itself where nobody says otherwise: its own name, never a browser's. There is no address in it, since the
/// one that a troubled site needs is that of whoever runs the crawl: `FetchConfig::user_agent` should give it, as in
/// `Nephila/1 (+https://example.com/our-crawler)`.
pub const DEFAULT_USER_AGENT: &str = concat!("Nephila/", env!("CARGO_PKG_VERSION"), " (web crawler)");

/// Settings of a [`crate::Fetcher`].
#[derive(Debug, Clone)]
pub struct FetchConfig {
    /// The `User-Agent` of requests that do not bring their own.
    pub user_agent: String,
    /// For resolving the name, connecting and the TLS handshake together. Default 10 s; lower loses slow sites, higher lets dead ones
    /// hold their slots.
    pub connect_timeout: Duration,
    /// For a stretch in which no byte comes. Default 30 s. Before the response's header it is counted from the start of the exchange.
    pub read_timeout: Duration,
    /// For the exchange as a whole, against servers that send a byte a second. Default 60 s; an exchange may bring its own.
    pub total_timeout: Duration,
    /// Bytes of a body at most, counted after decompression while it comes in. Default 32 MiB. A body in memory is never larger; the
    /// chunk that crosses the limit is dropped.
    pub max_body_bytes: usize,
    /// How long an idle connection is kept for the next request to the same site. Default 15 s. There is no bound on their number but
    /// this time: a crawl of many sites with a high value needs many file descriptors.
    pub pool_idle_timeout: Duration,
    /// Which addresses may be contacted.
    pub guard: AddressGuard,
}

impl Default for FetchConfig {
    fn default() -> Self {
        Self {
            user_agent: DEFAULT_USER_AGENT.to_owned(),
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_secs(60),
            max_body_bytes: 32 << 20,
            pool_idle_timeout: Duration::from_secs(15),
            guard: AddressGuard::new(),
        }
    }
}

/// Why there is no fetcher.
#[derive(Debug, thiserror::Error)]
pub enum FetchSetupError {
    /// The user agent cannot stand in a header.
    #[error("the user agent {user_agent:?} cannot be sent; it may hold visible ASCII characters and spaces only")]
    UserAgent {
        /// What was given.
        user_agent: String,
    },
    /// The HTTP client could not be made.
    #[error(
        "the HTTP client cannot start: {cause}; if it is about certificates, install the system's root certificates (ca-certificates)"
    )]
    Client {
        /// What it says.
        cause: String,
    },
}
