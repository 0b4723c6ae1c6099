//! Fields: what `extract` and `extract-each` take from a page.
//!
//! Decision: all selectors of a query are compiled before anything is matched, so that a bad one fails at once whatever the page
//! holds; time and bytes are those of the whole query, not of a field.

use super::parsed::ParsedPage;
use super::selectors::{Compiled, SelectorCache};
use super::stream::collapse_into;
use super::tree::Tree;
use super::watch::Watch;
use crate::bindings::nephila::crawler::page::{Field, FieldKind, FieldValue};
use crate::fault::Fault;
use scraper::ElementRef;
use std::sync::Arc;
use url::Url;

/// Fields of one query.
const MOST_FIELDS: usize = 1_000;

/// Rows of one query.
const MOST_ROWS: usize = 100_000;

/// Takes many fields from the page.
pub(crate) fn extract(
    page: &ParsedPage,
    fields: &[Field],
    selectors: &SelectorCache,
    watch: &Watch,
) -> Result<Vec<FieldValue>, Fault> {
    let plan = Plan::new(fields, selectors)?;
    page.with_tree(watch, |tree| plan.take(tree, None, page, watch))
}

/// Takes the fields within each element that `item` matches.
pub(crate) fn extract_each(
    page: &ParsedPage,
    item: &str,
    fields: &[Field],
    selectors: &SelectorCache,
    watch: &Watch,
) -> Result<Vec<Vec<FieldValue>>, Fault> {
    let item = selectors.get(item)?;
    let plan = Plan::new(fields, selectors)?;
    page.with_tree(watch, |tree| {
        let mut rows = Vec::new();
        tree.select(None, &item, watch, |element| {
            if rows.len() == MOST_ROWS {
                return Err(Fault::quota(format!("more than {MOST_ROWS} rows match; choose a narrower selector")));
            }
            rows.push(plan.take(tree, Some(element), page, watch)?);
            Ok(true)
        })?;
        Ok(rows)
    })
}

struct Plan<'a>(Vec<(&'a Field, Option<Arc<Compiled>>)>);

impl<'a> Plan<'a> {
    fn new(fields: &'a [Field], selectors: &SelectorCache) -> Result<Self, Fault> {
        if fields.len() > MOST_FIELDS {
            return Err(Fault::quota(format!("{} fields are asked for at once, and {MOST_FIELDS} are allowed", fields.len())));
        }
        let compile = |field: &'a Field| {
            let selector = (!field.selector.is_empty()).then(|| selectors.get(&field.selector)).transpose()?;
            Ok((field, selector))
        };
        fields.iter().map(compile).collect::<Result<_, _>>().map(Self)
    }

    fn take(
        &self,
        tree: &Tree,
        item: Option<ElementRef<'_>>,
        page: &ParsedPage,
        watch: &Watch,
    ) -> Result<Vec<FieldValue>, Fault> {
        let mut taken = Vec::with_capacity(self.0.len());
        for (field, selector) in &self.0 {
            let mut values = Vec::new();
            let mut each = |element: ElementRef<'_>| {
                if let Some(value) = value(element, &field.kind, page, watch)? {
                    // 24 bytes for the string itself: a million empty values are not free.
                    watch.take(value.len() + 24)?;
                    values.push(value);
                }
                Ok(field.many || values.is_empty())
            };
            match (selector, item) {
                (Some(selector), _) => tree.select(item, selector, watch, each)?,
                (None, Some(item)) => drop(each(item)?),
                (None, None) => drop(tree.root().map(each).transpose()?),
            }
            watch.take(field.name.len() + 48)?;
            taken.push(FieldValue { name: field.name.clone(), values });
        }
        Ok(taken)
    }
}

fn value(element: ElementRef<'_>, kind: &FieldKind, page: &ParsedPage, watch: &Watch) -> Result<Option<String>, Fault> {
    Ok(match kind {
        FieldKind::Text => Some(text(element, watch)?),
        FieldKind::Html => Some(element.inner_html()),
        FieldKind::Attr(name) => attribute(element, name).map(str::to_owned),
        FieldKind::Url(name) => attribute(element, name).and_then(|reference| resolve(page.base(), reference)).map(Into::into),
    })
}

