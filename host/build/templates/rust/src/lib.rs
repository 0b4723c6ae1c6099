//! Collects quotes with their authors and tags.

mod quote;

use nephila_sdk::prelude::*;
use quote::Quote;

struct Quotes;

impl Crawler for Quotes {
    fn manifest() -> Manifest {
        Manifest::new("{{name}}", env!("CARGO_PKG_VERSION"), "Collects quotes with their authors and tags.")
    }

    fn handle(call: &Call) -> HandlerResult {
        let fields = Fields::new().text("text", ".text").text("author", ".author").texts("tags", ".tag");
        for row in call.document()?.extract_each(".quote", fields)? {
            dataset::push(&row.into::<Quote>()?.cleaned())?;
        }
        enqueue_links(Links::same_hostname().selector("li.next a"))?;
        Ok(())
    }
}

nephila_sdk::plugin!(Quotes);
