//! Random pages for the tests: from well nested to nonsense.

/// Everything that a page of soup is made of.
const SOUP: &[&str] = &[
    "<p>",
    "</p>",
    "<p class='a b'>",
    "<div>",
    "</div>",
    "<div id=x class=a>",
    "<span>",
    "</span>",
    "<b>",
    "</b>",
    "<i>",
    "</i>",
    "<a href='/x?a=1&amp;b'>",
    "<a href=y rel='NoFollow X'>",
    "</a>",
    "<code>",
    "</code>",
    "<em class=b>",
    "</em>",
    "<font color=1>",
    "</font>",
    "<strong>",
    "</strong>",
    "<ul>",
    "</ul>",
    "<ol>",
    "</ol>",
    "<li>",
    "</li>",
    "<dl>",
    "<dt>",
    "<dd>",
    "</dl>",
    "</dd>",
    "<table>",
    "</table>",
    "<tr>",
    "</tr>",
    "<td>",
    "</td>",
    "<th>",
    "<tbody>",
    "</tbody>",
    "<thead>",
    "<caption>",
    "</caption>",
    "<colgroup>",
    "<col>",
    "</colgroup>",
    "<form>",
    "</form>",
    "<input>",
    "<input type=HIDDEN>",
    "<button>",
    "</button>",
    "<select>",
    "</select>",
    "<option>",
    "</option>",
    "<optgroup>",
    "<textarea>\n x</textarea>",
    "<h1>",
    "</h1>",
    "<h2>",
    "</h2>",
    "<br>",
    "<br/>",
    "</br>",
    "<hr>",
    "<img src=i>",
    "<pre>",
    "</pre>",
    "<svg>",
    "</svg>",
    "<svg viewBox=x><path d='m'/></svg>",
    "<path/>",
    "<g>",
    "</g>",
    "<title>t &amp; u</title>",
    "<desc>",
    "</desc>",
    "<foreignObject>",
    "</foreignObject>",
    "<math>",
    "</math>",
    "<mi>",
    "</mi>",
    "<script>a<b</script>",
    "<style>x</style>",
    "<noscript><p></noscript>",
    "<!-- c -->",
    "<!-->",
    "<?x>",
    "<!doctype html>",
    "<html>",
    "</html>",
    "<head>",
    "</head>",
    "<body>",
    "</body>",
    "<base href='/b/'>",
    "<link>",
    "<meta charset=utf-8>",
    "text",
    " ",
    "\n",
    "\r\n",
    "\r",
    "\t x",
    "a < b",
    "&amp;",
    "&lt",
    "&#128;",
    "&#x41;",
    "&notin;",
    "&noti",
    "&bogus;",
    "&",
    "é",
    "<article>",
    "</article>",
    "<section>",
    "</section>",
    "<nav>",
    "</nav>",
    "<x-y>",
    "</x-y>",
    "<object>",
    "</object>",
    "<ruby>",
    "<rt>",
    "<rp>",
    "</ruby>",
    "<xmp><p></xmp>",
    "<nobr>",
    "</nobr>",
    "<area href=z>",
    "<iframe></iframe>",
    "<address>",
    "</address>",
    "<details>",
    "<summary>",
    "</summary>",
    "</details>",
    "<DIV CLASS=A>",
    "</DIV>",
    "<a name='q' />",
    "<p/>",
    "<td colspan=2 class=a>",
    "<image>",
    "<isindex>",
    "<frame>",
    "<tt>",
    "</tt>",
    "<label for=x>",
    "</label>",
    "<wbr>",
    "<source>",
    "<svg xlink:href='#q' xml:lang=en><linearGradient></svg>",
    "<svg><a href='s'>x</a></svg>",
    "<svg><style>x</style></svg>",
];

/// What is well nested, so that pages are tame more often than not.
const PAIRS: &[(&str, &str)] = &[
    ("<div>", "</div>"),
    ("<p>", "</p>"),
    ("<ul><li>", "</ul>"),
    ("<li>", "</li>"),
    ("<b>", "</b>"),
    ("<i class=a>", "</i>"),
    ("<a href=/1?x&y=2 rel=a>", "</a>"),
    ("<table><tr><td>", "</table>"),
    ("<table> <tbody> <tr> <td>", "</td></tr></tbody></table>"),
    ("<svg><g>", "</g></svg>"),
    ("<select><option>", "</select>"),
    ("<form>", "</form>"),
    ("<span class='b c'>", "</span>"),
    ("<h2>", "</h2>"),
    ("<dl><dt>a<dd>", "</dl>"),
    ("<section>", "</section>"),
    ("<pre>\n", "</pre>"),
    ("<button>", "</button>"),
    ("<object>", "</object>"),
    ("<svg><foreignObject>", "</foreignObject></svg>"),
    ("<math><mi>", "</mi></math>"),
    ("<em>", "</em>"),
    ("<table><caption>", "</caption></table>"),
    ("<ruby>x<rt>", "</ruby>"),
    ("<x-y q='&quot;'>", "</x-y>"),
    ("<p>", ""),
    ("<li>", ""),
    ("<code>", "</code>"),
    ("<font>", "</font>"),
    ("<label>", "</label>"),
    ("<details><summary>s</summary>", "</details>"),
];