/// The text within an element. Every node counts for the clock: elements within elements are walked over once for each, and may hold no
/// text at all.
fn text(element: ElementRef<'_>, watch: &Watch) -> Result<String, Fault> {
    let (mut text, mut pending) = (String::new(), false);
    for node in element.descendants() {
        if !watch.step() {
            watch.check("selector-timeout", "taking the text")?;
        }
        if let Some(piece) = node.value().as_text() {
            collapse_into(piece, &mut text, &mut pending);
        }
    }
    Ok(text)
}

/// The value of an attribute; HTML's names are in lower case.
fn attribute<'a>(element: ElementRef<'a>, name: &str) -> Option<&'a str> {
    element.attr(name).or_else(|| element.attr(&name.to_ascii_lowercase()))
}

fn resolve(base: &Url, reference: &str) -> Option<Url> {
    base.join(reference).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::parsed::html;
    use std::time::Duration;

    fn field(name: &str, selector: &str, kind: FieldKind, many: bool) -> Field {
        Field { name: name.into(), selector: selector.into(), kind, many }
    }

    const SHOP: &str = "<base href='/shop/'><body>\
        <article class=p><h3> A\n <b>red</b>  thing</h3><a href='a?x=1&amp;y=2'>go</a><img src=a.png></article>\
        <article class=p><h3>B</h3><a>no link</a></article>";

    fn watch() -> Watch {
        Watch::new(Duration::from_secs(60), 1 << 20)
    }

    #[test]
    fn fields_are_text_markup_attributes_and_urls() {
        let (page, cache) = (html("http://example.com/dir/page", SHOP), SelectorCache::new());
        let fields = [
            field("titles", "h3", FieldKind::Text, true),
            field("first", "h3", FieldKind::Text, false),
            field("markup", "h3", FieldKind::Html, false),
            field("href", "a", FieldKind::Attr("HREF".into()), true),
            field("url", "a", FieldKind::Url("href".into()), true),
            field("none", ".nothing", FieldKind::Text, true),
            field("root", "", FieldKind::Attr("lang".into()), false),
        ];
        let values: Vec<_> = extract(&page, &fields, &cache, &watch()).expect("values").into_iter().map(|v| v.values).collect();
        assert_eq!(values[0], ["A red thing", "B"]);
        assert_eq!(values[1], ["A red thing"]);
        assert_eq!(values[2], [" A\n <b>red</b>  thing"]);
        assert_eq!(values[3], ["a?x=1&y=2"]);
        assert_eq!(values[4], ["http://example.com/shop/a?x=1&y=2"]);
        assert!(values[5].is_empty() && values[6].is_empty());
    }

    #[test]
    fn rows_take_their_fields_within_the_item() {
        let (page, cache) = (html("http://example.com/", SHOP), SelectorCache::new());
        let fields = [
            field("title", ":scope > h3", FieldKind::Text, false),
            field("class", "", FieldKind::Attr("class".into()), false),
            field("link", "a", FieldKind::Url("href".into()), false),
        ];
        let rows = extract_each(&page, "article", &fields, &cache, &watch()).expect("rows");
        let values = |row: usize| rows[row].iter().map(|v| v.values.join("|")).collect::<Vec<_>>();
        assert_eq!(values(0), ["A red thing", "p", "http://example.com/shop/a?x=1&y=2"]);
        assert_eq!(values(1), ["B", "p", ""]);
    }

    #[test]
    fn a_query_answers_with_no_more_bytes_than_it_may() {
        let (page, cache) = (html("http://example.com/", &"<p>0123456789</p>".repeat(100)), SelectorCache::new());
        let small = Watch::new(Duration::from_secs(60), 1_000);
        let result = extract(&page, &[field("p", "p", FieldKind::Text, true)], &cache, &small);
        assert!(matches!(result, Err(Fault::Refused { code: "quota", .. })));
    }

    #[test]
    fn a_bad_selector_fails_whatever_the_page_holds() {
        let page = html("http://example.com/", "");
        let result = extract_each(&page, "p", &[field("x", "p[[", FieldKind::Text, false)], &SelectorCache::new(), &watch());
        assert!(matches!(result, Err(Fault::Refused { code: "bad-selector", .. })));
    }
}
