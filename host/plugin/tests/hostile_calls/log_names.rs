//! Under which name a plugin's lines stand in the log.

use super::{Store, call, code, host, wasm};
use nephila_plugin::{InstancePolicy, Limits};
use std::cell::RefCell;
use std::sync::Once;
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

thread_local! {
    /// The names that log lines of plugins carry, as far as this thread wrote them.
    static NAMES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

struct Names;

/// To be there before the first line of any test: what finds nobody listening may be remembered so.
pub fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| tracing::subscriber::set_global_default(Names).expect("nobody else listens"));
}

impl Subscriber for Names {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "plugin"
    }

    fn event(&self, event: &Event<'_>) {
        struct Name;
        impl Visit for Name {
            fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
                if field.name() == "plugin" {
                    NAMES.with_borrow_mut(|names| names.push(format!("{value:?}")));
                }
            }
        }
        event.record(&mut Name);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

#[tokio::test]
async fn log_lines_carry_the_name_that_the_plugin_gives_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("other.wasm");
    std::fs::copy(wasm(), &file).expect("copied");
    let policy = InstancePolicy::Reuse { max_calls: 10, max_memory: 64 << 20 };
    let plugin = host(4, policy).load(file).await.expect("it loads");
    for _ in 0..2 {
        let report = plugin.handle(call("trap", Limits::default(), Store::default())).await;
        assert_eq!(code(&report), "trap");
    }
    let names = NAMES.take();
    assert!(names.len() >= 2 && names.iter().all(|name| name == "\"hostile\""), "{names:?}");
}
