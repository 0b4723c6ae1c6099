//! The quick tree is html5ever's, node by node, or there is none.
//!
//! Given pages that are tame, odd and random, when both trees are built, then names, namespaces, attributes and texts are the same, and so
//! is what selectors match and what a streaming pass finds. `NEPHILA_SOUP` sets how many random pages are tried, `NEPHILA_PAGES`
//! a folder whose pages are.

use super::Tape;
use super::soup::{ARTICLE, Random};
use super::tape::Kind;
use crate::document::{PageElement, PageTree};
use crate::selectors::SelectorCache;
use crate::stream::Scan;
use crate::tree::Tree;
use crate::watch::Watch;
use ego_tree::iter::Edge;
use scraper::Node;
use std::fmt::Write;
use std::time::Duration;

fn watch() -> Watch {
    Watch::new(Duration::from_secs(600), usize::MAX)
}

/// A tree as text: a line for each element, text as it comes, the depth in front.
#[derive(Default)]
struct Written {
    lines: Vec<String>,
    text: String,
}

impl Written {
    fn element(&mut self, depth: usize, name: &str, namespace: &str, mut attributes: Vec<String>) {
        self.flush();
        attributes.sort();
        let mut line = format!("{depth} <{name} {namespace}");
        attributes.iter().for_each(|attribute| write!(line, " {attribute}").expect("a string"));
        self.lines.push(line);
    }

    fn text(&mut self, depth: usize, text: &str) {
        if self.text.is_empty() {
            self.text = format!("{depth} ");
        } else if !self.text.starts_with(&format!("{depth} ")) {
            self.flush();
            self.text = format!("{depth} ");
        }
        self.text.push_str(text);
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.lines.push(std::mem::take(&mut self.text));
        }
    }

    fn done(mut self) -> Vec<String> {
        self.flush();
        self.lines
    }
}

fn expected(tree: &Tree) -> Vec<String> {
    let mut written = Written::default();
    let mut depth = 0;
    for edge in tree.0.tree.root().traverse() {
        match edge {
            Edge::Open(node) => {
                match node.value() {
                    Node::Element(element) => {
                        let attributes =
                            element.attrs.iter().map(|(name, value)| format!("{}|{}={:?}", &*name.ns, &*name.local, &**value));
                        written.element(depth, element.name(), &element.name.ns, attributes.collect());
                    }
                    Node::Text(text) => written.text(depth, text),
                    _ => {}
                }
                depth += 1;
            }
            Edge::Close(_) => depth -= 1,
        }
    }
    written.done()
}

fn actual(tape: &Tape, text: &str) -> Vec<String> {
    let mut written = Written::default();
    let depth = |mut parent: u32| {
        let mut depth = 0;
        while let Some(node) = tape.nodes.get(parent as usize) {
            depth += 1;
            parent = node.parent;
        }
        depth
    };
    for node in &tape.nodes {
        match node.kind {
            Kind::Document => {}
            Kind::Element => {
                let attributes = tape.attributes(node).iter().map(|attribute| {
                    let name = &text[attribute.name_range()];
                    let (namespace, local) = super::foreign::attribute(node.vocabulary, name)
                        .map_or_else(|| (html5ever::ns!(), name.to_ascii_lowercase()), |(ns, local)| (ns, local.to_owned()));
                    format!("{}|{local}={:?}", &*namespace, attribute.value(text))
                });
                let namespace = node.vocabulary.namespace();
                written.element(depth(node.parent), tape.name(node), &namespace, attributes.collect());
            }
            _ => written.text(depth(node.parent), &node.text(text).expect("text")),
        }
    }
    written.done()
}

/// Whether each element's neighbours are where the order of nodes puts them.
fn check_neighbours(tape: &Tape, text: &str) {
    let tree = tape.tree(text);
    for element in tree.nodes(None).flatten() {
        if let Some(next) = element.next(&watch()) {
            assert_eq!(next.previous(&watch()).map(|e| e.opaque()), Some(element.opaque()));
            assert_eq!(next.parent().map(|e| e.opaque()), element.parent().map(|e| e.opaque()));
        }
        if let Some(child) = element.first_child(&watch()) {
            assert_eq!(child.parent().map(|e| e.opaque()), Some(element.opaque()));
            assert!(child.previous(&watch()).is_none());
        }
    }
}

