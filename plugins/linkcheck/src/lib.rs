//! Checks the links of a web site.
//!
//! Pages are crawled one by one and only leave notes (which ids they have, where their links lead); the finish joins them. So
//! each page is fetched once, however many links lead to it, and no link is judged before its target is known.

mod address;
mod fragment;
mod input;
mod join;
mod page;
mod pattern;
mod probe;
mod record;

use nephila_sdk::prelude::*;

use input::Input;
use join::Join;
use record::{LINKS, LinkRow, PAGES, PageRow};

/// URLs of one question to the queue.
const LOOKUPS: usize = 1_000;

struct LinkCheck;

impl Crawler for LinkCheck {
    fn manifest() -> Manifest {
        let about =
            "Checks the links of a site: reports broken ones, and fragments that no page has, with the pages that hold them.";
        Manifest::new("linkcheck", env!("CARGO_PKG_VERSION"), about)
            // For the finish; a page needs a hundredth of it.
            .setting("plugin-cpu", "60s")
            .setting("plugin-time", "300s")
            .setting("plugin-memory", "512MB")
    }

    fn handle(call: &Call) -> HandlerResult {
        Router::new()
            .default(page::handle)
            .on(probe::ASSET, fine)
            .on(probe::EXTERNAL, fine)
            .on(probe::EXTERNAL_GET, fine)
            .dispatch(call)
    }

    fn failure(call: &Call, reason: &FailureReason) -> HandlerResult {
        match call.label() {
            Some(probe::ASSET | probe::EXTERNAL) => probe::head_failed(call, reason),
            // Of other failures the queue keeps all that the finish needs; a start URL needs a link that leads to it.
            None if call.request().depth == 0 => {
                let start = call.request().original_url.clone();
                LinkRow { to: vec![vec![address::split_fragment(&start).0.to_owned()]], ..LinkRow::default() }.push()
            }
            _ => Ok(()),
        }
    }

    fn finish() -> HandlerResult {
        let mut join = Join::new(Input::read()?.pages_per_row());
        for row in dataset::named(PAGES).read::<PageRow>() {
            join.add_page(&row?);
        }
        join.end_of_pages();
        for row in dataset::named(LINKS).read::<LinkRow>() {
            join.note_unknown(&row?);
        }
        for some in join.take_unknown().chunks(LOOKUPS) {
            let answers = lookup(some.iter().map(|(url, _)| url.as_str()))?;
            for ((url, by_head), answer) in some.iter().zip(answers) {
                join.resolve(url, *by_head, answer);
            }
        }
        for row in dataset::named(LINKS).read::<LinkRow>() {
            join.check(&row?);
        }

        let (summary, problems) = join.result();
        dataset::push_all(&problems)?;
        key_value::set("SUMMARY", &summary)?;
        if summary.not_listed > 0 {
            warn!("there are more problems than the result has room for; {} were left out", summary.not_listed);
        }
        info!(
            "{} pages, {} links, {} broken, {} missing fragments, {} unchecked",
            summary.pages, summary.links, summary.broken, summary.missing_fragments, summary.unchecked
        );
        Ok(())
    }
}

nephila_sdk::plugin!(LinkCheck: failure, finish);

/// A status is all that was asked for.
fn fine(_: &Call) -> HandlerResult {
    Ok(())
}
