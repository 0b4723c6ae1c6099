//! `page`: queries of the document in hand.

use super::DocumentHandle;
use super::context::millis;
use crate::bindings::nephila::crawler::{page, types};
use crate::fault::Fault;
use crate::page::{ParsedPage, Watch, fields, links};
use crate::sandbox::{Inside, Shared};
use nephila_model::{HopKind, Page};
use std::sync::Arc;
use wasmtime::component::Resource;

impl page::Host for Inside {}

impl Inside {
    fn page(&mut self, document: &Resource<DocumentHandle>) -> Result<Arc<ParsedPage>, Fault> {
        self.is_present(document.rep())?;
        self.present()?.call.page.clone().ok_or_else(super::context::no_page)
    }

    /// A page, and what a query of it may take.
    pub(super) fn query(&mut self, page: Arc<ParsedPage>) -> Result<(Arc<ParsedPage>, Watch, Arc<Shared>), Fault> {
        self.check_time()?;
        Ok((page, Watch::new(self.limits.query, self.limits.query_bytes), self.shared.clone()))
    }
}

impl page::HostDocument for Inside {
    fn meta(&mut self, document: Resource<DocumentHandle>) -> wasmtime::Result<types::PageMeta> {
        self.page(&document).map(|page| meta(page.page())).map_err(Fault::into_trap)
    }

    fn body(&mut self, document: Resource<DocumentHandle>) -> wasmtime::Result<Vec<u8>> {
        self.page(&document).map(|page| page.page().body.to_vec()).map_err(Fault::into_trap)
    }

    fn text(&mut self, document: Resource<DocumentHandle>) -> Result<String, Fault> {
        self.page(&document)?.text().map(str::to_owned)
    }

    fn title(&mut self, document: Resource<DocumentHandle>) -> Result<Option<String>, Fault> {
        Ok(self.page(&document)?.scan()?.title.clone())
    }

    fn extract(&mut self, document: Resource<DocumentHandle>, wanted: Vec<page::Field>) -> Result<Vec<page::FieldValue>, Fault> {
        let page = self.page(&document)?;
        let (page, watch, shared) = self.query(page)?;
        fields::extract(&page, &wanted, &shared.selectors, &watch)
    }

    fn extract_each(
        &mut self,
        document: Resource<DocumentHandle>,
        item: String,
        wanted: Vec<page::Field>,
    ) -> Result<Vec<Vec<page::FieldValue>>, Fault> {
        let page = self.page(&document)?;
        let (page, watch, shared) = self.query(page)?;
        fields::extract_each(&page, &item, &wanted, &shared.selectors, &watch)
    }

    fn links(&mut self, document: Resource<DocumentHandle>, selector: Option<String>) -> Result<Vec<page::Link>, Fault> {
        let page = self.page(&document)?;
        let (page, watch, shared) = self.query(page)?;
        let found = links::links(&page, selector.as_deref(), &shared.selectors, &watch)?;
        Ok(found.into_iter().map(|link| page::Link { url: link.url.into(), href: link.href, rel: link.rel }).collect())
    }

    fn drop(&mut self, document: Resource<DocumentHandle>) -> wasmtime::Result<()> {
        if document.rep() == self.number
            && let Some(present) = &mut self.present
        {
            present.documents = present.documents.saturating_sub(1);
        }
        Ok(())
    }
}

fn meta(page: &Page) -> types::PageMeta {
    let hop = |hop: &nephila_model::Hop| types::Hop {
        url: hop.url.to_string(),
        status: hop.status,
        kind: match hop.kind {
            HopKind::HttpRedirect => types::HopKind::HttpRedirect,
            HopKind::MetaRefresh => types::HopKind::MetaRefresh,
        },
    };
    types::PageMeta {
        url: page.url.to_string(),
        status: page.status,
        headers: page.headers.iter().map(|h| types::Header { name: h.name.clone(), value: h.value.clone() }).collect(),
        content_type: page.content_type.as_ref().map(|kind| kind.essence.clone()),
        charset: page.charset.map(str::to_owned),
        redirect_chain: page.chain.iter().map(hop).collect(),
        timings: types::Timings { first_byte_millis: millis(page.timings.first_byte), total_millis: millis(page.timings.total) },
        body_bytes: u32::try_from(page.body.len()).unwrap_or(u32::MAX),
        extra_json: None,
    }
}