const SELECTORS: &[&str] = &[
    "*",
    "a",
    "p",
    "div > p",
    "ul li",
    "li + li",
    "li ~ li",
    "td",
    "tr > td:nth-child(2)",
    "table tr:last-child",
    ".a",
    "p.a.b",
    "#x",
    "[href]",
    "[href^='/']",
    "[HREF]",
    "[class~=b]",
    "[data-x='1' i]",
    ":empty",
    ":root > body",
    "body :not(p)",
    "p:has(a)",
    ":has(> b)",
    "a:first-child",
    "*:only-child",
    "h1, h2, li",
    "svg path",
    "linearGradient",
    "lineargradient",
    "[viewBox]",
    "[viewbox]",
    "[*|href]",
    ":is(b, i) + *",
    "p:first-of-type",
    "li:nth-last-child(2n + 1)",
    "option",
    "foreignObject *",
    "x-y",
    "td:nth-child(2 of .a)",
    "B",
    "A[rel]",
    "form input[type=hidden]",
    ":where(ul, ol) > li:last-of-type",
    "p ~ table",
    "title",
];

/// What a selector matches: places in document order, texts, attributes.
fn matched<T: PageTree>(tree: &T, selector: &str, cache: &SelectorCache) -> Vec<String> {
    let all: Vec<_> = tree.nodes(None).flatten().map(|element| element.opaque()).collect();
    let mut found = Vec::new();
    let selector = cache.get(selector).expect("compiles");
    tree.select(None, &selector, &watch(), |element| {
        let place = all.iter().position(|other| *other == element.opaque());
        let attributes = ["href", "class", "id", "viewBox", "xlink:href", "src", "HREF"]
            .map(|name| element.attribute(name).map(|value| value.decode()));
        found.push(format!("{place:?} {} {attributes:?}", element.text(&watch())?));
        Ok(true)
    })
    .expect("no fault");
    found
}

/// Compares all there is, of a page that has a quick tree. Why there is none, otherwise.
fn compare(text: &str, selectors: &[&str], cache: &SelectorCache) -> Result<(), &'static str> {
    let tape = Tape::parse(text).map_err(|bail| bail.0)?;
    let tree = Tree::parse(text, &watch()).expect("a tree");
    let (expected, actual) = (expected(&tree), actual(&tape, text));
    if expected != actual {
        let at = expected.iter().zip(&actual).take_while(|(expected, actual)| expected == actual).count();
        let around = |lines: &[String]| lines[at.saturating_sub(2)..lines.len().min(at + 3)].join("\n  ");
        panic!("{}\n\nexpected\n  {}\nactual\n  {}", shown(text), around(&expected), around(&actual));
    }
    check_neighbours(&tape, text);
    for selector in selectors {
        let (expected, actual) = (matched(&tree, selector, cache), matched(&tape.tree(text), selector, cache));
        assert_eq!(actual, expected, "{selector} in {}", shown(text));
    }
    // A streaming pass leaves line ends as they are.
    if !text.contains('\r')
        && let Some(actual) = tape.tree(text).scan()
    {
        let expected = Scan::of(text);
        assert_eq!(actual.links, expected.links, "{}", shown(text));
        assert_eq!(actual.title, expected.title, "{}", shown(text));
        assert_eq!(actual.base, expected.base, "{}", shown(text));
    }
    Ok(())
}

fn shown(text: &str) -> &str {
    if text.len() < 4_000 { text } else { "a long page" }
}

#[test]
fn tame_and_odd_pages_have_the_same_tree() {
    let cache = SelectorCache::new();
    for (tame, page) in PAGES {
        let result = compare(page, SELECTORS, &cache);
        assert_eq!(result.is_ok(), *tame, "{result:?}: {page}");
    }
}

