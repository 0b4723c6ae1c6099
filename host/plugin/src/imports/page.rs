//! `page`: queries of the document in hand.

use super::DocumentHandle;
use super::context::millis;
use crate::bindings::nephila::crawler::{page, types};
use crate::fault::Fault;
use crate::sandbox::{Inside, Shared};
use nephila_model::{HopKind, Page};
use nephila_page::{Field, FieldKind, FieldValue, ParsedPage, Watch};
use std::sync::Arc;
use wasmtime::component::Resource;

// A query may be asked from the deepest stack that a host function has.
const _: () = assert!(crate::engine::HOST_STACK >= nephila_page::STACK);

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
        Ok(self.page(&document)?.text()?.to_owned())
    }

    fn title(&mut self, document: Resource<DocumentHandle>) -> Result<Option<String>, Fault> {
        Ok(self.page(&document)?.title()?)
    }

    fn extract(&mut self, document: Resource<DocumentHandle>, wanted: Vec<page::Field>) -> Result<Vec<page::FieldValue>, Fault> {
        let page = self.page(&document)?;
        let (page, watch, shared) = self.query(page)?;
        Ok(values(nephila_page::extract(&page, &fields(wanted), &shared.selectors, &watch)?))
    }

    fn extract_each(
        &mut self,
        document: Resource<DocumentHandle>,
        item: String,
        wanted: Vec<page::Field>,
    ) -> Result<Vec<Vec<page::FieldValue>>, Fault> {
        let page = self.page(&document)?;
        let (page, watch, shared) = self.query(page)?;
        let rows = nephila_page::extract_each(&page, &item, &fields(wanted), &shared.selectors, &watch)?;
        Ok(rows.into_iter().map(values).collect())
    }

    fn links(&mut self, document: Resource<DocumentHandle>, selector: Option<String>) -> Result<Vec<page::Link>, Fault> {
        let page = self.page(&document)?;
        let (page, watch, shared) = self.query(page)?;
        let found = nephila_page::links(&page, selector.as_deref(), &shared.selectors, &watch)?;
        Ok(found.into_iter().map(|link| page::Link { url: link.url, href: link.href, rel: link.rel }).collect())
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

/// The same fields in the words of `nephila-page`; nothing is copied.
fn fields(wanted: Vec<page::Field>) -> Vec<Field> {
    let kind = |kind| match kind {
        page::FieldKind::Text => FieldKind::Text,
        page::FieldKind::Html => FieldKind::Html,
        page::FieldKind::Attr(name) => FieldKind::Attr(name),
        page::FieldKind::Url(name) => FieldKind::Url(name),
    };
    let field =
        |field: page::Field| Field { name: field.name, selector: field.selector, kind: kind(field.kind), many: field.many };
    wanted.into_iter().map(field).collect()
}

fn values(found: Vec<FieldValue>) -> Vec<page::FieldValue> {
    found.into_iter().map(|found| page::FieldValue { name: found.name, values: found.values }).collect()
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
