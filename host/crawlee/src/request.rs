//! A request in the shape of Crawlee for Python (`crawlee/_request.py` of 1.11), and the unique key that it has there.
//!
//! Decision: field names are those that Crawlee for Python writes. A plain request gets the key that Crawlee would compute, so that a crawl
//! which goes on there knows what was done; anything else, which Crawlee would take for the same, keeps ours. Two of our requests
//! may come to the same key of Crawlee's, which lower-cases paths: whoever writes them must look.

use crate::time::in_state;
use nephila_model::{Method, QueuedRequest, RequestState, Timestamp};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};
use url::Url;

/// What `yarl` leaves as it is in a query.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b'?')
    .remove(b'/')
    .remove(b':')
    .remove(b'@');

/// A request of ours, wherever it stands.
#[derive(Debug, Clone, Copy)]
pub struct ListedRequest<'a> {
    /// The request.
    pub request: &'a QueuedRequest,
    /// Where it stands.
    pub state: RequestState,
    /// The URL that answered, if it is another than it was asked for.
    pub final_url: Option<&'a str>,
    /// What Crawlee takes as the time at which it was done, if it was. Ours is not kept.
    pub done_at: Timestamp,
}

/// The key that Crawlee for Python computes for a plain request (`compute_unique_key`): the URL in lower case, without a fragment, `utm_`
/// parameters and a slash at its end, its parameters sorted.
#[must_use]
pub fn unique_key(url: &Url) -> String {
    let mut parameters: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, _)| !name.starts_with("utm_"))
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    parameters.sort();
    let mut key = url.clone();
    key.set_fragment(None);
    key.set_query(None);
    let mut key = String::from(key);
    if key.ends_with('/') {
        key.pop();
    }
    for (place, (name, value)) in parameters.iter().enumerate() {
        key.push(if place == 0 { '?' } else { '&' });
        let encoded = |text: &str| utf8_percent_encode(text, QUERY).to_string().replace("%20", "+");
        key.push_str(&format!("{}={}", encoded(name), encoded(value)));
    }
    key.to_lowercase()
}

impl ListedRequest<'_> {
    /// The key that Crawlee would give it; `None` if it would take it for another one.
    pub(crate) fn crawlees_key(&self) -> Option<String> {
        let spec = &self.request.spec;
        let is_plain = spec.method == Method::Get && spec.payload.is_none() && spec.salt.is_none();
        is_plain.then(|| unique_key(&self.request.original_url))
    }

    /// Whether Crawlee counts it as handled.
    pub(crate) fn is_done(&self) -> bool {
        self.state != RequestState::Pending
    }

    /// Its file.
    pub(crate) fn shape(&self, key: &str) -> Value {
        let (request, spec) = (self.request, &self.request.spec);
        let headers: Map<String, Value> =
            spec.headers.iter().map(|header| (header.name.to_lowercase(), header.value.clone().into())).collect();
        let payload = spec.payload.as_deref().map(String::from_utf8_lossy);
        let loaded = self.final_url.unwrap_or(request.url.as_str());
        json!({
            "unique_key": key,
            "url": request.original_url.as_str(),
            "method": spec.method.as_str(),
            "payload": payload,
            "headers": headers,
            "user_data": self.user_data(),
            "retry_count": request.retry_count,
            "no_retry": spec.max_retries == Some(0),
            "loaded_url": (self.state == RequestState::Handled).then_some(loaded),
            "handled_at": self.is_done().then(|| in_state(self.done_at)),
        })
    }

    fn user_data(&self) -> Map<String, Value> {
        let (request, spec) = (self.request, &self.request.spec);
        let own = spec.user_data.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let mut data = match own {
            Some(Value::Object(data)) => data,
            // There it is an object, whatever it was.
            Some(other) => Map::from_iter([("value".to_owned(), other)]),
            None => Map::new(),
        };
        if let Some(label) = &request.label {
            data.insert("label".to_owned(), label.clone().into());
        } else if !data.get("label").is_none_or(Value::is_string) {
            // A field of the plugin's that is no label there.
            data.remove("label");
        }
        // `RequestState` of Crawlee for Python.
        let state = match self.state {
            RequestState::Pending => 0,
            RequestState::Handled => 4,
            RequestState::Failed => 6,
            RequestState::Skipped => 7,
        };
        let mut crawlee = Map::from_iter([("state".to_owned(), state.into()), ("crawlDepth".to_owned(), request.depth.into())]);
        if let Some(retries) = spec.max_retries {
            crawlee.insert("maxRetries".to_owned(), retries.into());
        }
        if spec.session_rotations > 0 {
            crawlee.insert("sessionRotationCount".to_owned(), spec.session_rotations.into());
        }
        if let Some(session) = &spec.session_id {
            crawlee.insert("session_id".to_owned(), session.clone().into());
        }
        data.insert("__crawlee".to_owned(), crawlee.into());
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_request_has_crawlees_key() {
        for (url, key) in [
            ("http://Site.test/", "http://site.test"),
            ("http://site.test/A/b/#x", "http://site.test/a/b"),
            ("http://site.test/a?b=2&a=1&utm_source=x", "http://site.test/a?a=1&b=2"),
            ("http://site.test:8080/?q=a%20b/c", "http://site.test:8080?q=a+b/c"),
            ("http://site.test/a?q=%C3%9C", "http://site.test/a?q=%c3%9c"),
        ] {
            assert_eq!(unique_key(&Url::parse(url).unwrap()), key, "{url}");
        }
    }
}