/// A generator of random pages: the same ones for the same seed.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: usize) -> Self {
        Self(0x9e37_79b9_7f4a_7c15 ^ u64::try_from(seed).unwrap_or(0).wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    fn next(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % most
    }

    /// One of several.
    pub(super) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.next(of.len())]
    }

    /// A page; the lower the share of soup (in a hundred), the tamer.
    pub(super) fn page(&mut self) -> String {
        let mut page = String::new();
        let soup = self.one(&[0, 2, 10, 50, 100]);
        if self.next(2) == 0 {
            page.push_str(self.one(&[
                "<!doctype html>",
                "<!DOCTYPE html>\n<html>\n<head>\n",
                "<html><head><title>t</title></head><body>",
            ]));
        }
        let length = 1 + self.next(24);
        self.fill(&mut page, length, soup, 0);
        page
    }

    fn fill(&mut self, page: &mut String, length: usize, soup: usize, depth: usize) {
        for _ in 0..length {
            if self.next(100) < soup {
                page.push_str(self.one(SOUP));
            } else if depth < 6 && self.next(2) == 0 {
                let (open, close) = self.one(PAIRS);
                page.push_str(open);
                let inner = self.next(4);
                self.fill(page, inner, soup, depth + 1);
                page.push_str(close);
            } else {
                page.push_str(self.one(&[
                    "text ",
                    "\n",
                    " ",
                    "a&amp;b",
                    "<br>",
                    "<img src='a b' alt=\"c\">",
                    "<!-- -->",
                    "1 < 2",
                    "&eacute;x",
                ]));
            }
        }
    }

    /// A page with some of its tags gone, twice, or elsewhere.
    pub(super) fn mutate(&mut self, page: &str) -> String {
        let mut pieces: Vec<&str> = page
            .split_inclusive('>')
            .flat_map(|piece| {
                let (text, tag) = piece.split_at(piece.rfind('<').unwrap_or(0));
                [text, tag]
            })
            .collect();
        for _ in 0..1 + self.next(3) {
            let (at, other) = (self.next(pieces.len()), self.next(pieces.len()));
            match self.next(4) {
                0 => drop(pieces.remove(at)),
                1 => pieces.insert(at, pieces[other]),
                2 => pieces.swap(at, other),
                _ => pieces.insert(at, self.one(SOUP)),
            }
            if pieces.is_empty() {
                break;
            }
        }
        pieces.concat()
    }
}

/// A page with something of everything, for others to be made of it.
pub(super) const ARTICLE: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>An article &amp; more</title>\n\
    <base href='/base/'><link rel=\"stylesheet\" href=\"/a.css\">\n<script>var a = 1 < 2;</script>\n</head>\n<body class=\"page a\">\n\
    <header><nav><ul>\n<li><a href=\"/one\">One</a>\n<li><a href='/two?x=1&amp;y=2' rel=\"next\">Two</a></li>\n</ul></nav></header>\n\
    <main id=\"x\">\n<h1>Title <small>sub</small></h1>\n<p>Some <b>bold</b>, <i>italic <code>code</code></i> text.<br>\n\
    <p>Another &mdash; <a href=\"#f\">link <img src=\"i.png\" alt=''></a>.</p>\n\
    <table class=a>\n<thead><tr><th>A<th>B</thead>\n<tbody>\n<tr><td>1</td><td class=\"a b\">2</td></tr>\n<tr><td>3<td>4\n</table>\n\
    <form action=/s><input type=text name=q><select><option>1<option>2</select><button>Go</button></form>\n\
    <svg viewBox=\"0 0 1 1\"><path d=\"M0 0\"/><a href=\"svg\">x</a></svg>\n<dl><dt>T<dd>D</dl>\n<pre>\n  x\n</pre>\n\
    </main>\n<footer><p>End</footer>\n<script src=x></script>\n</body>\n</html>\n";
