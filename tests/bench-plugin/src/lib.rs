//! The plugin that the benchmark crawls with. It does what the benchmark's bare loop does, in the way that a plugin's author
//! would write it: one query, one item, all links of the same host.

use nephila_sdk::prelude::*;

#[derive(Serialize, Deserialize)]
struct Item {
    #[serde(default)]
    url: String,
    title: String,
    h1: String,
    price: String,
}

struct Bench;

impl Crawler for Bench {
    fn manifest() -> Manifest {
        Manifest::new("bench", env!("CARGO_PKG_VERSION"), "Takes title, h1 and price of every page, for the benchmark.")
    }

    fn handle(call: &Call) -> HandlerResult {
        let document = call.document()?;
        let fields = Fields::new().text("title", "title").text("h1", "h1").text("price", ".price");
        let item: Item = document.extract(fields)?.into()?;
        dataset::push(&Item { url: document.url(), ..item })?;
        enqueue_links(Links::same_hostname())?;
        Ok(())
    }
}

nephila_sdk::plugin!(Bench);
