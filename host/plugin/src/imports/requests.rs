//! From what a plugin asks for to a request that may be accepted.
//!
//! Decision: what is wrong with the *record* (header, JSON, status range) is the plugin's mistake and fails the call into the host;
//! what is wrong with the *URL* comes from pages, so that it is refused by reason and the rest of the batch goes on.

use crate::bindings::nephila::crawler::types;
use crate::call::{Call, CallSettings};
use crate::failure::one_line;
use crate::fault::Fault;
use crate::{json, names};
use nephila_model::{
    Header, Method, NewRequest, Place, RefusedReason, Renderer, RequestSpec, SiteKey, StatusRange, UniqueKey, parse_target,
};
use nephila_page::ParsedPage;
use std::borrow::Cow;
use url::Url;

/// Header fields of one request.
const MOST_HEADERS: usize = 100;

/// Bytes of a label, a session id or an explicit key.
const SHORT: usize = 512;

/// Where new requests of a call come from.
pub(super) struct Origin<'a> {
    settings: &'a CallSettings,
    page: Option<&'a ParsedPage>,
    request_url: Option<&'a Url>,
    depth: u32,
    parent: Option<UniqueKey>,
    event: Option<&'a str>,
}

impl<'a> Origin<'a> {
    /// `event`: the id of the event that is heard, in a listener.
    pub(super) fn of(call: &'a Call, event: Option<&'a str>) -> Self {
        let request = call.request.as_deref();
        Self {
            settings: &call.settings,
            page: call.page.as_deref(),
            request_url: request.map(|request| &request.url),
            depth: request.map_or(0, |request| request.depth.saturating_add(1)),
            parent: request.map(|request| request.unique_key),
            event,
        }
    }

    /// Whether requests from here are too deep.
    pub(super) fn too_deep(&self) -> bool {
        self.settings.max_depth.is_some_and(|most| self.depth > most)
    }

    /// Whether a URL is longer than the crawl allows.
    pub(super) fn too_long(&self, url: &str) -> bool {
        url.len() > self.settings.max_url_length
    }

    /// The depth of requests from here.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    /// What a reference resolves against. An absolute URL needs nothing, and then the page is not scanned for it.
    fn base(&self, reference: &str) -> Option<&'a Url> {
        if has_scheme(reference) { None } else { self.page.map(ParsedPage::base).or(self.request_url) }
    }

    /// A URL that is asked for, or why it is refused.
    pub(super) fn target(&self, reference: &str) -> Result<Url, RefusedReason> {
        let url = parse_target(reference, self.base(reference)).map_err(|error| match error.code() {
            "scheme" => RefusedReason::Scheme,
            _ => RefusedReason::BadUrl,
        })?;
        if self.too_long(url.as_str()) { Err(RefusedReason::TooLong) } else { Ok(url) }
    }

    /// A plain request for a URL from here.
    pub(super) fn request(&self, url: Url, spec: RequestSpec, key: UniqueKey) -> NewRequest {
        NewRequest {
            unique_key: key,
            site: SiteKey::of(&url, self.settings.site_by),
            url,
            label: None,
            priority: 0,
            place: Place::Queue,
            depth: self.depth,
            spec,
        }
    }

    /// What tells the `ordinal`th request of this call from every other of its URL: the same when the same page is handled again.
    fn salt(&self, ordinal: usize) -> String {
        match (self.parent, self.event) {
            (Some(parent), _) => format!("{parent}-{ordinal}"),
            (None, Some(event)) => format!("event-{event}-{ordinal}"),
            (None, None) => format!("finish-{}-{ordinal}", nephila_model::Timestamp::now().as_millis()),
        }
    }

    /// Checks what a plugin asks for. `ordinal` counts the requests of the call.
    pub(super) fn check(&self, asked: types::NewRequest, ordinal: usize) -> Result<Result<NewRequest, RefusedReason>, Fault> {
        let spec = self.spec(&asked)?;
        if asked.unique_key.is_some() && asked.always_enqueue {
            let message = "a request has both `unique-key` and `always-enqueue`; leave one of them out";
            return Err(Fault::refused("bad-request", message));
        }
        if let Some(key) = &asked.unique_key {
            names::short("unique key", key, SHORT)?;
        }
        if spec.renderer == Renderer::Browser && !self.settings.browser {
            return Ok(Err(RefusedReason::UnsupportedRenderer));
        }
        if self.too_deep() {
            return Ok(Err(RefusedReason::Depth));
        }
        let url = match self.target(&asked.url) {
            Ok(url) => url,
            Err(reason) => return Ok(Err(reason)),
        };
        let mut spec = spec;
        let key = match &asked.unique_key {
            Some(key) => UniqueKey::explicit(key),
            None => UniqueKey::of(&url, spec.method, spec.payload.as_deref()),
        };
        let key = if asked.always_enqueue {
            let salt = self.salt(ordinal);
            let salted = key.salted(salt.as_bytes());
            spec.salt = Some(salt);
            salted
        } else {
            key
        };
        let mut request = self.request(url, spec, key);
        request.label = asked.label;
        request.priority = asked.priority;
        request.place = if asked.forefront { Place::Forefront } else { Place::Queue };
        Ok(Ok(request))
    }

    fn spec(&self, asked: &types::NewRequest) -> Result<RequestSpec, Fault> {
        for (what, text) in [("label", &asked.label), ("session id", &asked.session_id)] {
            if let Some(text) = text {
                names::short(what, text, SHORT)?;
            }
        }
        Ok(RequestSpec {
            method: method(asked.method),
            headers: headers(&asked.headers)?,
            payload: asked.payload.clone().map(Into::into),
            user_data: user_data(asked.user_data.as_deref())?,
            session_id: asked.session_id.clone(),
            session_preferred: None,
            session_rotations: 0,
            starvations: 0,
            renderer: match asked.renderer {
                types::Renderer::Http => Renderer::Http,
                types::Renderer::Browser => Renderer::Browser,
            },
            accepted_statuses: asked.accepted_statuses.iter().map(range).collect::<Result<_, _>>()?,
            max_retries: if asked.no_retry { Some(0) } else { asked.max_retries },
            timeout_millis: asked.timeout_millis,
            salt: None,
            extra_json: extra(asked.extra_json.as_deref())?,
        })
    }
}

