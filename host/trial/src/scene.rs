//! A call as a trial sets it up: a request, a page, what may be read; run as often as wanted, each time in a sandbox of its own.

use crate::session::{TrialPool, TrialSession};
use crate::{Entry, Fixture, FixtureError, KeptValue, Seen, Session, World, files};
use bytes::Bytes;
use nephila_fetch::answered;
use nephila_model::{
    Effects, FailureCode, FailureReason, Header, Hop, HopKind, KvValue, Method, NewRequest, Page, Position, QueuedRequest,
    RequestId, RequestSpec, SiteBy, SiteId, StatusRange, parse_target,
};
use nephila_plugin::{Call, CallReport, CallSettings, ParsedPage, PipelineReport, Plugin, SessionPoolView, SessionView};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use url::Url;

/// What the plugin is called with, and over which world.
#[derive(Clone)]
pub struct Scene {
    entry: Entry,
    request: Option<Arc<QueuedRequest>>,
    page: Option<Arc<Page>>,
    failure: Option<(FailureReason, u32)>,
    session: Option<Arc<TrialSession>>,
    world: World,
    settings: Arc<CallSettings>,
}

impl Scene {
    /// A page that was fetched just now, for its handler, in an empty world, by a session if there is one.
    #[must_use]
    pub fn of_page(request: QueuedRequest, page: Page, session: Option<&Session>, settings: CallSettings) -> Self {
        let world = World { known: [*request.unique_key.as_bytes()].into(), ..World::default() };
        let session = session.map(|given| Arc::new(TrialSession::of(given, &page.url)));
        let request = answered_by(request, Some(&page));
        let (request, page) = (Some(Arc::new(request)), Some(Arc::new(page)));
        Self { entry: Entry::Handle, request, page, failure: None, session, world, settings: Arc::new(settings) }
    }

    /// What a fixture describes. `settings` are those of the crawl; the fixture's input takes the place of theirs.
    ///
    /// # Errors
    /// [`FixtureError`] if something of it cannot be read or is not what it should be.
    pub fn of_fixture(fixture: &Fixture, path: &Path, settings: &CallSettings) -> Result<Self, FixtureError> {
        let wrong = |cause: String| FixtureError::Form { path: path.display().to_string(), cause };
        let entry = fixture.entry();
        let url = parse_target(&fixture.url, None).map_err(|error| wrong(error.to_string()))?;
        let asked = match &fixture.request.url {
            Some(asked) => parse_target(asked, Some(&url)).map_err(|error| wrong(format!("request.url: {error}")))?,
            None => url.clone(),
        };
        let mut settings = settings.clone();
        if !fixture.input.is_null() {
            settings.input_json = fixture.input.to_string();
        }
        let request = QueuedRequest {
            label: fixture.request.label.clone(),
            depth: fixture.request.depth,
            retry_count: fixture.request.retry_count,
            spec: RequestSpec {
                accepted_statuses: fixture
                    .request
                    .accepted_statuses
                    .iter()
                    .map(|[first, last]| StatusRange { first: *first, last: *last })
                    .collect(),
                user_data: (!fixture.request.user_data.is_null()).then(|| fixture.request.user_data.to_string()),
                ..RequestSpec::default()
            },
            ..queued(asked, settings.site_by)
        };
        let status = fixture.status.unwrap_or(200);
        if entry == Entry::Handle && !request.spec.accepts(status) {
            return Err(wrong(format!(
                "a crawl fails an answer with status {status} and does not call the handler; if the plugin asks for it, say so: \
                 \"request\": {{\"acceptedStatuses\": [[{status}, {status}]]}}"
            )));
        }
        let has_page = entry != Entry::Finish;
        let session = fixture.session.as_ref().filter(|_| has_page).map(|given| Arc::new(TrialSession::of(given, &url)));
        let page = match fixture.page_file(path)?.filter(|_| has_page) {
            Some(file) => Some(Arc::new(page(fixture, url, &request, &file)?)),
            None => None,
        };
        let request = answered_by(request, page.as_deref());
        let failure = match (&fixture.failure, entry) {
            (None, Entry::Failure) => return Err(wrong("a call of `failure` needs a \"failure\" with a \"code\"".to_owned())),
            (Some(_), Entry::Handle | Entry::Finish) => {
                return Err(wrong("\"failure\" is what the entry point `failure` is told; leave it out, or \"call\"".to_owned()));
            }
            (None, _) => None,
            (Some(given), Entry::Failure) => {
                let code = FailureCode(Cow::Owned(given.code.clone()));
                let reason = FailureReason { code, message: given.message.clone(), status: fixture.status };
                Some((reason, given.attempts))
            }
        };
        let world = World {
            state: fixture.state.iter().map(|(key, value)| (key.clone(), value.to_string())).collect(),
            key_values: fixture.key_values.iter().map(|(key, value)| (key.clone(), kept(value))).collect(),
            items: fixture.items.iter().map(Value::to_string).collect(),
            known: [*request.unique_key.as_bytes()].into(),
        };
        let request = has_page.then(|| Arc::new(request));
        Ok(Self { entry, request, page, failure, session, world, settings: Arc::new(settings) })
    }

