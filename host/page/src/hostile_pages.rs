//! No page may end the process: what queries do is tried on a stack as small as a host function may have at worst, which would be
//! overrun by anything that calls itself for each level of a page.

use crate::STACK;
use crate::fault::PageFault;
use crate::field::{Field, FieldKind};
use crate::fields::{extract, extract_each};
use crate::html_page;
use crate::links::links;
use crate::parsed::ParsedPage;
use crate::selectors::SelectorCache;
use crate::watch::{DEEPEST, Watch};
use std::time::Duration;

fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(STACK).spawn(test).expect("a thread").join().expect("no panic");
}

fn watch() -> Watch {
    Watch::new(Duration::from_secs(60), 1 << 20)
}

fn field(selector: &str, kind: FieldKind, many: bool) -> Field {
    Field { name: "x".into(), selector: selector.into(), kind, many }
}

fn outcome<T>(result: &Result<T, PageFault>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(PageFault { code, .. }) => code,
    }
}

/// Everything that can be asked, of a page whose elements are within each other.
fn ask_everything(open: &str, close: &str) {
    const LEVELS: usize = 100_000;
    let body = format!("<title>t</title>{}<a href=/x>text</a>{}", open.repeat(LEVELS), close.repeat(LEVELS));
    let (page, cache) = (html_page("http://example.com/", &body), SelectorCache::new());
    let ask = |selector: &str, kind: FieldKind, millis| {
        let watch = Watch::new(Duration::from_millis(millis), 1 << 20);
        outcome(&extract(&page, &[field(selector, kind, true)], &cache, &watch))
    };
    assert_eq!(page.scan().expect("text").title.as_deref(), Some("t"), "{open}");
    assert!(["ok", "quota"].contains(&outcome(&links(&page, None, &cache, &watch()))), "{open}");
    // Where the parser itself is slow, the page is given up, and each of these says so.
    let slow = ask("title", FieldKind::Text, 1_000) == "page-timeout";
    let expected = |outcome| if slow { "page-timeout" } else { outcome };
    assert_eq!(ask("body", FieldKind::Text, 60_000), expected("ok"), "{open}");
    assert!(["ok", "quota", "page-timeout"].contains(&ask("body", FieldKind::Html, 60_000)), "{open}");
    assert!(["ok", "quota", "page-timeout"].contains(&ask("a", FieldKind::Url("href".into()), 60_000)), "{open}");
    assert!(["ok", "quota", "page-timeout"].contains(&outcome(&links(&page, Some("a"), &cache, &watch()))), "{open}");
    ask("* * * > a, b ~ i, p:nth-child(2n + 1 of :not(x)), :empty:last-child", FieldKind::Text, 100);
    ask("*", FieldKind::Text, 100);
    ask("*", FieldKind::Html, 100);
    ask("body:has(nothing)", FieldKind::Text, 1_000);
    let fields = [field("", FieldKind::Text, true), field("", FieldKind::Html, true)];
    let _ = extract_each(&page, "*", &fields, &cache, &Watch::new(Duration::from_millis(100), 1 << 20));
}

#[test]
fn elements_within_elements_cannot_exhaust_the_stack() {
    for (open, close) in [
        ("<div>", "</div>"),
        ("<x>", ""),
        ("<b>", "</b>"),
        ("<font color=1>", ""),
        ("<svg>", ""),
        ("<template>", ""),
        ("<table><td>", ""),
        ("<ul><li>", ""),
        ("<select>", ""),
        ("<p><button>", ""),
        ("<a href=/x><table>", ""),
    ] {
        on_a_small_stack(move || ask_everything(open, close));
    }
}

#[test]
fn text_within_elements_without_text_is_taken_under_the_clock() {
    let page = html_page("http://example.com/", &"<x>".repeat(30_000));
    let (fields, short) = ([field("x", FieldKind::Text, true)], Watch::new(Duration::from_millis(100), 1 << 20));
    let cache = SelectorCache::new();
    extract(&page, &[field("title", FieldKind::Text, true)], &cache, &watch()).expect("it parses");
    assert_eq!(outcome(&extract(&page, &fields, &cache, &short)), "selector-timeout");
}

/// A page as it is, and one that has no quick tree; both parsed, so that only the question takes time.
fn both_trees(body: &str) -> [ParsedPage; 2] {
    let quick = html_page("http://example.com/", body);
    assert!(quick.quick().expect("text").is_some());
    let slow = html_page("http://example.com/", &format!("<template></template>{body}"));
    assert!(slow.quick().expect("text").is_none());
    slow.with_tree(&watch(), |_| Ok(())).expect("it parses");
    [quick, slow]
}

/// What is answered within a millisecond, of which all of these take thousands.
fn in_a_millisecond(page: &ParsedPage, fields: &[Field]) -> &'static str {
    outcome(&extract(page, fields, &SelectorCache::new(), &Watch::new(Duration::from_millis(1), usize::MAX)))
}

#[test]
fn attributes_are_looked_through_under_the_clock() {
    let letter = |n: u32| char::from_digit(10 + n, 36).unwrap_or('a');
    let classes: Vec<_> = (0..1_000).map(|n| format!(".{}{}", letter(n % 26), letter(n / 26 % 26))).collect();
    let values: Vec<_> = (0..250).map(|n| format!("[title*=y{n}]")).collect();
    let long = "x ".repeat(1 << 20);
    for page in both_trees(&format!("<div class='{long}' id='{long}' title='{}'>", "x".repeat(1 << 20))) {
        let ask = |selector: &str| in_a_millisecond(&page, &[field(selector, FieldKind::Text, true)]);
        assert_eq!(ask(&classes.join(",")), "selector-timeout");
        assert_eq!(ask(&values.join(",")), "selector-timeout");
        assert_eq!(ask(&format!("[title*={}y i]", "x".repeat(3_000))), "selector-timeout");
        let fields = vec![field("div", FieldKind::Attr("nothing".into()), true); 1_000];
        assert_eq!(outcome(&extract(&page, &fields, &SelectorCache::new(), &watch())), "ok");
    }
}

