//! The practice site's HTML. Quotes have the classes of the public quotes.toscrape.com, so that one plugin reads both.

use crate::downloads::Download;
use crate::escape::{Escaping, escape, put};
use crate::orders::Order;
use crate::pages::Origin;
use crate::practice::{VISITOR_PAGES, has_next, quote_path};
use crate::quotes::{Author, Quote};

const FOOT: &str = "</main>\n</body>\n</html>\n";

/// A page of quotes with its links to the ones before and after.
pub(crate) fn quotes(number: usize, quotes: &[Quote], origin: Origin) -> String {
    let mut html = head(&format!("Quotes, page {number}"), origin);
    quotes.iter().for_each(|quote| put_quote(&mut html, quote));
    html.push_str("<ul class=\"pager\">\n");
    let mut way = |class: &str, number: usize, text: &str| {
        let href = origin.link(&quote_path(number));
        put(&mut html, format_args!("<li class=\"{class}\"><a href=\"{href}\">{text}</a></li>\n"));
    };
    if number > 1 {
        way("previous", number - 1, "previous");
    }
    if has_next(number) {
        way("next", number + 1, "next");
    }
    html.push_str("</ul>\n");
    html + FOOT
}

/// The infinite list: a page without a quote, whose script would get them.
pub(crate) fn scroll(origin: Origin) -> String {
    let api = origin.link("/api/quotes");
    let script = "// Each time that the end is in sight: the next page of data-api?page=N, until it says has_next: false.";
    let body = format!("<div class=\"quotes\" data-api=\"{api}\"></div>\n<script>{script}</script>\n");
    head("Quotes without end", origin) + &body + FOOT
}

/// What can be downloaded.
pub(crate) fn files(files: &[Download], origin: Origin) -> String {
    let mut html = head("Files", origin) + "<ul class=\"files\">\n";
    for Download { name, body, .. } in files {
        let (href, bytes) = (origin.link(&format!("/files/{name}")), body.len());
        put(&mut html, format_args!("<li><a href=\"{href}\" download>{name}</a> <span class=\"bytes\">{bytes}</span></li>\n"));
    }
    html + "</ul>\n" + FOOT
}

/// Links to pages that say who asked.
pub(crate) fn visitors(origin: Origin) -> String {
    let mut html = head("Visitors", origin) + "<ul class=\"visitors\">\n";
    for number in 1..=VISITOR_PAGES {
        let href = origin.link(&format!("/visitors/{number}"));
        put(&mut html, format_args!("<li><a href=\"{href}\">Page {number}</a></li>\n"));
    }
    html + "</ul>\n" + FOOT
}

/// Says who asked.
pub(crate) fn visitor(number: usize, visitor: &str, origin: Origin) -> String {
    // The name comes from a cookie, and a cookie can be anything.
    let visitor = escape(visitor, Escaping::Plain);
    let mut html = head(&format!("Page {number}"), origin);
    put(&mut html, format_args!("<p>You are visitor <span class=\"visitor\">{visitor}</span>.</p>\n"));
    html + FOOT
}

/// The form of the login, with what was wrong the last time, if anything was.
pub(crate) fn login(token: &str, wrong: &str, origin: Origin) -> String {
    let mut html = head("Login", origin);
    if !wrong.is_empty() {
        put(&mut html, format_args!("<p class=\"error\">{wrong}</p>\n"));
    }
    put(
        &mut html,
        format_args!(
            r#"<form action="/login" method="post">
<input type="hidden" name="csrf_token" value="{token}">
<label>Username <input type="text" name="username"></label>
<label>Password <input type="password" name="password"></label>
<input type="submit" value="Login">
</form>
"#
        ),
    );
    html + FOOT
}

/// The account with links to its orders.
pub(crate) fn account(orders: &[Order], origin: Origin) -> String {
    let mut html = head("Your account", origin) + "<ul class=\"orders\">\n";
    for Order { number, .. } in orders {
        let href = origin.link(&format!("/account/orders/{number}"));
        put(&mut html, format_args!("<li><a href=\"{href}\">Order {number}</a></li>\n"));
    }
    html + "</ul>\n" + FOOT
}

/// An order.
pub(crate) fn order(order: &Order, origin: Origin) -> String {
    let mut html = head(&format!("Order {}", order.number), origin);
    let (title, total) = (escape(&order.title, Escaping::Plain), order.total());
    put(&mut html, format_args!("<p class=\"title\">{title}</p>\n<p class=\"total\">{total}</p>\n"));
    html + FOOT
}

/// The form that asks for an author.
pub(crate) fn search(authors: &[Author], origin: Origin) -> String {
    let mut html = head("Search", origin) + "<form action=\"/search\" method=\"post\">\n<select name=\"author\">\n";
    for author in authors {
        let name = escape(&author.name, Escaping::Plain);
        put(&mut html, format_args!("<option value=\"{name}\">{name}</option>\n"));
    }
    html + "</select>\n<input type=\"submit\" value=\"Search\">\n</form>\n" + FOOT
}

/// What an author has said.
pub(crate) fn found(author: &str, quotes: &[Quote], origin: Origin) -> String {
    let mut html = head("Found", origin);
    quotes.iter().filter(|quote| quote.author == author).for_each(|quote| put_quote(&mut html, quote));
    html + FOOT
}

fn put_quote(html: &mut String, quote: &Quote) {
    let (text, author) = (escape(&quote.text, Escaping::Plain), escape(&quote.author, Escaping::Plain));
    put(html, format_args!("<div class=\"quote\">\n<span class=\"text\">{text}</span>\n"));
    put(html, format_args!("<span>by <small class=\"author\">{author}</small></span>\n<div class=\"tags\">"));
    for tag in &quote.tags {
        put(html, format_args!(" <span class=\"tag\">{tag}</span>"));
    }
    html.push_str("</div>\n</div>\n");
}

/// Up to the heading; with the way to each kind of pages.
fn head(title: &str, origin: Origin) -> String {
    let places = [
        ("/", "Quotes"),
        ("/scroll", "Without end"),
        ("/search", "Search"),
        ("/files/", "Files"),
        ("/visitors/", "Visitors"),
        ("/login", "Login"),
    ];
    let links: String = places.iter().map(|(path, name)| format!("<a href=\"{}\">{name}</a>\n", origin.link(path))).collect();
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title></head>
<body>
<nav>
{links}</nav>
<main>
<h1>{title}</h1>
"#
    )
}