/// Whether a reference is absolute: whether the URL parser finds a scheme where it begins. Asking it would be to parse twice.
fn has_scheme(reference: &str) -> bool {
    let mut begins = true;
    // The parser passes over white space and control characters around, and over tabs and line breaks within.
    for c in reference.trim_start_matches(|c| c <= ' ').chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')) {
        let fits = c.is_ascii_alphabetic() || !begins && (c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
        if !fits {
            return !begins && c == ':' && !is_relative_all_the_same(reference);
        }
        begins = false;
    }
    false
}

/// `http:page` is a relative reference where the base has the same scheme (WHATWG URL, "special relative or authority state").
fn is_relative_all_the_same(reference: &str) -> bool {
    let reference = reference.trim_start_matches(|c| c <= ' ');
    let after = |scheme: &str| {
        let begins = reference.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        begins.then(|| !reference[scheme.len()..].starts_with(['/', '\\']))
    };
    after("https:").or_else(|| after("http:")).unwrap_or(false)
}

/// JSON that comes back with a request: checked, in one line.
pub(super) fn user_data(text: Option<&str>) -> Result<Option<String>, Fault> {
    let Some(text) = text else { return Ok(None) };
    json::check(text).map_err(|cause| bad_json("user data", text, &cause))?;
    Ok(Some(json::one_line(text).into_owned()))
}

/// A JSON object for fields of later versions.
pub(super) fn extra(text: Option<&str>) -> Result<Option<String>, Fault> {
    let Some(text) = text else { return Ok(None) };
    json::check_object(text).map_err(|cause| bad_json("extra JSON", text, &cause))?;
    Ok(Some(json::one_line(text).into_owned()))
}

fn bad_json(what: &str, text: &str, cause: &str) -> Fault {
    let message = format!("the {what} is not JSON: {}; it begins `{}`", one_line(cause, 200), one_line(text, 60));
    Fault::refused("bad-json", message)
}

fn headers(asked: &[types::Header]) -> Result<Vec<Header>, Fault> {
    if asked.len() > MOST_HEADERS {
        return Err(Fault::refused("bad-header", format!("a request has more than {MOST_HEADERS} header fields")));
    }
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    let check = |header: &types::Header| {
        let name = header.name.to_ascii_lowercase();
        let value = header.value.trim();
        // A line break in a value would be a header field of its own.
        if name.is_empty() || !name.bytes().all(token) || value.contains(|c: char| c.is_control() && c != '\t') {
            let name: Cow<'_, str> = one_line(&header.name, 80).into();
            return Err(Fault::refused(
                "bad-header",
                format!("`{name}` is no header field, or its value has control characters"),
            ));
        }
        Ok(Header { name, value: value.to_owned() })
    };
    asked.iter().map(check).collect()
}

fn range(asked: &types::StatusRange) -> Result<StatusRange, Fault> {
    let (first, last) = (asked.first, asked.last);
    if (100..=999).contains(&first) && first <= last && last <= 999 {
        return Ok(StatusRange { first, last });
    }
    Err(Fault::refused("bad-request", format!("{first} to {last} is no range of statuses; both are 100 to 999, the lower first")))
}

