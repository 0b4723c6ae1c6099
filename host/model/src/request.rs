//! Requests: as they are asked for, as they rest in the queue, and as they are in flight.

use crate::{Hop, Lease, RequestId, SiteBy, SiteId, SiteKey, UniqueKey};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::sync::Arc;
use url::Url;

/// An HTTP request method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs, reason = "the names are those of RFC 9110 and RFC 5789")]
pub enum Method {
    #[default]
    Get,
    Head,
    Post,
    Put,
    Delete,
    Options,
    Patch,
}

impl Method {
    /// As it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
            Self::Patch => "PATCH",
        }
    }

    fn is_get(&self) -> bool {
        matches!(self, Self::Get)
    }
}

/// One header field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Its name, in lower case.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// What fetches a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Renderer {
    /// The HTTP client.
    #[default]
    Http,
    /// A browser.
    Browser,
}

impl Renderer {
    fn is_http(&self) -> bool {
        matches!(self, Self::Http)
    }
}

/// A range of statuses, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusRange {
    /// The first.
    pub first: u16,
    /// The last.
    pub last: u16,
}

impl StatusRange {
    /// What is accepted where a request says nothing: 200 to 299.
    pub const SUCCESS: Self = Self { first: 200, last: 299 };
}

/// Where a request goes among those of the same site and priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Place {
    /// In the crawl's order: after those that wait (first in, first out), or before them by setting.
    #[default]
    Queue,
    /// Before all of them; last in, first out (Crawlee: `forefront`).
    Forefront,
}

/// What a request says of its fetch and of its handling. Kept as JSON in the row; the payload has a column of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestSpec {
    /// The method.
    #[serde(skip_serializing_if = "Method::is_get")]
    pub method: Method,
    /// Extra header fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<Header>,
    /// The body.
    #[serde(skip)]
    pub payload: Option<Bytes>,
    /// JSON of the plugin's that comes back with the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_data: Option<String>,
    /// The session that must serve it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The session that it was asked for by before a redirect moved it to another site: it goes on with that one if that may be, since
    /// it has the cookies, and with any other if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_preferred: Option<String>,
    /// How often it was tried with another session because a site had blocked the one before. Kept here, and not in a column, since
    /// few requests ever have one.
    #[serde(skip_serializing_if = "is_zero")]
    pub session_rotations: u32,
    /// How often the machine had no memory for its handler. Kept here as the above.
    #[serde(skip_serializing_if = "is_zero")]
    pub starvations: u32,
    /// What fetches it.
    #[serde(skip_serializing_if = "Renderer::is_http")]
    pub renderer: Renderer,
    /// Statuses that reach the handler; empty means [`StatusRange::SUCCESS`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted_statuses: Vec<StatusRange>,
    /// Retries at most; `None` means the crawl's setting, `Some(0)` none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// Milliseconds for the whole fetch; `None` means the crawl's setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_millis: Option<u32>,
    /// What tells this request from another of the same URL (`always-enqueue`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub salt: Option<String>,
    /// JSON object for fields of later versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_json: Option<String>,
}

// As serde asks for it.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes what it asks about by reference")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl RequestSpec {
    /// Whether a response with this status goes to the handler. One outside is a failed fetch.
    #[must_use]
    pub fn accepts(&self, status: u16) -> bool {
        let within = |range: &StatusRange| (range.first..=range.last).contains(&status);
        if self.accepted_statuses.is_empty() { within(&StatusRange::SUCCESS) } else { self.accepted_statuses.iter().any(within) }
    }
}

/// A request that may be accepted into the queue: checked, with its identity and its site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRequest {
    /// The URL, `http` or `https`, without a fragment.
    pub url: Url,
    /// Its identity.
    pub unique_key: UniqueKey,
    /// Whom it troubles.
    pub site: SiteKey,
    /// What the plugin's router dispatches on.
    pub label: Option<String>,
    /// Higher goes first.
    pub priority: i32,
    /// Where it goes among its equals.
    pub place: Place,
    /// Links between a start URL (0) and this request.
    pub depth: u32,
    /// Everything else.
    pub spec: RequestSpec,
}

impl NewRequest {
    /// A plain GET of a URL at depth 0.
    #[must_use]
    pub fn get(mut url: Url, site_by: SiteBy) -> Self {
        url.set_fragment(None);
        Self {
            unique_key: UniqueKey::of(&url, Method::Get, None),
            site: SiteKey::of(&url, site_by),
            url,
            label: None,
            priority: 0,
            place: Place::Queue,
            depth: 0,
            spec: RequestSpec::default(),
        }
    }
}

/// A request's place in the order of its site (S2): smaller goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Position {
    /// Higher goes first.
    pub priority: i32,
    /// Among equals, smaller goes first. The store gives it by arrival, [`Place`] and the crawl's order.
    pub rank: i64,
}

impl Ord for Position {
    fn cmp(&self, other: &Self) -> Ordering {
        other.priority.cmp(&self.priority).then(self.rank.cmp(&other.rank))
    }
}