#[test]
fn long_selectors_are_charged_by_their_length() {
    for page in both_trees(&"<p></p>".repeat(2_000)) {
        for selector in ["a,".repeat(2_000) + "b", format!("p:not({}p)", "b,".repeat(2_000)), ":not(*),".repeat(500) + "b"] {
            assert_eq!(in_a_millisecond(&page, &vec![field(&selector, FieldKind::Text, true); 1_000]), "selector-timeout");
        }
    }
}

#[test]
fn text_that_comes_to_nothing_is_decoded_under_the_clock() {
    let fields = vec![field("p", FieldKind::Text, true); 1_000];
    let links = vec![field("p", FieldKind::Url("title".into()), true); 1_000];
    let spaces = "&#32;".repeat(1 << 18);
    for page in both_trees(&format!("<p title='http://[{spaces}'>{spaces}")) {
        assert_eq!(in_a_millisecond(&page, &fields), "selector-timeout");
        assert_eq!(in_a_millisecond(&page, &links), "selector-timeout");
    }
}

#[test]
fn nodes_that_are_no_elements_are_passed_over_under_the_clock() {
    let nothing = "x<!---->".repeat(100_000);
    for page in both_trees(&format!("<p>{nothing}<b></b>{nothing}<b></b></p>")) {
        let ask = |selector: &str| in_a_millisecond(&page, &vec![field(selector, FieldKind::Text, true); 1_000]);
        assert_eq!(ask("nothing"), "selector-timeout");
        assert_eq!(ask("b + nothing, p > b:first-child > nothing, p:has(> nothing)"), "selector-timeout");
    }
}

#[test]
fn a_page_of_too_many_elements_has_its_links_from_the_stream_and_its_fields_under_the_clock() {
    let page = html_page("http://example.com/", &format!("<title>t</title><a href=/x>{}", "<p>".repeat(250_000)));
    assert!(page.quick().expect("text").is_none());
    assert_eq!(links(&page, None, &SelectorCache::new(), &watch()).expect("links").len(), 1);
    assert_eq!(page.title(), Ok(Some("t".into())));
    assert_eq!(in_a_millisecond(&page, &[field("a", FieldKind::Text, true)]), "page-timeout");
}

#[test]
fn has_goes_down_as_far_as_browsers_build_pages_and_then_says_so() {
    on_a_small_stack(|| {
        let cache = SelectorCache::new();
        for (levels, expected) in
            [(DEEPEST as usize - 2, "ok"), (DEEPEST as usize + 2, "page-too-deep"), (50_000, "page-too-deep")]
        {
            let page = html_page("http://example.com/", &format!("{}<i>", "<x>".repeat(levels)));
            let has = |selector| outcome(&extract(&page, &[field(selector, FieldKind::Text, true)], &cache, &watch()));
            assert_eq!(has("body:has(nothing)"), expected, "{levels}");
            assert_eq!(has("body:not(:is(:has(x nothing)))"), expected, "{levels}");
            assert_eq!(has("body:has(> x), x > i"), "ok", "a child is no search");
        }
    });
}

#[test]
fn selectors_cannot_exhaust_the_stack() {
    on_a_small_stack(|| {
        let page =
            html_page("http://example.com/", &format!("{}{}", "<x>".repeat(DEEPEST as usize - 10), "<x></x>".repeat(3_000)));
        let cache = SelectorCache::new();
        let ask_of = |page, selector: &str, millis| {
            let watch = Watch::new(Duration::from_millis(millis), 1 << 20);
            outcome(&extract(page, &[field(selector, FieldKind::Text, true)], &cache, &watch))
        };
        let ask = |selector: &str| ask_of(&page, selector, 500);
        let nest = |open: &str, times, inner: &str| format!("{}{inner}{}", open.repeat(times), ")".repeat(times));
        let row = "x ".repeat(180);
        for deepest in [
            nest(":is(", 74, &row),
            nest(":not(x > ", 74, &row),
            format!("body:has({})", nest(":is(x ", 73, &row)),
            nest(":is(", 70, &format!(":has({row})")),
            "x ".repeat(200),
            "x>".repeat(200) + "nothing",
            "x+".repeat(200) + "x",
            "x~".repeat(200) + "x",
            ":not(y)".repeat(500),
        ] {
            assert!(["ok", "quota", "selector-timeout"].contains(&ask(&deepest)), "{deepest}: {}", ask(&deepest));
        }
        // Cut short, this one would fail an assertion of the matcher's in a debug build.
        let small = html_page("http://example.com/", "<x><x>");
        assert_eq!(ask_of(&small, &nest(":nth-child(1 of x ", 74, &row), 60_000), "ok");
        for too_deep in [
            ":not(".repeat(800) + "x",
            nest(":nth-child(1 of ", 100, "x"),
            nest("x:not(y ", 100, "x"),
            "[(".repeat(2_000),
            "x ".repeat(2_000),
            "x>".repeat(2_000) + "x",
            format!("body:has({})", "x ".repeat(1_000)),
            nest(":is(y ", 60, &("x+".repeat(200) + "x")),
        ] {
            assert_eq!(ask(&too_deep), "bad-selector", "{too_deep}");
        }
    });
}
