//! Sleeping as a plugin may that was compiled with a WASI toolchain: it waits for a clock of the host and uses no processor.

#[allow(missing_docs, unreachable_pub, clippy::all, reason = "generated code")]
mod bindings {
    wit_bindgen::generate!({
        inline: "
            package nephila:hostile;

            package wasi:io@0.2.0 {
                interface poll {
                    resource pollable { block: func(); }
                }
            }

            package wasi:clocks@0.2.0 {
                interface monotonic-clock {
                    use wasi:io/poll@0.2.0.{pollable};
                    subscribe-duration: func(when: u64) -> pollable;
                }
            }

            world clocks { import wasi:clocks/monotonic-clock@0.2.0; }
        ",
        world: "nephila:hostile/clocks",
        generate_all,
    });
}

/// Comes back after so many seconds.
pub(crate) fn sleep(seconds: u64) {
    bindings::wasi::clocks::monotonic_clock::subscribe_duration(seconds * 1_000_000_000).block();
}