impl PartialOrd for Position {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A request at rest: a pending row of the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedRequest {
    /// Its row.
    pub id: RequestId,
    /// The row of its site.
    pub site: SiteId,
    /// Its place in the site's order.
    pub position: Position,
    /// Its identity.
    pub unique_key: UniqueKey,
    /// Where to fetch it: what was asked for, or where a redirect moved it.
    pub url: Url,
    /// What was asked for.
    pub original_url: Url,
    /// What the plugin's router dispatches on.
    pub label: Option<String>,
    /// Links between a start URL and this request.
    pub depth: u32,
    /// Retries so far.
    pub retry_count: u32,
    /// The redirects that led to `url`, oldest first.
    pub chain: Vec<Hop>,
    /// Everything else.
    pub spec: RequestSpec,
}

/// A request in flight: a queued one and the right to decide about it. It is not a state of the row; a claim that is dropped
/// leaves the row pending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The row as it was read. Shared, since everything along the line looks at it and nothing changes it.
    pub request: Arc<QueuedRequest>,
    /// The lease on the site's shard under which it was read.
    pub lease: Lease,
}

/// What is known of a unique key, seen from a page that has found its request at a certain depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyStanding {
    /// It was never accepted.
    New,
    /// It was accepted, and its request may wait at a greater depth: to enqueue it once more may bring it nearer.
    MayBeDeeper,
    /// It was accepted, and to enqueue it once more would change nothing.
    Settled,
}

impl KeyStanding {
    /// Whether the key was accepted, ever (S1).
    #[must_use]
    pub const fn is_known(self) -> bool {
        !matches!(self, Self::New)
    }
}

/// Where a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestState {
    /// Waiting, or in flight.
    Pending,
    /// Done.
    Handled,
    /// Given up.
    Failed,
    /// Set aside, with a reason.
    Skipped,
}

/// What a queue knows of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestStatus {
    /// Where it stands.
    pub state: RequestState,
    /// The URL that answered, once one has.
    pub final_url: Option<String>,
    /// Why it failed or was skipped: a code of [`crate::FailureCode`] or [`crate::SkipReason`].
    pub reason: Option<String>,
    /// The last HTTP status that it got.
    pub status: Option<u16>,
}

/// Why a URL cannot be requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRequest {
    /// It does not parse.
    #[error("`{url}` is not a URL ({cause}); write it with its scheme, as in https://example.com/")]
    Unparsable {
        /// What was given.
        url: String,
        /// What the parser says.
        cause: String,
    },
    /// It is of another scheme.
    #[error("`{url}` is a {scheme} URL; only http and https can be crawled")]
    Scheme {
        /// What was given.
        url: String,
        /// Its scheme.
        scheme: String,
    },
}

impl InvalidRequest {
    /// A stable word for statistics.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unparsable { .. } => "bad-url",
            Self::Scheme { .. } => "scheme",
        }
    }
}

/// Parses a URL that is to be requested: `http` or `https` with a host. The fragment is dropped, it never reaches a server.
///
/// # Errors
/// [`InvalidRequest`] names what is wrong and what would be right.
pub fn parse_target(text: &str, base: Option<&Url>) -> Result<Url, InvalidRequest> {
    let parsed = base.map_or_else(|| Url::parse(text), |base| base.join(text));
    let mut url = parsed.map_err(|cause| InvalidRequest::Unparsable { url: text.to_owned(), cause: cause.to_string() })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(InvalidRequest::Scheme { url: text.to_owned(), scheme: url.scheme().to_owned() });
    }
    url.set_fragment(None);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_without_scheme_or_host_are_refused_with_the_way_out() {
        for bad in ["example.com/a", "/a", "http://", "http:///", ""] {
            let error = parse_target(bad, None).expect_err(bad);
            assert!(error.to_string().contains("https://example.com/"), "{error}");
        }
        for bad in ["ftp://example.com/", "javascript:void(0)", "mailto:a@b.c", "data:,x"] {
            assert_eq!(parse_target(bad, None).expect_err(bad).code(), "scheme");
        }
        let base = Url::parse("http://example.com/a/b").expect("a URL");
        assert_eq!(parse_target("../c#d", Some(&base)).expect("a URL").as_str(), "http://example.com/c");
    }

    #[test]
    fn positions_order_by_priority_then_rank() {
        let mut places = [(0, 5), (0, -3), (7, 9), (-1, 0)].map(|(priority, rank)| Position { priority, rank });
        places.sort();
        assert_eq!(places.map(|p| (p.priority, p.rank)), [(7, 9), (0, -3), (0, 5), (-1, 0)]);
    }

    #[test]
    fn a_spec_that_says_nothing_takes_no_room() {
        assert_eq!(serde_json::to_string(&RequestSpec::default()).expect("JSON"), "{}");
        assert_eq!(serde_json::from_str::<RequestSpec>("{}").expect("a spec"), RequestSpec::default());
        assert!(RequestSpec::default().accepts(204) && !RequestSpec::default().accepts(404));
    }
}
