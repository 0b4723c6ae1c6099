//! The HTML of the heavy site: what parsers meet in the wild. Nested menus, inline icons, unclosed paragraphs and list
//! items, entities, attributes without values, scripts that contain markup. It is valid enough that all parsers agree.

use crate::escape::{Escaping, escape, put};
use crate::facts::PageFacts;
use crate::heavy_text::{FOOT, HEAD, ICON_CART, ICON_CHEVRON, ICON_STAR, TOOLS};
use crate::pages::Origin;
use crate::seed::Seed;
use crate::words::{CATEGORIES, SENTENCES};

/// Links of each page to pages of the site; where they stand is the sum below.
pub(crate) const LINKS: usize = 150;

const MENUS: usize = 6;
const LINKS_IN_MENU: usize = 7;
const CRUMBS: usize = 3;
const COMPARED: usize = 10;
const INLINE: usize = 15;
const CARDS: usize = 48;
const NEWS: usize = 16;
const FOOTER: usize = 16;
const _: () = assert!(MENUS * LINKS_IN_MENU + CRUMBS + COMPARED + INLINE + CARDS + NEWS + FOOTER == LINKS);

/// Sizes are spread between these, by the seed; a review more or less decides.
const LEAST: usize = 61_000;
const MOST: usize = 98_500;

/// A page that is being written.
struct Writer<'a> {
    html: String,
    seed: Seed,
    origin: Origin,
    id: u64,
    way: Escaping,
    /// Those that have not been written yet.
    links: std::vec::IntoIter<&'a PageFacts>,
    /// How many sentences were written.
    sentences: u64,
}

/// The page that says `facts` and links to `linked`.
pub(crate) fn page(seed: Seed, origin: Origin, id: usize, facts: &PageFacts, linked: Vec<&PageFacts>) -> String {
    let id = id as u64;
    let size = LEAST + seed.below("size", id, MOST - LEAST);
    let way = if seed.below("escaping", id, 2) == 0 { Escaping::Entities } else { Escaping::Plain };
    let html = String::with_capacity(size + 4_096);
    let mut writer = Writer { html, seed, origin, id, way, links: linked.into_iter(), sentences: 0 };
    writer.head(facts);
    writer.header();
    writer.product(facts);
    writer.table();
    writer.article();
    writer.cards();
    writer.news();
    writer.reviews(size);
    writer.footer();
    writer.html
}

