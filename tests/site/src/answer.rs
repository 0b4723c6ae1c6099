//! From a request to its response: the one place where the order of latency, overrides, redirects, trouble and content is
//! decided.

use crate::body::SiteBody;
use crate::config::Switches;
use crate::faults::{Detour, Fate, Faults, Trouble};
use crate::files::{FileAnswer, Folder};
use crate::form::Form;
use crate::gate::Gate;
use crate::pages::{Found, Origin, Pages};
use crate::personal::{Asker, Personal, Said};
use crate::plan;
use crate::prepared::{HTML, Prepared};
use crate::seed::Seed;
use crate::stats::Counters;
use bytes::Bytes;
use hyper::body::Body;
use hyper::header::{
    ACCEPT_ENCODING, ALLOW, CONTENT_ENCODING, CONTENT_TYPE, COOKIE, HOST, HeaderName, HeaderValue, LOCATION, RETRY_AFTER,
    SET_COOKIE, VARY,
};
use hyper::{Method, Request, Response, StatusCode};
use std::sync::Arc;
use std::time::Duration;

/// A site at work.
pub(crate) struct State {
    pub switches: Switches,
    pub origin: Origin,
    pub served: Served,
    pub counters: Counters,
    pub gate: Option<Gate>,
}

pub(crate) enum Served {
    Pages { pages: Pages, faults: Box<Faults> },
    Files(Arc<Folder>),
}

impl State {
    pub fn reset(&self) {
        self.counters.reset();
        self.gate.iter().for_each(Gate::reset);
        if let Served::Pages { faults, .. } = &self.served {
            faults.reset();
        }
    }

    pub fn plan(&self) -> Vec<plan::PagePlan> {
        match &self.served {
            Served::Pages { pages, faults } => plan::plan(pages, faults, self.origin),
            Served::Files(_) => Vec::new(),
        }
    }

    /// Answers one request. Its body is read where a form may be sent.
    pub async fn answer<B: Body<Data = Bytes> + Unpin>(&self, mut request: Request<B>) -> Response<SiteBody> {
        let uri = request.uri().clone();
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        if let Some(what) = uri.path().strip_prefix("/_site/") {
            return self.administer(request.method(), what, uri.query());
        }
        // A URI with a host is a request to a proxy, and then the header may say anything.
        let header = request.headers().get(HOST).and_then(|host| host.to_str().ok());
        let _in_flight = self.counters.begin(uri.host().or(header).unwrap_or(""), target);

        let delay = self.delay(uri.path(), target);
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let ticket = self
            .gate
            .as_ref()
            .map(|gate| gate.admit(request.headers().get_all(COOKIE).iter().filter_map(|value| value.to_str().ok())));
        let mut response = match &ticket {
            Some(ticket) if ticket.blocked && self.switches.soft_blocks => self.content(&request, &challenge(), false),
            Some(ticket) if ticket.blocked => self.status_page(StatusCode::FORBIDDEN),
            // Without a gate there is nobody to tell apart, and no page that would.
            _ => self.inside(&mut request, ticket.as_ref().map_or("", |ticket| &ticket.visitor)).await,
        };
        if let Some(cookie) = ticket.and_then(|ticket| ticket.new_cookie) {
            insert(&mut response, SET_COOKIE, &cookie);
        }
        response
    }

