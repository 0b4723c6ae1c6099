//! A plugin is a type that implements [`Crawler`]; [`plugin!`](crate::plugin) makes the component's exports of it.
//!
//! The type carries no data: every page gets a sandbox of its own, so that nothing could live in it from page to page.
//! What must live longer goes to [`state`](crate::state). Only the listener's instance lives on, from event to event.

use crate::bindings::imports::nephila::crawler::{context, types};
use crate::bindings::{failure, finish, handler, listener, manifest, pipeline, sessions};
use crate::{Call, Error, Event, HandlerResult, Item, Manifest, NewSession, Verdict, panic};

/// Why a request failed for good: a stable `code`, a `message`, the `attempts` made, and the last `status` if any.
pub use crate::bindings::failure::exports::nephila::crawler::failure::Reason as FailureReason;

/// The code that understands a site.
pub trait Crawler {
    /// Says what the plugin is. Called once when it is loaded, without access to any crawl.
    fn manifest() -> Manifest;

    /// Called once per page. Its effects commit together with the request's mark; if it fails, none are kept.
    fn handle(call: &Call) -> HandlerResult;

    /// Called when a request is given up, if the plugin asks for it: `plugin!(Books: failure)`. There may be no page.
    fn failure(call: &Call, reason: &FailureReason) -> HandlerResult {
        let _ = (call, reason);
        Ok(())
    }

    /// Called once when the queue is empty, if the plugin asks for it: `plugin!(Books: finish)`. May read datasets, and
    /// may enqueue: then the crawl goes on. A start that ends at a limit or by a stop, with requests that are pending, does not call
    /// it; the one that does the last of them will.
    fn finish() -> HandlerResult {
        Ok(())
    }

    /// The names of the events that [`on_event`](Crawler::on_event) wants to hear, if the plugin asks for it: `plugin!(Books: listener)`.
    ///
    /// Called once per instance of the listener, without access to any crawl but its [`config`](crate::config).
    fn subscriptions() -> Vec<String> {
        Vec::new()
    }

    /// Called once per event, if the plugin asks for it: `plugin!(Books: listener)`. One instance hears all of them, one after another,
    /// and its memory lives on. Its effects commit like a handler's; there is no page and no session.
    fn on_event(event: &Event) -> HandlerResult {
        let _ = event;
        Ok(())
    }

    /// Called when another session is wanted, if the plugin asks for it: `plugin!(Books: sessions)`. There is no access to any crawl but
    /// its [`config`](crate::config).
    fn create_session() -> Result<NewSession, Error> {
        Ok(NewSession::default())
    }

    /// Called once per item on its way to its dataset, if the plugin asks for it: `plugin!(Books: pipeline)`. An error fails the page that
    /// pushed it, as its handler's own would ([`Item`], [`Verdict`]; Scrapy: `process_item`).
    fn process_item(item: &Item) -> Result<Verdict, Error> {
        let _ = item;
        Ok(Verdict::Keep)
    }
}

/// Makes a component of a [`Crawler`]. Once per crate, at its root.
///
/// Pages and the manifest are always exported. Further entry points are named after a colon; what is not named is not
/// exported, so the host never calls it.
///
/// ```no_run
/// # use nephila_sdk::prelude::*;
/// # struct Books;
/// # impl Crawler for Books {
/// #     fn manifest() -> Manifest { Manifest::new("books", "1.0.0", "Books.") }
/// #     fn handle(_: &Call) -> HandlerResult { Ok(()) }
/// # }
/// nephila_sdk::plugin!(Books: failure, finish, listener, sessions, pipeline);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! plugin {
    ($crawler:ident) => { $crate::plugin!($crawler:); };
    ($crawler:ident : $($entry:ident),* $(,)?) => {
        // The names of the exports mean nothing to any other linker.
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            $crate::bindings::handler::export_handler!($crawler with_types_in $crate::bindings::handler);
            $crate::bindings::manifest::export_manifest!($crawler with_types_in $crate::bindings::manifest);
            $($crate::__plugin_entry!($entry $crawler);)*
        };
        #[cfg(not(target_arch = "wasm32"))]
        const _: () = {
            const fn is_a_crawler<T: $crate::Crawler>() {}
            is_a_crawler::<$crawler>()
        };
    };
}

/// One further entry point.
#[doc(hidden)]
#[macro_export]
macro_rules! __plugin_entry {
    (failure $crawler:ident) => {
        $crate::bindings::failure::export_failure!($crawler with_types_in $crate::bindings::failure);
    };
    (finish $crawler:ident) => {
        $crate::bindings::finish::export_finish!($crawler with_types_in $crate::bindings::finish);
    };
    (listener $crawler:ident) => {
        $crate::bindings::listener::export_listener!($crawler with_types_in $crate::bindings::listener);
    };
    (sessions $crawler:ident) => {
        $crate::bindings::sessions::export_sessions!($crawler with_types_in $crate::bindings::sessions);
    };
    (pipeline $crawler:ident) => {
        $crate::bindings::pipeline::export_pipeline!($crawler with_types_in $crate::bindings::pipeline);
    };
    ($other:ident $crawler:ident) => {
        compile_error!(concat!(
            "no such entry point: `",
            stringify!($other),
            "`; there are `failure`, `finish`, `listener`, `sessions` and `pipeline`"
        ));
    };
}

impl<T: Crawler> handler::exports::nephila::crawler::handler::Guest for T {
    fn handle(call: context::Call) -> Result<(), types::Error> {
        panic::report_to_the_log();
        T::handle(&Call::new(call)).map_err(Error::into_wit)
    }
}

impl<T: Crawler> manifest::exports::nephila::crawler::manifest::Guest for T {
    fn describe() -> manifest::exports::nephila::crawler::manifest::Description {
        panic::report_to_the_log();
        T::manifest().into_wit()
    }
}

impl<T: Crawler> failure::exports::nephila::crawler::failure::Guest for T {
    fn on_failure(call: context::Call, reason: FailureReason) -> Result<(), types::Error> {
        panic::report_to_the_log();
        T::failure(&Call::new(call), &reason).map_err(Error::into_wit)
    }
}

impl<T: Crawler> finish::exports::nephila::crawler::finish::Guest for T {
    fn on_finish() -> Result<(), types::Error> {
        panic::report_to_the_log();
        T::finish().map_err(Error::into_wit)
    }
}

impl<T: Crawler> listener::exports::nephila::crawler::listener::Guest for T {
    fn subscriptions() -> Vec<String> {
        panic::report_to_the_log();
        T::subscriptions()
    }

    fn on_event(event: listener::exports::nephila::crawler::listener::Event) -> Result<(), types::Error> {
        panic::report_to_the_log();
        T::on_event(&Event::new(event)).map_err(Error::into_wit)
    }
}

impl<T: Crawler> sessions::exports::nephila::crawler::sessions::Guest for T {
    fn create() -> Result<sessions::exports::nephila::crawler::sessions::NewSession, types::Error> {
        panic::report_to_the_log();
        T::create_session().map(NewSession::into_wit).map_err(Error::into_wit)
    }
}

impl<T: Crawler> pipeline::exports::nephila::crawler::pipeline::Guest for T {
    fn process_item(
        item: pipeline::exports::nephila::crawler::pipeline::Item,
    ) -> Result<pipeline::exports::nephila::crawler::pipeline::Verdict, types::Error> {
        panic::report_to_the_log();
        T::process_item(&Item::new(item)).map(Verdict::into_wit).map_err(Error::into_wit)
    }
}
