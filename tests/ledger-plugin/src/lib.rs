//! A plugin that keeps books of what it does in two ways, for the crash test: in items and in the state. After any
//! kill they must say the same.

use nephila_sdk::prelude::*;
use nephila_sdk::serde_json::json;

struct Ledger;

impl Crawler for Ledger {
    fn manifest() -> Manifest {
        Manifest::new("ledger", env!("CARGO_PKG_VERSION"), "Keeps books of what it does, for the crash test.")
    }

    fn handle(call: &Call) -> HandlerResult {
        let request = call.request();
        if asks_twice(&request.url) && request.retry_count == 0 {
            return Err(retry("asked", "this page is handled at its second attempt"));
        }
        let session = session::id()?;
        // One that conflicts with every other page, and one that conflicts with none.
        state::update("handled", |count: Option<u32>| count.unwrap_or(0) + 1)?;
        state::increment(&format!("by {session}"), 1)?;
        dataset::push(&json!({ "page": request.url, "session": session, "attempt": request.retry_count }))?;
        enqueue_links(Links::same_hostname())?;
        Ok(())
    }

    fn failure(call: &Call, _: &FailureReason) -> HandlerResult {
        state::increment("failed", 1)?;
        let request = call.request();
        dataset::push(&json!({ "gave up": request.url, "session": session::id()?, "attempt": request.retry_count }))
    }

    fn subscriptions() -> Vec<String> {
        vec!["sessionRetired".into()]
    }

    fn on_event(event: &Event) -> HandlerResult {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Retired {
            session_id: String,
        }
        state::increment("retired", 1)?;
        dataset::push(&json!({ "retired": event.payload::<Retired>()?.session_id }))
    }
}

/// One page in eleven or so.
fn asks_twice(url: &str) -> bool {
    let sum = url.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    sum.is_multiple_of(11)
}

nephila_sdk::plugin!(Ledger: failure, listener);
