//! Crawls a bookshop of the shape of books.toscrape.com.
//!
//! Two kinds of pages: a *listing* leads to books and to the next listing, a *detail* page is a book. Details have the
//! higher priority, so that the queue stays as short as one listing instead of growing to the whole shop.

mod book;

use book::Book;
use nephila_sdk::prelude::*;

struct Books;

impl Crawler for Books {
    fn manifest() -> Manifest {
        Manifest::new(
            "books",
            env!("CARGO_PKG_VERSION"),
            "Collects every book of a shop shaped like books.toscrape.com, with price, stock, rating and category.",
        )
    }

    fn handle(call: &Call) -> HandlerResult {
        Router::new().on("listing", listing).on("detail", detail).default(listing).dispatch(call)
    }
}

nephila_sdk::plugin!(Books);

fn listing(_: &Call) -> HandlerResult {
    enqueue_links(Links::same_hostname().selector("article.product_pod h3 a").label("detail").priority(1))?;
    enqueue_links(Links::same_hostname().selector("li.next a").label("listing"))?;
    Ok(())
}

fn detail(call: &Call) -> HandlerResult {
    let document = call.document()?;
    let page = document.extract(book::fields())?;
    let product = document.extract_each("table tr", book::product_fields())?;

    let book = Book::new(&document.url(), page.into()?, &product)?;
    dataset::push(&book)?;
    state::increment(&format!("category:{}", book.category), 1)?;
    Ok(())
}
