//! Fields: what `extract` and `extract-each` take from a page.
//!
//! Decision: all selectors of a query are compiled before anything is matched, so that a bad one fails at once whatever the page
//! holds; time and bytes are those of the whole query, not of a field.

use crate::document::{PageElement, PageTree};
use crate::fault::PageFault;
use crate::field::{Field, FieldKind, FieldValue};
use crate::parsed::ParsedPage;
use crate::resolve::Resolver;
use crate::selectors::{Compiled, SelectorCache};
use crate::tree::WritesMarkup;
use crate::watch::Watch;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::convert::Infallible;
use std::sync::Arc;

/// Fields of one query.
const MOST_FIELDS: usize = 1_000;

/// Rows of one query.
const MOST_ROWS: usize = 100_000;

/// Takes many fields from the page.
///
/// # Errors
/// [`PageFault`]: no text, a bad selector, out of time, more bytes than the watch allows.
pub fn extract(
    page: &ParsedPage,
    fields: &[Field],
    selectors: &SelectorCache,
    watch: &Watch,
) -> Result<Vec<FieldValue>, PageFault> {
    let plan = Plan::new(fields, selectors, page)?;
    match page.quick()?.zip(plan.without_markup()) {
        Some((tree, plan)) => plan.take(&tree, None, watch),
        None => page.with_tree(watch, |tree| plan.take(tree, None, watch)),
    }
}

/// Whether any element of the page matches.
///
/// # Errors
/// [`PageFault`]: no text, a bad selector, out of time.
pub fn has_match(page: &ParsedPage, selector: &str, selectors: &SelectorCache, watch: &Watch) -> Result<bool, PageFault> {
    fn look<T: PageTree>(tree: &T, selector: &Compiled, watch: &Watch) -> Result<bool, PageFault> {
        let mut found = false;
        tree.select(None, selector, watch, |_| {
            found = true;
            Ok(false)
        })?;
        Ok(found)
    }
    let selector = selectors.get(selector)?;
    match page.quick()? {
        Some(tree) => look(&tree, &selector, watch),
        None => page.with_tree(watch, |tree| look(tree, &selector, watch)),
    }
}

/// Takes the fields within each element that `item` matches.
///
/// # Errors
/// [`PageFault`]: no text, a bad selector, out of time, more bytes or rows than one query may have.
pub fn extract_each(
    page: &ParsedPage,
    item: &str,
    fields: &[Field],
    selectors: &SelectorCache,
    watch: &Watch,
) -> Result<Vec<Vec<FieldValue>>, PageFault> {
    let item = selectors.get(item)?;
    let plan = Plan::new(fields, selectors, page)?;
    match page.quick()?.zip(plan.without_markup()) {
        Some((tree, plan)) => plan.rows(&tree, &item, watch),
        None => page.with_tree(watch, |tree| plan.rows(tree, &item, watch)),
    }
}

/// The fields of a query, with what they need; `W` is what shows that a tree can write markup.
struct Plan<'a, W> {
    fields: Vec<Planned<'a, W>>,
    page: &'a ParsedPage,
    /// Made once a field asks for URLs: the base may have to be looked for.
    resolver: OnceCell<Resolver<'a>>,
}

/// A field.
struct Planned<'a, W> {
    field: &'a Field,
    selector: Option<Arc<Compiled>>,
    take: Take<'a, W>,
}

/// What a field takes. As a plan for a tree that cannot write markup, it cannot ask for any.
enum Take<'a, W> {
    Text,
    Markup(W),
    Attribute(&'a str),
    Url(&'a str),
}

impl<'a> Plan<'a, WritesMarkup> {
    fn new(fields: &'a [Field], selectors: &SelectorCache, page: &'a ParsedPage) -> Result<Self, PageFault> {
        if fields.len() > MOST_FIELDS {
            return Err(PageFault::quota(format!(
                "{} fields are asked for at once, and {MOST_FIELDS} are allowed",
                fields.len()
            )));
        }
        let plan = |field: &'a Field| {
            let selector = (!field.selector.is_empty()).then(|| selectors.get(&field.selector)).transpose()?;
            let take = match &field.kind {
                FieldKind::Text => Take::Text,
                FieldKind::Html => Take::Markup(WritesMarkup),
                FieldKind::Attr(name) => Take::Attribute(name),
                FieldKind::Url(name) => Take::Url(name),
            };
            Ok(Planned { field, selector, take })
        };
        let fields = fields.iter().map(plan).collect::<Result<_, _>>()?;
        Ok(Self { fields, page, resolver: OnceCell::new() })
    }

    /// The same plan for a tree that cannot write markup, if no field asks for it.
    fn without_markup(&self) -> Option<Plan<'a, Infallible>> {
        let plan = |planned: &Planned<'a, WritesMarkup>| {
            let take = match planned.take {
                Take::Text => Take::Text,
                Take::Markup(WritesMarkup) => return None,
                Take::Attribute(name) => Take::Attribute(name),
                Take::Url(name) => Take::Url(name),
            };
            Some(Planned { field: planned.field, selector: planned.selector.clone(), take })
        };
        let fields = self.fields.iter().map(plan).collect::<Option<_>>()?;
        Some(Plan { fields, page: self.page, resolver: OnceCell::new() })
    }
}

