//! The contract in `wit/` as Rust, made by wit-bindgen.
//!
//! A component must export every interface of its world, and the host takes an absent one for "not subscribed". So
//! each entry point has a tiny world and a module of its own here; its types are those of [`imports`], and its export
//! macro carries the piece of the component's type that names it. `plugin!` uses the macros that a plugin asks for,
//! and the encoder merges the pieces. The cost: the contract is read eight times when the SDK is compiled.

#![allow(
    missing_docs,
    unreachable_pub,
    rust_2018_idioms,
    clippy::all,
    clippy::allow_attributes_without_reason,
    reason = "generated code"
)]

/// Everything that a plugin may call.
pub mod imports {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "nephila:crawler/imports",
        additional_derives: [PartialEq],
        generate_all,
    });
}

/// The entry point that handles pages.
pub mod handler {
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "package nephila:sdk-handler; world sdk-handler { export nephila:crawler/handler@0.1.0; }",
        world: "nephila:sdk-handler/sdk-handler",
        with: {
            "nephila:crawler/types@0.1.0": crate::bindings::imports::nephila::crawler::types,
            "nephila:crawler/page@0.1.0": crate::bindings::imports::nephila::crawler::page,
            "nephila:crawler/context@0.1.0": crate::bindings::imports::nephila::crawler::context,
            "nephila:crawler/handler@0.1.0": generate,
        },
        export_macro_name: "export_handler",
        pub_export_macro: true,
    });
}

/// The entry point that says what the plugin is.
pub mod manifest {
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "package nephila:sdk-manifest; world sdk-manifest { export nephila:crawler/manifest@0.1.0; }",
        world: "nephila:sdk-manifest/sdk-manifest",
        with: { "nephila:crawler/manifest@0.1.0": generate },
        export_macro_name: "export_manifest",
        pub_export_macro: true,
    });
}

/// The entry point that hears of requests that are given up.
pub mod failure {
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "package nephila:sdk-failure; world sdk-failure { export nephila:crawler/failure@0.1.0; }",
        world: "nephila:sdk-failure/sdk-failure",
        with: {
            "nephila:crawler/types@0.1.0": crate::bindings::imports::nephila::crawler::types,
            "nephila:crawler/page@0.1.0": crate::bindings::imports::nephila::crawler::page,
            "nephila:crawler/context@0.1.0": crate::bindings::imports::nephila::crawler::context,
            "nephila:crawler/failure@0.1.0": generate,
        },
        export_macro_name: "export_failure",
        pub_export_macro: true,
    });
}

/// The entry point that hears of the end of the crawl.
pub mod finish {
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "package nephila:sdk-finish; world sdk-finish { export nephila:crawler/finish@0.1.0; }",
        world: "nephila:sdk-finish/sdk-finish",
        with: {
            "nephila:crawler/types@0.1.0": crate::bindings::imports::nephila::crawler::types,
            "nephila:crawler/finish@0.1.0": generate,
        },
        export_macro_name: "export_finish",
        pub_export_macro: true,
    });
}

/// The entry point that hears events.
pub mod listener {
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "package nephila:sdk-listener; world sdk-listener { export nephila:crawler/listener@0.1.0; }",
        world: "nephila:sdk-listener/sdk-listener",
        with: {
            "nephila:crawler/types@0.1.0": crate::bindings::imports::nephila::crawler::types,
            "nephila:crawler/listener@0.1.0": generate,
        },
        export_macro_name: "export_listener",
        pub_export_macro: true,
    });
}

/// The entry point that makes sessions.
pub mod sessions {
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "package nephila:sdk-sessions; world sdk-sessions { export nephila:crawler/sessions@0.1.0; }",
        world: "nephila:sdk-sessions/sdk-sessions",
        with: {
            "nephila:crawler/types@0.1.0": crate::bindings::imports::nephila::crawler::types,
            "nephila:crawler/sessions@0.1.0": generate,
        },
        export_macro_name: "export_sessions",
        pub_export_macro: true,
    });
}

/// The entry point that looks at items on their way.
pub mod pipeline {
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "package nephila:sdk-pipeline; world sdk-pipeline { export nephila:crawler/pipeline@0.1.0; }",
        world: "nephila:sdk-pipeline/sdk-pipeline",
        with: {
            "nephila:crawler/types@0.1.0": crate::bindings::imports::nephila::crawler::types,
            "nephila:crawler/pipeline@0.1.0": generate,
        },
        export_macro_name: "export_pipeline",
        pub_export_macro: true,
    });
}
