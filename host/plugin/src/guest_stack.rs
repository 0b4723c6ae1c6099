//! Whether a plugin crashed because its stack was used up.
//!
//! A plugin has two stacks. The machine's holds return addresses, and wasmtime says plainly when it is over. The plugin's own, in its
//! memory, holds whatever has an address. Toolchains put it first in memory (`--stack-first` of wasm-ld, which rustc, clang and TinyGo ask for),
//! so that one which is over reaches below address 0 and traps, instead of writing over data. An address is 32 bits without a sign: what
//! lies below 0 is at the end of 4 GiB, where no plugin's memory reaches.

use wasmtime::Trap;

/// The machine's stack, whose size the host sets for all plugins.
const MACHINES: &str = "its call stack is exhausted, since its calls nest too deep; use a loop";

/// The plugin's own.
const ITS_OWN: &str = "its stack is used up, since its calls nest too deep; use a loop, or build it with a larger stack (`-z stack-size=` of the linker)";

/// So far below 0 an access may be: more than the largest frame of sane code.
const BELOW_ZERO: u64 = 16 << 20;

/// What wasmtime says of an access outside the memory; it offers it in no other way. `tests/hostile_calls.rs` pins the wording.
const FAULT: &str = "memory fault at wasm address 0x";

/// What is to be said of it, with the way out, if a stack was used up.
pub(crate) fn used_up(error: &wasmtime::Error) -> Option<&'static str> {
    match error.downcast_ref::<Trap>()? {
        Trap::StackOverflow => Some(MACHINES),
        Trap::MemoryOutOfBounds => error.chain().any(|cause| is_below_zero(&cause.to_string())).then_some(ITS_OWN),
        _ => None,
    }
}

fn is_below_zero(said: &str) -> bool {
    let end = 1 << 32;
    said.split_once(FAULT)
        .map(|(_, rest)| rest.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or_default())
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .is_some_and(|address| (end - BELOW_ZERO..end).contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_accesses_just_below_zero_are_the_stack() {
        for (address, below) in
            [("fffffff0", true), ("ff000000", true), ("feffffff", false), ("110000", false), ("100000000", false)]
        {
            let said = format!("memory fault at wasm address 0x{address} in linear memory of size 0x110000");
            assert_eq!(is_below_zero(&said), below, "{said}");
        }
        assert!(!is_below_zero("memory fault at wasm address 0x"));
        assert!(!is_below_zero("wasm trap: out of bounds memory access"));
    }
}