    /// The entry point that is called.
    #[must_use]
    pub fn entry(&self) -> Entry {
        self.entry
    }

    /// Calls the plugin.
    pub async fn play(&self, plugin: &Plugin) -> Seen {
        let call = Call {
            request: self.request.clone(),
            page: self.page.as_ref().map(|page| Arc::new(ParsedPage::new(Arc::clone(page)))),
            session: self.session.clone().map(|session| session as Arc<dyn SessionView>),
            // Fresh for each trial: a session that was added to one is not there in the next.
            pool: self.session.as_ref().and_then(|_| TrialPool::new()).map(|pool| Arc::new(pool) as Arc<dyn SessionPoolView>),
            reads: Arc::new(self.world.clone()),
            earlier: Vec::new(),
            settings: Arc::clone(&self.settings),
        };
        let report = match (self.entry, &self.failure) {
            (Entry::Failure, Some((reason, attempts))) => plugin.failure(call.clone(), reason, *attempts).await,
            (Entry::Finish, _) => plugin.finish(call.clone()).await,
            (Entry::Handle | Entry::Failure, _) => plugin.handle(call.clone()).await,
        };
        let (report, dropped) = passed(plugin, call, report).await;
        Seen { dropped, ..Seen::of(&report, &self.world, self.settings.limits.state_value_bytes) }
    }
}

// Items pass through the plugin's own pipeline, as in a crawl.
async fn passed(plugin: &Plugin, call: Call, report: CallReport) -> (CallReport, BTreeMap<String, u32>) {
    if report.ended.is_err() || report.effects.items.is_empty() || !plugin.entry_points().pipeline {
        return (report, BTreeMap::new());
    }
    let CallReport { mut effects, session, metrics, .. } = report;
    let items = std::mem::take(&mut effects.items);
    let call = Call { earlier: effects.state_ops.clone(), ..call };
    let PipelineReport { report, dropped } = plugin.process(call, items).await;
    let effects = match &report.ended {
        Ok(()) => effects.then(report.effects),
        Err(_) => Effects::default(),
    };
    (CallReport { effects, session, ended: report.ended, metrics }, dropped)
}

// As the handler of a crawl sees it once redirects have led elsewhere.
fn answered_by(request: QueuedRequest, page: Option<&Page>) -> QueuedRequest {
    match page {
        Some(page) => QueuedRequest { url: page.url.clone(), chain: page.chain.clone(), ..request },
        None => request,
    }
}

/// A plain request for a URL, as a queue would have it.
#[must_use]
pub fn queued(url: Url, site_by: SiteBy) -> QueuedRequest {
    let new = NewRequest::get(url, site_by);
    QueuedRequest {
        id: RequestId(1),
        site: SiteId(1),
        position: Position { priority: 0, rank: 1 },
        unique_key: new.unique_key,
        original_url: new.url.clone(),
        url: new.url,
        label: None,
        depth: 0,
        retry_count: 0,
        chain: Vec::new(),
        spec: RequestSpec { method: Method::Get, ..RequestSpec::default() },
    }
}

fn page(fixture: &Fixture, url: Url, request: &QueuedRequest, file: &Path) -> Result<Page, FixtureError> {
    let body = files::read(file)?;
    let mut headers: Vec<Header> =
        fixture.headers.iter().map(|(name, value)| Header { name: name.to_ascii_lowercase(), value: value.clone() }).collect();
    if !headers.iter().any(|header| header.name == "content-type")
        && let Some(value) = of_ending(file)
    {
        headers.push(Header { name: "content-type".to_owned(), value: value.to_owned() });
    }
    let moved = request.url != url;
    let mut page = answered(url, fixture.status.unwrap_or(200), headers, Bytes::from(body));
    if moved {
        page.chain.push(Hop { url: request.url.clone(), status: 302, kind: HopKind::HttpRedirect });
    }
    Ok(page)
}

/// The media type that a file's ending stands for.
fn of_ending(file: &Path) -> Option<&'static str> {
    let ending = file.extension()?.to_str()?.to_ascii_lowercase();
    Some(match ending.as_str() {
        "html" | "htm" => "text/html; charset=utf-8",
        "xhtml" => "application/xhtml+xml",
        "json" => "application/json",
        "xml" | "rss" | "atom" => "application/xml",
        "txt" => "text/plain; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        _ => return None,
    })
}

fn kept(value: &KeptValue) -> KvValue {
    let content_type = value.content_type.clone().unwrap_or_else(|| "application/json".to_owned());
    let bytes = match &value.value {
        Value::String(text) if value.content_type.is_some() && content_type != "application/json" => text.clone(),
        json => json.to_string(),
    };
    KvValue { content_type, value: Bytes::from(bytes) }
}
