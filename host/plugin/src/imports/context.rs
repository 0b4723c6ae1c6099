//! `context`: the call itself.

use super::{CallHandle, DocumentHandle};
use crate::bindings::nephila::crawler::{context, types};
use crate::fault::Fault;
use crate::sandbox::Inside;
use nephila_model::{Method, QueuedRequest, Renderer, StatusRange};
use wasmtime::component::Resource;

impl context::Host for Inside {}

impl context::HostCall for Inside {
    fn request(&mut self, call: Resource<CallHandle>) -> wasmtime::Result<types::Request> {
        self.is_present(call.rep()).map_err(Fault::into_trap)?;
        let present = self.present().map_err(Fault::into_trap)?;
        let settings = &present.call.settings;
        match &present.call.request {
            Some(request) => Ok(record(request, settings.max_retries, millis(settings.timeout))),
            None => Err(wasmtime::Error::msg("there is no request in this call")),
        }
    }

    fn document(&mut self, call: Resource<CallHandle>) -> Result<Resource<DocumentHandle>, Fault> {
        self.is_present(call.rep())?;
        let (number, allowed) = (self.number, self.limits.handles / 2);
        let present = self.present()?;
        if present.call.page.is_none() {
            return Err(no_page());
        }
        if present.documents >= allowed {
            return Err(Fault::quota(format!(
                "the plugin holds {allowed} documents of one page; ask once and keep the document"
            )));
        }
        present.documents += 1;
        Ok(Resource::new_own(number))
    }

    fn drop(&mut self, _: Resource<CallHandle>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl Inside {
    /// Whether a handle is of the present call. One that outlived its call reaches nothing.
    pub(super) fn is_present(&self, number: u32) -> Result<(), Fault> {
        if number == self.number && self.present.is_some() {
            return Ok(());
        }
        Err(Fault::refused(
            "call-over",
            "this call or document is of a call that is over; use the one that the handler was given",
        ))
    }
}

pub(super) fn no_page() -> Fault {
    Fault::refused("no-page", "there is no page in this call; in `failure` one is there only if it was fetched")
}

pub(super) fn millis(duration: std::time::Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

fn record(request: &QueuedRequest, max_retries: u32, timeout_millis: u32) -> types::Request {
    let spec = &request.spec;
    let range = |range: &StatusRange| types::StatusRange { first: range.first, last: range.last };
    let accepted = match spec.accepted_statuses.as_slice() {
        [] => vec![range(&StatusRange::SUCCESS)],
        ranges => ranges.iter().map(range).collect(),
    };
    types::Request {
        url: request.url.as_str().to_owned(),
        original_url: request.original_url.as_str().to_owned(),
        method: method(spec.method),
        headers: spec.headers.iter().map(|h| types::Header { name: h.name.clone(), value: h.value.clone() }).collect(),
        payload: spec.payload.as_ref().map(|payload| payload.to_vec()),
        label: request.label.clone(),
        user_data: spec.user_data.clone(),
        priority: request.position.priority,
        depth: request.depth,
        unique_key: request.unique_key.to_string(),
        session_id: spec.session_id.clone(),
        renderer: match spec.renderer {
            Renderer::Http => types::Renderer::Http,
            Renderer::Browser => types::Renderer::Browser,
        },
        accepted_statuses: accepted,
        retry_count: request.retry_count,
        max_retries: spec.max_retries.unwrap_or(max_retries),
        no_retry: spec.max_retries == Some(0),
        timeout_millis: spec.timeout_millis.unwrap_or(timeout_millis),
        hop_count: u32::try_from(request.chain.len()).unwrap_or(u32::MAX),
        extra_json: spec.extra_json.clone(),
    }
}

const fn method(method: Method) -> types::Method {
    match method {
        Method::Get => types::Method::Get,
        Method::Head => types::Method::Head,
        Method::Post => types::Method::Post,
        Method::Put => types::Method::Put,
        Method::Delete => types::Method::Delete,
        Method::Options => types::Method::Options,
        Method::Patch => types::Method::Patch,
    }
}