impl<'a> Writer<'a> {
    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        put(&mut self.html, text);
    }

    /// Where the next link leads and what it says. Never `None`: the constants above add up.
    fn link(&mut self) -> (String, String) {
        let page: Option<&'a PageFacts> = self.links.next();
        page.map(|page| (self.origin.link(&page.path), escape(&page.heading, self.way))).unwrap_or_default()
    }

    fn sentence(&mut self) -> String {
        self.sentences += 1;
        escape(self.seed.pick("text", (self.id << 20) + self.sentences, &SENTENCES), self.way)
    }

    fn number(&self, what: &str, number: usize, bound: usize) -> usize {
        self.seed.below(what, (self.id << 20) + number as u64, bound)
    }

    fn head(&mut self, facts: &PageFacts) {
        let title = escape(&facts.title, self.way);
        let url = self.origin.on("127.0.0.1", &facts.path);
        self.put(format_args!(
            "<!DOCTYPE html>\n<html lang=\"en-GB\" class=\"no-js\" dir=\"ltr\" prefix=\"og: https://ogp.me/ns#\">\n<head>\n<meta charset=\"utf-8\">\n<title>\n  {title}\n</title>\n"
        ));
        let description = self.sentence();
        self.put(format_args!(
            "<meta name=\"description\" content=\"{description}\">\n<meta property=\"og:title\" content=\"{title}\">\n<meta property=\"og:type\" content=\"product\">\n<meta property=\"og:url\" content=\"{url}\">\n<meta name=\"twitter:card\" content=\"summary_large_image\">\n<link rel=\"canonical\" href=\"{url}\">\n"
        ));
        self.html.push_str(HEAD);
        // Quotes and angle brackets stay out of it: a script's text has no entities.
        let name: String = facts.heading.chars().filter(|c| !matches!(c, '"' | '<' | '>')).collect();
        let (sku, price) = (self.seed.hash("sku", self.id) >> 32, facts.price.trim_start_matches('£'));
        let (tenths, reviews) = (self.number("rating", 0, 10), 3 + self.number("reviews", 0, 400));
        self.put(format_args!(
            "<script type=\"application/ld+json\">{{\"@context\":\"https://schema.org\",\"@type\":\"Product\",\"name\":\"{name}\",\"sku\":\"{sku:08x}\",\"offers\":{{\"@type\":\"Offer\",\"priceCurrency\":\"GBP\",\"price\":\"{price}\",\"availability\":\"https://schema.org/InStock\"}},\"aggregateRating\":{{\"@type\":\"AggregateRating\",\"ratingValue\":\"4.{tenths}\",\"reviewCount\":\"{reviews}\"}}}}</script>\n</head>\n"
        ));
    }

    fn header(&mut self) {
        self.html.push_str("<body class=\"page page--product theme-light\" data-controller=\"page gallery\" data-page-locale=\"en-gb\" itemscope itemtype=\"https://schema.org/WebPage\">\n<header class=\"site-header\" id=\"top\"><div class=\"logo\">Nephila&nbsp;Market</div>\n");
        self.html.push_str(TOOLS);
        self.html.push_str("<nav class=\"nav\" aria-label=\"Main\"><ul class=\"nav__list\" role=\"menubar\">\n");
        for menu in 0..MENUS {
            let category = CATEGORIES[self.number("menu", menu, CATEGORIES.len())];
            self.put(format_args!("<li class=\"nav__item nav__item--{menu}\" role=\"none\"><button type=\"button\" class=\"nav__toggle\" aria-expanded=\"false\" aria-haspopup=true>{category}&nbsp;{ICON_CHEVRON}</button>\n<ul class=\"nav__sub\" hidden>\n"));
            for entry in 0..LINKS_IN_MENU {
                let (href, text) = self.link();
                // The list items are not closed.
                self.put(format_args!("<li class=\"nav__entry\"><a class=\"nav__link\" role=\"menuitem\" data-track=\"nav-{menu}-{entry}\" href=\"{href}\"><span class=\"nav__text\">{text}</span></a>\n"));
            }
            self.html.push_str("</ul></li>\n");
        }
        self.put(format_args!(
            "</ul></nav><div class=\"basket\" data-count=\"0\" hidden>{ICON_CART}<b>0</b></div></header>\n<!-- /header -->\n"
        ));
        self.html.push_str("<ol class=\"breadcrumb\" itemscope itemtype=\"https://schema.org/BreadcrumbList\">");
        for position in 1..=CRUMBS {
            let (href, text) = self.link();
            self.put(format_args!("<li itemprop=\"itemListElement\"><a itemprop=\"item\" href='{href}'><span itemprop=\"name\">{text}</span></a><meta itemprop=\"position\" content=\"{position}\"> &rsaquo; "));
        }
        self.html.push_str("</ol>\n");
    }

    fn product(&mut self, facts: &PageFacts) {
        let (heading, price) = (escape(&facts.heading, self.way), facts.price.replace('£', "&pound;"));
        let (id, picture, token) = (self.id, self.seed.hash("picture", self.id), self.seed.hash("token", self.id));
        self.put(format_args!(
            r#"<main id="main" class="layout"><div class="product" itemprop="mainEntity" data-product-id="{id}">
<figure class="gallery"><picture><source type="image/avif" srcset="/media/{picture:016x}-480.avif 480w, /media/{picture:016x}-960.avif 960w" sizes="(min-width: 60em) 50vw, 100vw"><img src="/media/{picture:016x}-960.jpg" srcset="/media/{picture:016x}-480.jpg 480w, /media/{picture:016x}-960.jpg 960w, /media/{picture:016x}-1440.jpg 1440w" sizes="(min-width: 60em) 50vw, 100vw" alt="{heading}" width="960" height="720" decoding="async" fetchpriority=high></picture><figcaption>{heading}, seen from the front</figcaption></figure>
<h1 class="product__title" itemprop="name">
  {heading}
</h1>
<p class="product__price"><span class="price" itemprop="price">{price}</span>&nbsp;<small>incl.&nbsp;VAT</small>
<div class="stars" role="img" aria-label="Rated 4 of 5">{ICON_STAR}{ICON_STAR}{ICON_STAR}{ICON_STAR}</div>
<form class="buy" method="post" action="/basket"><input type="hidden" name="token" value="{token:016x}">
<label>Size <select name="size" required>"#,
        ));
        for size in 36..50 {
            let disabled = if self.number("sold out", size, 4) == 0 { " disabled" } else { "" };
            self.put(format_args!("<option value=\"{size}\"{disabled}>EU {size}</option>"));
        }
        self.html.push_str("</select></label>\n<label>How many <input type=number name=count value=1 min=1 max=9></label><label><input type=\"checkbox\" name=\"gift\" checked> Wrap it &amp; add a card</label>\n<button class=\"btn btn--primary\" type=\"submit\">Add to basket</button></form></div>\n");
    }

    fn table(&mut self) {
        self.html.push_str("<section class=\"spec\"><h2 id=\"spec\">Compared with others</h2>\n<table class=\"table\"><caption>Alike &mdash; but not the same</caption><thead><tr><th scope=\"col\">Name<th scope=\"col\">Weight<th scope=\"col\">Colour<th scope=\"col\">In stock</thead><tbody>\n");
        for row in 0..COMPARED {
            let (href, text) = self.link();
            let colour = CATEGORIES[self.number("colour", row, CATEGORIES.len())];
            let (weight, stock) = (self.number("weight", row, 9_000), self.number("stock", row, 40));
            self.put(format_args!("<tr><th scope=row><a href=\"{href}\" title=\"{text}\">{text}</a><td data-sort=\"{weight}\">{weight}&thinsp;g<td>{colour}<td class=\"num\">{stock}\n"));
        }
        self.html.push_str("</tbody></table></section>\n");
    }

    /// Paragraphs that are not closed, with links in running text.
    fn article(&mut self) {
        self.html.push_str("<article class=\"story\" lang=\"en\"><h2>The story behind it</h2>\n");
        for paragraph in 0..INLINE {
            let ((href, text), before, after) = (self.link(), self.sentence(), self.sentence());
            self.put(format_args!("<p>{before} See <a href=\"{href}\"><em>{text}</em></a>. {after}\n"));
            if paragraph % 5 == 4 {
                let quote = self.sentence();
                self.put(format_args!(
                    "<blockquote class=\"quote\" data-n=\"{paragraph}\"><p>{quote}</p><footer>&mdash; a <cite>reader</cite></footer></blockquote>\n<hr>\n"
                ));
            }
        }
        self.html.push_str("</article>\n");
    }

    fn cards(&mut self) {
        self.html.push_str("<section class=\"related\"><h2>You may also like</h2>\n<div class=\"grid\">\n");
        for card in 0..CARDS {
            let (href, text) = self.link();
            let picture = self.seed.hash("card", (self.id << 20) + card as u64) >> 16;
            let pounds = 5 + self.number("card price", card, 900);
            let badge = if pounds.is_multiple_of(5) { "<span class=\"badge badge--new\">New</span>" } else { "" };
            self.put(format_args!(
                "<div class=\"card\" data-id=\"{picture:012x}\" data-position=\"{card}\"><a class=\"card__link\" href=\"{href}\"><figure><img loading=\"lazy\" src=\"/media/{picture:012x}-240.jpg\" srcset=\"/media/{picture:012x}-240.jpg 1x, /media/{picture:012x}-480.jpg 2x\" width=240 height=240 alt=\"\"><figcaption class=\"card__title\">{text}</figcaption></figure></a>{badge}<p class=\"card__price\">&pound;{pounds}.99 <s class=\"card__price--old\">&pound;{}.99</s></p></div>\n",
                pounds + 10,
            ));
        }
        self.html.push_str("</div></section>\n");
    }

    fn news(&mut self) {
        self.html.push_str("<aside class=\"sidebar\"><h2>From the magazine</h2><ul class=\"teasers\">\n");
        for teaser in 0..NEWS {
            let ((href, text), summary) = (self.link(), self.sentence());
            let day = 1 + self.number("day", teaser, 28);
            self.put(format_args!("<li class=\"teaser\"><time datetime=\"2026-11-{day:02}\">{day}&nbsp;Nov</time> <a href=\"{href}\" rel=\"bookmark\"><h3>{text}</h3></a><p class=\"teaser__text\">{summary}\n"));
        }
        self.html.push_str("</ul></aside>\n");
    }

    /// As many as the page's size wants.
    fn reviews(&mut self, size: usize) {
        // What the footer needs, and half a review.
        let enough = size.saturating_sub(FOOT.len() + FOOTER * 120 + 300);
        self.html.push_str("<section class=\"reviews\" id=\"reviews\"><h2>What others say</h2>\n");
        let mut review = 0;
        while self.html.len() < enough {
            let (first, second) = (self.sentence(), self.sentence());
            let (day, helpful) = (1 + self.number("review day", review, 28), self.number("helpful", review, 90));
            let author = CATEGORIES[self.number("author", review, CATEGORIES.len())];
            self.put(format_args!(
                "<div class=\"review\" id=\"review-{review}\" itemscope itemtype=\"https://schema.org/Review\"><div class=\"review__head\"><strong itemprop=\"author\">{author}</strong>&ensp;<span class=\"stars stars--{}\">{ICON_STAR}</span><time datetime=\"2026-10-{day:02}\">{day} October</time></div>\n<p>{first}<br>{second}</p><!-- {helpful} --><button type=\"button\" class=\"link\" data-review=\"{review}\" data-action=\"helpful#vote\">Helpful ({helpful})</button></div>\n",
                1 + helpful % 5,
            ));
            review += 1;
        }
        self.html.push_str("</section></main>\n");
    }

    fn footer(&mut self) {
        self.html.push_str("<footer class=\"site-footer\"><nav aria-label=\"More\"><dl>\n");
        for entry in 0..FOOTER {
            let (href, text) = self.link();
            if entry % 4 == 0 {
                let group = CATEGORIES[self.number("footer", entry, CATEGORIES.len())];
                self.put(format_args!("<dt>{group}\n"));
            }
            self.put(format_args!("<dd><a class='footer__link' href={href}>{text}</a>\n"));
        }
        self.html.push_str("</dl></nav>\n");
        self.html.push_str(FOOT);
    }
}