const fn method(method: types::Method) -> Method {
    match method {
        types::Method::Get => Method::Get,
        types::Method::Head => Method::Head,
        types::Method::Post => Method::Post,
        types::Method::Put => Method::Put,
        types::Method::Delete => Method::Delete,
        types::Method::Options => Method::Options,
        types::Method::Patch => Method::Patch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> CallSettings {
        CallSettings { max_depth: Some(2), max_url_length: 60, ..CallSettings::default() }
    }

    fn origin<'a>(settings: &'a CallSettings, page: Option<&'a ParsedPage>, depth: u32) -> Origin<'a> {
        Origin { settings, page, request_url: None, depth, parent: Some(UniqueKey::explicit("parent")), event: None }
    }

    fn asked(url: &str) -> types::NewRequest {
        types::NewRequest {
            url: url.into(),
            method: types::Method::Get,
            headers: Vec::new(),
            payload: None,
            label: None,
            user_data: None,
            priority: 0,
            forefront: false,
            unique_key: None,
            session_id: None,
            renderer: types::Renderer::Http,
            accepted_statuses: Vec::new(),
            max_retries: None,
            no_retry: false,
            always_enqueue: false,
            timeout_millis: None,
            extra_json: None,
        }
    }

    #[test]
    fn urls_are_refused_by_reason_and_records_by_error() {
        let settings = settings();
        let origin = origin(&settings, None, 1);
        let refused = |url: &str| origin.check(asked(url), 0).expect("no fault").expect_err(url);
        assert_eq!(refused("ftp://example.com/"), RefusedReason::Scheme);
        assert_eq!(refused("/relative"), RefusedReason::BadUrl);
        assert_eq!(refused(&format!("http://example.com/{}", "x".repeat(80))), RefusedReason::TooLong);
        let browser = types::NewRequest { renderer: types::Renderer::Browser, ..asked("http://a.b/") };
        assert_eq!(origin.check(browser, 0).expect("no fault"), Err(RefusedReason::UnsupportedRenderer));
        let header = |name: &str, value: &str| types::NewRequest {
            headers: vec![types::Header { name: name.into(), value: value.into() }],
            ..asked("http://a.b/")
        };
        assert!(origin.check(header("X-A", "b"), 0).is_ok());
        for bad in [
            header("x y", "b"),
            header("x", "b\r\nHost: evil"),
            types::NewRequest { user_data: Some("{".into()), ..asked("http://a.b/") },
            types::NewRequest { extra_json: Some("[]".into()), ..asked("http://a.b/") },
            types::NewRequest { unique_key: Some("k".into()), always_enqueue: true, ..asked("http://a.b/") },
            types::NewRequest { accepted_statuses: vec![types::StatusRange { first: 300, last: 200 }], ..asked("http://a.b/") },
        ] {
            assert!(origin.check(bad.clone(), 0).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_reference_has_a_scheme_if_the_url_parser_says_so() {
        let pieces =
            ["", "a", "http", ":", "/", "//b", "1", "+", "-", ".", " ", "\t", "\n", "\u{1}", "ä", "?", "#", "X", "\u{a0}"];
        for first in pieces {
            for second in pieces {
                for third in pieces {
                    let reference = format!("{first}{second}{third}");
                    // `http:page` can be either, so that the base is asked for.
                    let either = reference.trim_start_matches(|c| c <= ' ').strip_prefix("http:");
                    let relative = Url::parse(&reference) == Err(url::ParseError::RelativeUrlWithoutBase)
                        || either.is_some_and(|rest| !rest.starts_with('/'));
                    assert_eq!(has_scheme(&reference), !relative, "{reference:?}");
                }
            }
        }
    }

    #[test]
    fn relative_references_resolve_against_the_page_and_its_base() {
        let settings = settings();
        let page = ParsedPage::new(std::sync::Arc::new(nephila_model::Page {
            url: Url::parse("http://example.com/a/b").expect("a URL"),
            status: 200,
            headers: Vec::new(),
            content_type: nephila_model::ContentType::parse("text/html"),
            body: "<base href='/shop/'>".into(),
            charset: Some("UTF-8"),
            chain: Vec::new(),
            timings: nephila_model::Timings::default(),
            text: std::sync::OnceLock::new(),
        }));
        let request = origin(&settings, Some(&page), 1).check(asked("c#d"), 0).expect("no fault").expect("a request");
        assert_eq!((request.url.as_str(), request.depth), ("http://example.com/shop/c", 1));
        let deep = origin(&settings, Some(&page), 3).check(asked("c"), 0).expect("no fault");
        assert_eq!(deep, Err(RefusedReason::Depth));
    }

    #[test]
    fn always_enqueue_gives_each_request_a_key_of_its_own_and_the_same_one_in_a_re_run() {
        let settings = settings();
        let origin = origin(&settings, None, 1);
        let key = |always_enqueue, ordinal| {
            let asked = types::NewRequest { always_enqueue, ..asked("http://example.com/") };
            origin.check(asked, ordinal).expect("no fault").expect("a request").unique_key
        };
        assert_eq!(key(false, 1), key(false, 2));
        assert_ne!(key(true, 1), key(true, 2));
        assert_eq!(key(true, 1), key(true, 1));
        assert_ne!(key(true, 1), key(false, 1));
    }
}
