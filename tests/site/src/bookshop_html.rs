//! The bookshop's HTML, with the classes and the nesting of the public practice shop, so that one plugin reads both.

use crate::bookshop::{BOOKS, BOOKS_PER_LISTING, Book, LISTINGS};
use crate::escape::{Escaping, escape, put};
use crate::pages::Origin;
use crate::seed::Seed;
use crate::words::CATEGORIES;

/// A listing page at `path` (the first one has several, from which relative links differ).
pub(crate) fn listing(number: usize, path: &str, books: &[Book]) -> String {
    let prefix = if path.starts_with("/catalogue/") { "" } else { "catalogue/" };
    let media = if prefix.is_empty() { "../media" } else { "media" };
    let mut html = head(&format!("All products | Page {number} of {LISTINGS}"), "/");
    html.push_str("<div class=\"row\"><aside class=\"sidebar col-sm-4 col-md-3\"><div class=\"side_categories\"><ul class=\"nav nav-list\">\n");
    for category in CATEGORIES {
        // No links: a crawl of the listing and detail pages is exactly 1,050 requests.
        put(&mut html, format_args!("<li><span>{category}</span></li>\n"));
    }
    html.push_str(
        "</ul></div></aside>\n<div class=\"col-sm-8 col-md-9\"><div class=\"page-header action\"><h1>All products</h1></div>\n",
    );
    let (first, last) = ((number - 1) * BOOKS_PER_LISTING + 1, number * BOOKS_PER_LISTING);
    put(
        &mut html,
        format_args!(
            "<form method=\"get\" class=\"form-horizontal\"><strong>{BOOKS}</strong> results - showing <strong>{first}</strong> to <strong>{last}</strong>.</form>\n<section><div><ol class=\"row\">\n"
        ),
    );
    for book in books {
        pod(&mut html, book, prefix, media);
    }
    html.push_str("</ol>\n<div><ul class=\"pager\">\n");
    match number {
        1 => {}
        2 => html.push_str("<li class=\"previous\"><a href=\"/\">previous</a></li>\n"),
        _ => put(&mut html, format_args!("<li class=\"previous\"><a href=\"page-{}.html\">previous</a></li>\n", number - 1)),
    }
    put(&mut html, format_args!("<li class=\"current\">Page {number} of {LISTINGS}</li>\n"));
    if number < LISTINGS {
        put(&mut html, format_args!("<li class=\"next\"><a href=\"{prefix}page-{}.html\">next</a></li>\n", number + 1));
    }
    html.push_str("</ul></div></div></section></div></div>\n");
    html.push_str(FOOT);
    html
}

/// One book in a listing.
fn pod(html: &mut String, book: &Book, prefix: &str, media: &str) {
    let title = escape(&book.title, Escaping::Plain);
    let short: String = book.title.chars().take(20).collect();
    let dots = if short.len() < book.title.len() { "..." } else { "" };
    let short = escape(short.trim_end(), Escaping::Plain);
    let href = format!("{prefix}{}", book.path.trim_start_matches("/catalogue/"));
    put(
        html,
        format_args!(
            r#"<li class="col-xs-6 col-sm-4 col-md-3 col-lg-3">
<article class="product_pod">
<div class="image_container"><a href="{href}"><img src="{media}/cache/{upc}.png" alt="{title}" class="thumbnail"></a></div>
<p class="star-rating {rating}"><i class="icon-star"></i><i class="icon-star"></i><i class="icon-star"></i><i class="icon-star"></i><i class="icon-star"></i></p>
<h3><a href="{href}" title="{title}">{short}{dots}</a></h3>
<div class="product_price">
<p class="price_color">{price}</p>
<p class="instock availability"><i class="icon-ok"></i> In stock</p>
<form><button type="submit" class="btn btn-primary btn-block" data-loading-text="Adding...">Add to basket</button></form>
</div>
</article>
</li>
"#,
            upc = book.upc,
            rating = book.rating(),
            price = book.price(),
        ),
    );
}

/// A book's own page.
pub(crate) fn detail(book: &Book, origin: Origin, seed: Seed) -> String {
    let way = if seed.below("escaping", book.id as u64, 3) == 0 { Escaping::Entities } else { Escaping::Plain };
    let title = escape(&book.title, way);
    let home = origin.link("/");
    let mut html = head(&format!("{title} | Books to Crawl"), &home);
    put(
        &mut html,
        format_args!(
            r#"<ul class="breadcrumb"><li><a href="{home}">Home</a></li><li>Books</li><li>{category}</li><li class="active">{title}</li></ul>
<div id="content_inner"><article class="product_page">
<div class="row">
<div class="col-sm-6"><div id="product_gallery" class="carousel"><div class="thumbnail"><div class="carousel-inner"><div class="item active"><img src="{image}" alt="{title}"></div></div></div></div></div>
<div class="col-sm-6 product_main">
<h1>{title}</h1>
<p class="price_color">{price}</p>
<p class="instock availability"><i class="icon-ok"></i> In stock ({available} available)</p>
<p class="star-rating {rating}"><i class="icon-star"></i><i class="icon-star"></i><i class="icon-star"></i><i class="icon-star"></i><i class="icon-star"></i></p>
<hr>
<div class="alert alert-warning" role="alert"><strong>Warning!</strong> This is a test site. Prices and ratings are made up.</div>
</div>
</div>
<div id="product_description" class="sub-header"><h2>Product Description</h2></div>
<p>{description}</p>
<div class="sub-header"><h2>Product Information</h2></div>
<table class="table table-striped">
<tr><th>UPC</th><td>{upc}</td></tr>
<tr><th>Product Type</th><td>Books</td></tr>
<tr><th>Price (excl. tax)</th><td>{price}</td></tr>
<tr><th>Price (incl. tax)</th><td>{price}</td></tr>
<tr><th>Tax</th><td>£0.00</td></tr>
<tr><th>Availability</th><td>In stock ({available} available)</td></tr>
<tr><th>Number of reviews</th><td>0</td></tr>
</table>
</article></div>
"#,
            category = book.category,
            image = origin.link(&book.image()),
            price = if matches!(way, Escaping::Entities) { book.price().replace('£', "&pound;") } else { book.price() },
            available = book.available,
            rating = book.rating(),
            description = escape(&book.description, way),
            upc = book.upc,
        ),
    );
    html.push_str(FOOT);
    html
}

/// `title` is escaped already.
fn head(title: &str, home: &str) -> String {
    format!(
        r#"<!DOCTYPE html>
<html lang="en-us" class="no-js">
<head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"></head>
<body id="default" class="default">
<header class="header container-fluid"><div class="page_inner"><div class="row"><div class="col-sm-8 h1"><a href="{home}">Books to Crawl</a><small> We love being crawled!</small></div></div></div></header>
<div class="container-fluid page"><div class="page_inner">
"#
    )
}

const FOOT: &str = "</div></div>\n<footer class=\"footer container-fluid\"></footer>\n</body>\n</html>\n";
