//! How a plugin in C is compiled with the SDK in `nephila/`: the compilers that do, and their flags, for `nephila build` and for the tests here.
//!
//! What the SDK offers is said in `nephila/nephila.h`, and how it is built in `README.md`. Its files are checked in, those made from
//! `wit/` too; the tests say when they are not current, and compile and run plugins.

/// What compiles C for WebAssembly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compiler {
    /// A clang of version 14 or later with a C library for WASI: of a distribution's packages, or of the wasi-sdk.
    Clang,
    /// `zig cc`, which brings all that it needs: a program, or `python -m ziglang cc`.
    Zig,
}

impl Compiler {
    /// The flags for each file, and for the linker too. Behind them come `-I`, the folder of the SDK, and its `nephila.c` as the first
    /// file, so that what it has instead of the C library is found before that. What goes wrong is said on standard error as
    /// `file:line:column`, with the paths as they are given. The module is then encoded as a component, without an adapter.
    #[must_use]
    pub fn flags(self) -> Vec<&'static str> {
        // Small: every page's sandbox begins with what the module holds.
        const BOTH: [&str; 3] = ["-Os", "-Wall", "-Wextra"];
        // Checks that end a call with the place where it went wrong; `nephila.c` has the functions that they call. A component that is given
        // to others says nothing of the folders of whoever built it.
        const CHECKS: [&str; 3] = [
            "-fsanitize=null,bounds,return,unreachable",
            "-fno-sanitize-recover=all",
            "-fsanitize-undefined-strip-path-components=-1",
        ];
        let own: &[&str] = match self {
            Compiler::Clang => &["--target=wasm32-wasi"],
            // Zig switches `assert` off with `-Os`.
            Compiler::Zig => &["-target", "wasm32-wasi", "-DNEPHILA_ZIG", "-UNDEBUG"],
        };
        [&BOTH[..], &CHECKS, own].concat()
    }

    /// The flags that only the linker takes.
    #[must_use]
    pub fn link_flags(self) -> &'static [&'static str] {
        match self {
            // A stack of 128 KiB below all data, so that one that is used up traps. No start function: `nephila.c` runs constructors.
            Compiler::Clang => {
                &["-nostartfiles", "-Wl,--no-entry", "-Wl,--stack-first", "-Wl,-z,stack-size=131072", "-Wl,--strip-debug"]
            }
            // Zig puts the stack first by itself, and knows no module without a start function.
            Compiler::Zig => &["-mexec-model=reactor", "-Wl,-z,stack-size=131072"],
        }
    }
}