/// Pages, and whether they have a quick tree.
const PAGES: &[(bool, &str)] = &[
    (true, ""),
    (true, " \n "),
    (true, "text"),
    (true, "<!doctype html><html lang=en><head><title>t</title></head><body class='a b'><p>x</p></body></html>\n"),
    (true, "<p>a<p>b<div>c</div>d"),
    (true, "<!DOCTYPE html>\n<title> A &amp; B </title>\n<link rel=x href=y>\n<p id=x>1 &lt; 2 &nbsp;&copy&#x80;&notit;"),
    (true, "<ul><li>1<li>2<ul><li>2.1</ul><li>3</ul><dl><dt>a<dd>b<dt>c</dl>"),
    (true, "<table><tr><td>1<td>2<tr><th>3</table><table><col><thead><tr><td></thead><tbody></table>"),
    (true, "<p>x<table><tr><td></table>"),
    (true, "<!doctype html><p>x<table><tr><td></table>"),
    (true, "<p><b>bold<p>again</b> no<i>x</i>"),
    (true, "<a href=1>a<a href=2>b</a>c"),
    (true, "<pre>\n\nx</pre><pre>\r\nx</pre><textarea>\n<b></textarea><listing>\nx</listing>"),
    (true, "<script>if (a<b) '</scrip>'</script><style>a>b{}</style><noscript><p></noscript><xmp><b></xmp><iframe><p></iframe>"),
    (true, "<svg viewBox='0 0 1 1' xlink:href=#a><linearGradient id=x /><path d=m /><foreignObject><p>x</foreignObject></svg>x"),
    (true, "<math definitionurl=x><mi>x<b>y</b></mi></math><svg><title>t<b>x</b></title><p>out"),
    (true, "<select><option>1<option selected>2<optgroup label=x><option>3</select><ruby>a<rt>b<rp>c</ruby>"),
    (true, "a\r\nb\rc <a href='x\r\ny'>z</a>"),
    (true, "<form><p><input type=hidden></form><button>a<button>b</button><object><b>x</object>y"),
    (true, "<!-- a --><!doctype html><!----><html><!-->x<!--->y<!-- --!x --><?php x ?><!x></a></3>"),
    (true, "<head></head><script>1</script><body>x</body></html><!-- x --> y <p>z"),
    (true, "<IMG SRC=a ALT='b' alt=c/><br/><hr/><div/>x<INPUT disabled>"),
    (true, "<div a=1 b = 2 c='3'd=4 \"=5 <=6>"),
    (true, "<p>1 < 2 <3 <<b>x</b>"),
    (true, "<h1>a<h2>b</h1>c<center>d</p>e<menu><li>f</menu></br>"),
    (true, "<x-y><z.w>x</x-y>"),
    (true, "<div><span>x</div>y</span>z"),
    (true, "<table><caption>a<b>b</caption><colgroup><col></colgroup> <tr> <td>x</b>y</td> </tr> </table>z"),
    (true, "<table><form><input type=hidden><tr><td></form></table>"),
    (true, "<html><body><html><body><head>x"),
    (true, "<span><isindex></span>x"),
    (true, "<li><isindex><li>"),
    (false, "<b><isindex></b>"),
    (false, "<table><b>x"),
    (false, "<table>x"),
    (false, "<b><p>x</b>y"),
    (false, "<template>x</template>"),
    (false, "<frameset>"),
    (false, "<p>a\0b"),
    (false, "<body><body class=x>"),
    (false, "<svg><![CDATA[x]]></svg>"),
    (false, "<title>x"),
    (false, "<a href="),
    (false, "<pre>&#10;x"),
    (false, "<body>&#32;x<head>&#32;x</pre>\u{0}"),
];

/// html5ever's `special_tag`.
const SPECIAL_NAMES: &str = "address applet area article aside base basefont bgsound blockquote body br button caption center col \
    colgroup dd details dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr \
    html iframe img input isindex li link listing main marquee menu meta nav noembed noframes noscript object ol p param plaintext pre \
    script section select source style summary table tbody td template textarea tfoot th thead title tr track ul wbr xmp";