    // Behind the gate.
    async fn inside<B: Body<Data = Bytes> + Unpin>(&self, request: &mut Request<B>, visitor: &str) -> Response<SiteBody> {
        let uri = request.uri();
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        if let Some(code) = assigned(&self.switches.status, uri.path(), target) {
            return self.status_page(StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
        }
        match &self.served {
            Served::Files(folder) => self.file(folder, request.method(), uri.path(), uri.query()).await,
            Served::Pages { pages, faults } => match pages.find(uri.path()) {
                None => self.status_page(StatusCode::NOT_FOUND),
                Some(Found::Asset(asset)) => self.content(request, &asset, false),
                Some(Found::Page(id)) => self.page(request, pages, faults, id),
                Some(Found::Personal(page)) => self.personal(request, page, visitor).await,
            },
        }
    }

    async fn personal<B: Body<Data = Bytes> + Unpin>(
        &self,
        request: &mut Request<B>,
        page: Personal,
        visitor: &str,
    ) -> Response<SiteBody> {
        let sent = if request.method() == Method::POST { Some(Form::read(request.body_mut()).await) } else { None };
        let cookies = request.headers().get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()).collect();
        let asker = Asker { visitor, cookies, query: Form::parse(request.uri().query().unwrap_or("")), sent };
        match page.answer(Seed(self.switches.seed), self.origin, &asker) {
            Said::Page(page) => self.content(request, &page, false),
            Said::Refused(status) => self.status_page(status),
            Said::LedOn { location, cookie } => {
                let mut response = self.moved(StatusCode::FOUND, location);
                insert(&mut response, SET_COOKIE, &cookie);
                response
            }
        }
    }

    fn page<B>(&self, request: &Request<B>, pages: &Pages, faults: &Faults, id: usize) -> Response<SiteBody> {
        let fate = faults.fate(id);
        let Some(visit) = Visit::of(request.uri().query(), fate) else {
            return self.content(request, &pages.prepared(id, faults), false);
        };
        let here = visit.meets_trouble && fate.trouble != Trouble::None;
        let in_trouble = here && faults.still_in_trouble(id);
        if in_trouble && fate.trouble == Trouble::Fails {
            let code = StatusCode::from_u16(self.switches.fail_status);
            return self.status_page(code.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
        }
        if in_trouble {
            return self.content(request, &pages.prepared(id, faults), true);
        }
        if let Some((status, hop)) = visit.redirect {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::FOUND);
            return self.moved(status, &plan::location(pages, faults, self.origin, id, hop));
        }
        let page = if visit.refresh { refresh_stub() } else { pages.prepared(id, faults) };
        self.content(request, &page, false)
    }

