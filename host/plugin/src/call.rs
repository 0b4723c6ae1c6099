//! A call of a plugin as a message: what goes in, what comes out.
//!
//! Decision: plain data and one reader, nothing of wasmtime, so that a call could cross a process border. What a crawl's calls
//! have in common is one shared [`CallSettings`].

use crate::session::{SessionAsk, SessionPoolView, SessionView};
use crate::{CallFailure, Limits, ParsedPage, Reads};
use nephila_model::{Effects, QueuedRequest, SiteBy, StateOp};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What all calls of a crawl have in common.
#[derive(Debug, Clone)]
pub struct CallSettings {
    /// The plugin's input (`--input`) as JSON; `null` if there is none.
    pub input_json: String,
    /// Settings that a plugin may ask for, by name, each as JSON.
    pub settings: BTreeMap<String, String>,
    /// Links between a start URL and a request, at most; `None` for no limit. Deeper ones are refused.
    pub max_depth: Option<u32>,
    /// What counts as one site.
    pub site_by: SiteBy,
    /// Retries where a request says nothing. Default 3.
    pub max_retries: u32,
    /// Time for a fetch where a request says nothing. Default 30 s.
    pub timeout: Duration,
    /// Bytes of a URL, at most. Default 2,083. Longer ones are refused.
    pub max_url_length: usize,
    /// Whether this host has a browser. Default no: requests for it are refused.
    pub browser: bool,
    /// What a call may spend.
    pub limits: Limits,
}

impl Default for CallSettings {
    fn default() -> Self {
        Self {
            input_json: "null".to_owned(),
            settings: BTreeMap::new(),
            max_depth: None,
            site_by: SiteBy::default(),
            max_retries: 3,
            timeout: Duration::from_secs(30),
            max_url_length: 2_083,
            browser: false,
            limits: Limits::default(),
        }
    }
}

/// What a plugin is called with.
#[derive(Clone)]
pub struct Call {
    /// The request in hand. `None` in `finish`.
    pub request: Option<Arc<QueuedRequest>>,
    /// The page that was fetched for it. `None` in `finish`, and in `failure` when no page came. A re-run on the same page takes
    /// the same one, so that it is parsed once.
    pub page: Option<Arc<ParsedPage>>,
    /// The session that fetched it. `None` in `finish`, and where the crawl uses no sessions.
    pub session: Option<Arc<dyn SessionView>>,
    /// The crawl's session pool, to add sessions to. `None` where the crawl uses no sessions.
    pub pool: Option<Arc<dyn SessionPoolView>>,
    /// What is committed.
    pub reads: Arc<dyn Reads>,
    /// What calls before this one, that are committed with it, did to the state: it sees that over what is committed.
    pub earlier: Vec<StateOp>,
    /// What all calls of the crawl have in common.
    pub settings: Arc<CallSettings>,
}

impl Call {
    /// The URL that log lines name: the page's, or else the request's.
    pub(crate) fn url(&self) -> &str {
        match (&self.page, &self.request) {
            (Some(page), _) => page.page().url.as_str(),
            (None, Some(request)) => request.url.as_str(),
            (None, None) => "",
        }
    }
}

/// What a call cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallMetrics {
    /// Time on a processor, instantiation and host functions included.
    pub cpu: Duration,
    /// Of that, what the host did when the plugin called it, parsing left out.
    pub host: Duration,
    /// Of that, parsing the page and scanning it for links.
    pub parse: Duration,
    /// Time on the wall, without the wait for a free sandbox.
    pub wall: Duration,
    /// Fuel that the plugin's own code used, instantiation included; `None` unless the host counts it
    /// ([`Metering::Fuel`](crate::Metering::Fuel)).
    pub fuel: Option<u64>,
    /// The most memory that the sandbox held, in bytes.
    pub memory_peak: usize,
    /// Calls from the plugin into the host.
    pub host_calls: u64,
    /// Log lines written.
    pub log_lines: u64,
    /// Log lines dropped, because the plugin had written too much.
    pub log_lines_dropped: u64,
}

/// What a call came to.
#[derive(Debug)]
pub struct CallReport {
    /// What it wants done. After a failure only its state reads and its refusals: what it saw may be why it failed.
    pub effects: Effects,
    /// What it asks for its session, also after a failure.
    pub session: SessionAsk,
    /// How it ended.
    pub ended: Result<(), CallFailure>,
    /// What it cost.
    pub metrics: CallMetrics,
}

impl CallReport {
    /// Of a call that nobody was there for.
    pub(crate) fn nothing() -> Self {
        let (effects, session, metrics) = (Effects::default(), SessionAsk::default(), CallMetrics::default());
        Self { effects, session, ended: Ok(()), metrics }
    }
}