impl<'a, W: Copy> Plan<'a, W> {
    fn rows<T: PageTree<Writes = W>>(&self, tree: &T, item: &Compiled, watch: &Watch) -> Result<Vec<Vec<FieldValue>>, PageFault> {
        let mut rows = Vec::new();
        tree.select(None, item, watch, |element| {
            if rows.len() == MOST_ROWS {
                return Err(PageFault::quota(format!("more than {MOST_ROWS} rows match; choose a narrower selector")));
            }
            rows.push(self.take(tree, Some(element), watch)?);
            Ok(true)
        })?;
        Ok(rows)
    }

    fn take<'t, T: PageTree<Writes = W>>(
        &self,
        tree: &'t T,
        item: Option<T::Element<'t>>,
        watch: &Watch,
    ) -> Result<Vec<FieldValue>, PageFault> {
        let mut taken = Vec::with_capacity(self.fields.len());
        for Planned { field, selector, take } in &self.fields {
            let mut values = Vec::new();
            let mut each = |element: T::Element<'t>| {
                if let Some(value) = self.value(tree, &element, take, watch)? {
                    // 24 bytes for the string itself: a million empty values are not free.
                    watch.take(value.len() + 24)?;
                    values.push(value);
                }
                Ok(field.many || values.is_empty())
            };
            match (selector, item) {
                (Some(selector), _) => tree.select(item, selector, watch, each)?,
                (None, Some(item)) => drop(each(item)?),
                (None, None) => drop(tree.root(watch).map(each).transpose()?),
            }
            watch.settle("selector-timeout", "taking the fields")?;
            watch.take(field.name.len() + 48)?;
            taken.push(FieldValue { name: field.name.clone(), values });
        }
        Ok(taken)
    }

    fn value<'t, T: PageTree<Writes = W>>(
        &self,
        tree: &'t T,
        element: &T::Element<'t>,
        take: &Take<'_, W>,
        watch: &Watch,
    ) -> Result<Option<String>, PageFault> {
        Ok(match *take {
            Take::Text => Some(element.text(watch)?),
            Take::Markup(writes) => {
                let markup = tree.markup(element, writes);
                watch.work(markup.len());
                Some(markup)
            }
            Take::Attribute(name) => attribute(element, name, watch)?.map(Cow::into_owned),
            Take::Url(name) => match attribute(element, name, watch)? {
                Some(reference) => {
                    let resolver = self.resolver();
                    watch.work(resolver.cost(&reference));
                    resolver.resolve(&reference)
                }
                None => None,
            },
        })
    }

    fn resolver(&self) -> &Resolver<'a> {
        self.resolver.get_or_init(|| Resolver::new(self.page.base()))
    }
}

/// The value of an attribute; HTML's names are in lower case.
fn attribute<'e>(element: &'e impl PageElement, name: &str, watch: &Watch) -> Result<Option<Cow<'e, str>>, PageFault> {
    watch.work(element.names_len() + name.len());
    let written = element.attribute(name).or_else(|| element.attribute(&name.to_ascii_lowercase()));
    let value = written.and_then(|written| written.within(watch));
    watch.settle("selector-timeout", "taking the attributes")?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsed::html;
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
        assert!(matches!(result, Err(PageFault { code: "quota", .. })));
    }

    #[test]
    fn a_bad_selector_fails_whatever_the_page_holds() {
        let page = html("http://example.com/", "");
        let result = extract_each(&page, "p", &[field("x", "p[[", FieldKind::Text, false)], &SelectorCache::new(), &watch());
        assert!(matches!(result, Err(PageFault { code: "bad-selector", .. })));
    }
}
