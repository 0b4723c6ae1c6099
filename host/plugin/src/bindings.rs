//! The contract as Rust types, generated from `wit/`.
//!
//! Decision: one set of bindings from the world that has every entry point; it is never instantiated whole. What reads the
//! store is asynchronous for the host, everything else is a plain function: it never waits, and costs no future.

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "every-entry-point",
    imports: {
        "nephila:crawler/queue.enqueue": async | trappable,
        "nephila:crawler/queue.enqueue-links": async | trappable,
        "nephila:crawler/queue.lookup": async | trappable,
        "nephila:crawler/dataset.read": async | trappable,
        "nephila:crawler/key-value.get": async | trappable,
        "nephila:crawler/key-value.get-auto-saved": async | trappable,
        "nephila:crawler/state.get": async | trappable,
        "nephila:crawler/state.keys": async | trappable,
        "nephila:crawler/session.add": async | trappable,
        default: trappable,
    },
    exports: { default: async },
    trappable_error_type: { "nephila:crawler/types.error" => crate::fault::Fault },
    with: {
        "nephila:crawler/page.document": crate::imports::DocumentHandle,
        "nephila:crawler/context.call": crate::imports::CallHandle,
    },
    require_store_data_send: true,
});