#[test]
fn special_elements_end_the_search_for_what_an_end_tag_closes() {
    let (cache, mut tame) = (SelectorCache::new(), 0);
    let odd = "search dialog image keygen nobr option optgroup rb rt svg math b a span x-y foreignobject";
    for name in SPECIAL_NAMES.split_ascii_whitespace().chain(odd.split_ascii_whitespace()) {
        for page in [
            format!("<span><{name}></span>x"),
            format!("<span><{name}>a</{name}></span>x"),
            format!("<li><{name}><li>x"),
            format!("<dd><div><{name}></div><dt>x"),
            format!("<b><{name}></b>x"),
            format!("<p><{name}><p>x"),
            format!("<table><td><span><{name}></span>x</table>"),
        ] {
            tame += usize::from(compare(&page, &["span", "li > *"], &cache).is_ok());
        }
    }
    assert!(tame > 500, "{tame}");
}

fn count(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|count| count.parse().ok()).unwrap_or(default)
}

#[test]
fn random_pages_have_the_same_tree_or_no_quick_one() {
    let (cache, pages) = (SelectorCache::new(), count("NEPHILA_SOUP", 2_000));
    let mut random = Random::new(count("NEPHILA_SEED", 0));
    let mut tame = 0;
    for _ in 0..pages {
        let page = random.page();
        let selectors = [random.one(SELECTORS), random.one(SELECTORS)];
        tame += usize::from(compare(&page, &selectors, &cache).is_ok());
    }
    assert!(tame * 2 > pages, "only {tame} of {pages} pages had a quick tree");
}

#[test]
fn pages_with_mistakes_have_the_same_tree_or_no_quick_one() {
    let (cache, pages) = (SelectorCache::new(), count("NEPHILA_SOUP", 2_000));
    let mut random = Random::new(count("NEPHILA_SEED", 0));
    let mut tame = 0;
    for _ in 0..pages {
        let page = random.mutate(ARTICLE);
        let selectors = [random.one(SELECTORS)];
        tame += usize::from(compare(&page, &selectors, &cache).is_ok());
    }
    assert!(tame * 2 > pages, "only {tame} of {pages} pages had a quick tree");
}

#[test]
fn references_are_those_of_the_standard() {
    let cache = SelectorCache::new();
    // All names and their beginnings.
    let mut names: Vec<String> = html5ever::data::NAMED_ENTITIES.keys().map(|name| (*name).to_owned()).collect();
    names.sort();
    names.extend((0..300).map(|number| format!("#{number}")));
    names.extend(["#x80", "#X9f", "#xd800", "#x110000", "#xfffe", "#99999999999", "#x", "#", "#xg", "#0"].map(str::to_owned));
    let mut page = String::from("<body>");
    for name in names {
        let bare = name.trim_end_matches(';');
        write!(page, "<p>&{name} &{bare};&{bare} &{bare}= &{bare}x &{bare}1;</p>").expect("a string");
        write!(page, "<a x='&{name}' y='&{bare}' z='&{bare}=' w=&{bare}x v=\"&{bare}1\" u='&{bare};='></a>").expect("a string");
    }
    assert_eq!(compare(&page, &[], &cache), Ok(()));
}

#[test]
fn pages_of_a_folder() {
    let Ok(folder) = std::env::var("NEPHILA_PAGES") else { return };
    let (mut reasons, mut total, mut tame) = (std::collections::BTreeMap::new(), 0, 0);
    let every = count("NEPHILA_EVERY", 1);
    let mut folders = vec![std::path::PathBuf::from(folder)];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let kind = entry.file_type().expect("a kind");
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|e| e == "html" || e == "htm") {
                seen += 1;
                if seen % every != 0 {
                    continue;
                }
                let Ok(text) = std::fs::read_to_string(&path) else { continue };
                total += 1;
                match std::panic::catch_unwind(|| compare(&text, &["a", "li:has(a)"], &SelectorCache::new())) {
                    Ok(Ok(())) => tame += 1,
                    Ok(Err(why)) => {
                        reasons.entry(why).or_insert((0, path.clone())).0 += 1;
                    }
                    Err(_) => println!("DIFFERS {}", path.display()),
                }
            }
        }
    }
    println!("{tame} of {total} pages have a quick tree; the others: {reasons:#?}");
}