    fn content<B>(&self, request: &Request<B>, page: &Prepared, broken: bool) -> Response<SiteBody> {
        let zipped = page.gzip.as_ref().filter(|_| accepts_gzip(request));
        let bytes = zipped.unwrap_or(&page.body);
        let body = if broken { SiteBody::broken(bytes) } else { SiteBody::whole(bytes.clone()) };
        let mut response = respond(StatusCode::OK, page.content_type, body);
        if zipped.is_some() {
            response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        if page.gzip.is_some() {
            response.headers_mut().insert(VARY, HeaderValue::from_static("accept-encoding"));
        }
        response
    }

    async fn file(&self, folder: &Arc<Folder>, method: &Method, path: &str, query: Option<&str>) -> Response<SiteBody> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            let mut response = self.status_page(StatusCode::METHOD_NOT_ALLOWED);
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        let (folder, owned) = (Arc::clone(folder), path.to_owned());
        match tokio::task::spawn_blocking(move || folder.look(&owned)).await {
            Ok(FileAnswer::File(file)) => respond(StatusCode::OK, file.content_type, SiteBody::whole(file.body)),
            Ok(FileAnswer::NeedsSlash) => {
                let query = query.map(|query| format!("?{query}")).unwrap_or_default();
                self.moved(StatusCode::MOVED_PERMANENTLY, &format!("{path}/{query}"))
            }
            Ok(FileAnswer::Missing) => self.status_page(StatusCode::NOT_FOUND),
            Err(_) => self.status_page(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }

    fn administer(&self, method: &Method, what: &str, query: Option<&str>) -> Response<SiteBody> {
        match (method, what) {
            (&Method::GET | &Method::HEAD, "stats") => json(&self.counters.stats(query != Some("brief"))),
            (&Method::GET | &Method::HEAD, "plan") => json(&self.plan()),
            (&Method::POST, "reset") => {
                self.reset();
                json(&serde_json::json!({}))
            }
            (_, "stats" | "plan" | "reset") => self.status_page(StatusCode::METHOD_NOT_ALLOWED),
            _ => self.status_page(StatusCode::NOT_FOUND),
        }
    }

    fn delay(&self, path: &str, target: &str) -> Duration {
        let slow = assigned(&self.switches.slow, path, target).unwrap_or(0);
        Duration::from_millis(self.switches.latency_ms.saturating_add(slow))
    }

    fn status_page(&self, status: StatusCode) -> Response<SiteBody> {
        let has_body = !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        let page = if has_body { status_html(status).body } else { Bytes::new() };
        let mut response = respond(status, HTML, SiteBody::whole(page));
        let is_trouble = status.is_server_error() || status.is_client_error() && status != StatusCode::NOT_FOUND;
        if let Some(seconds) = self.switches.retry_after.filter(|_| is_trouble) {
            insert(&mut response, RETRY_AFTER, &seconds.to_string());
        }
        response
    }

    fn moved(&self, status: StatusCode, location: &str) -> Response<SiteBody> {
        let mut response = respond(status, HTML, SiteBody::whole(status_html(status).body));
        insert(&mut response, LOCATION, location);
        response
    }
}

/// What happens at one of a page's URLs.
struct Visit {
    /// Answer this status and lead to this hop.
    redirect: Option<(u16, u8)>,
    refresh: bool,
    meets_trouble: bool,
}

impl Visit {
    /// `None`: a URL that only shows the page (`?fresh=1`, or a query that means nothing here).
    fn of(query: Option<&str>, fate: Fate) -> Option<Self> {
        let hop: u8 = match query {
            None => 0,
            Some(query) => query.strip_prefix("moved=").and_then(|hop| hop.parse().ok())?,
        };
        let (redirect, at_end) = match fate.detour {
            Detour::Redirect { status, hops, .. } if hop < hops => (Some((status, hop + 1)), false),
            Detour::Redirect { .. } => (None, true),
            _ => (None, hop == 0),
        };
        let at_entry = hop == 0;
        Some(Self {
            redirect,
            refresh: at_entry && fate.detour == Detour::Refresh,
            meets_trouble: if fate.trouble_at_end { at_end } else { at_entry },
        })
    }
}

fn assigned<T: Copy>(list: &[(String, T)], path: &str, target: &str) -> Option<T> {
    list.iter().find(|(key, _)| key == target || key == path).map(|(_, value)| *value)
}

fn accepts_gzip<B>(request: &Request<B>) -> bool {
    let codings = request.headers().get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    codings.flat_map(|value| value.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let refused = weight.trim().strip_prefix("q=").and_then(|q| q.parse().ok()) == Some(0.0);
        name.trim().eq_ignore_ascii_case("gzip") && !refused
    })
}

/// The stub has no link: only one who understands the refresh gets on.
fn refresh_stub() -> Prepared {
    Prepared::raw(
        "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0; url=?fresh=1\"><title>One moment</title></head><body></body></html>\n",
        HTML,
    )
}

/// What a site says to a visitor that it does not believe.
fn challenge() -> Prepared {
    Prepared::raw(
        "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>One moment</title></head><body><div id=\"challenge\">Are you human?</div></body></html>\n",
        HTML,
    )
}

fn status_html(status: StatusCode) -> Prepared {
    let html = format!(
        "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>{status}</title></head><body><h1>{status}</h1></body></html>\n"
    );
    Prepared::raw(html, HTML)
}

fn json(value: &impl serde::Serialize) -> Response<SiteBody> {
    match serde_json::to_vec(value) {
        Ok(text) => respond(StatusCode::OK, "application/json", SiteBody::whole(text.into())),
        Err(_) => respond(StatusCode::INTERNAL_SERVER_ERROR, "application/json", SiteBody::Whole(None)),
    }
}

fn respond(status: StatusCode, content_type: &'static str, body: SiteBody) -> Response<SiteBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// A value that is no header (it cannot be: paths come from a parsed URI) is left out.
fn insert(response: &mut Response<SiteBody>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}
