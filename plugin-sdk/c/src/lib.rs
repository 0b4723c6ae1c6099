//! The SDK for plugins in C: its files, so that they can be carried inside of a program, and how a plugin is compiled with them.
//!
//! What the SDK offers is said in `nephila/nephila.h`, and how it is built in `README.md`. The files are checked in, those made from
//! `wit/` too (`cargo xtask sdk-c`); the tests here say when they are not current, and compile and run plugins.

use std::ffi::OsString;
use std::path::Path;

/// The SDK's files with their names. They belong into one folder.
pub const FILES: [(&str, &str); 5] = [
    ("nephila.h", include_str!("../nephila/nephila.h")),
    ("nephila.c", include_str!("../nephila/nephila.c")),
    ("nephila_types.h", include_str!("../nephila/nephila_types.h")),
    ("nephila_wit.h", include_str!("../nephila/nephila_wit.h")),
    ("nephila_wit.c", include_str!("../nephila/nephila_wit.c")),
];

/// What compiles C for WebAssembly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compiler {
    /// A clang of version 14 or later with a C library for WASI: of a distribution's packages, or of the wasi-sdk.
    Clang,
    /// `zig cc`, which brings all that it needs: `python -m ziglang cc`.
    Zig,
}

impl Compiler {
    /// The arguments that make a core module of a plugin's files. What goes wrong is said on standard error as `file:line:column`, with
    /// the paths as they are given here. The module is then encoded as a component, without an adapter.
    pub fn arguments<S: AsRef<Path>>(self, sdk: &Path, sources: impl IntoIterator<Item = S>, module: &Path) -> Vec<OsString> {
        // Small: every page's sandbox begins with what the module holds.
        const BOTH: [&str; 3] = ["-Os", "-Wall", "-Wextra"];
        // Checks that end a call with the place where it went wrong; `nephila.c` has the functions that they call.
        const CHECKS: [&str; 2] = ["-fsanitize=null,bounds,return,unreachable", "-fno-sanitize-recover=all"];
        // A stack of 128 KiB below all data, so that one that is used up traps. No start function: `nephila.c` runs constructors.
        const LINK: [&str; 5] =
            ["-nostartfiles", "-Wl,--no-entry", "-Wl,--stack-first", "-Wl,-z,stack-size=131072", "-Wl,--strip-debug"];
        // Zig puts the stack first by itself, knows no module without a start function, and switches `assert` off with `-Os`.
        const ZIG: [&str; 6] =
            ["-target", "wasm32-wasi", "-mexec-model=reactor", "-DNEPHILA_ZIG", "-UNDEBUG", "-Wl,-z,stack-size=131072"];

        let mut arguments: Vec<OsString> = BOTH.map(OsString::from).into();
        arguments.extend(CHECKS.map(OsString::from));
        match self {
            Compiler::Clang => {
                arguments.push("--target=wasm32-wasi".into());
                arguments.extend(LINK.map(OsString::from));
            }
            Compiler::Zig => arguments.extend(ZIG.map(OsString::from)),
        }
        arguments.push("-I".into());
        arguments.push(sdk.into());
        // First, so that what it has instead of the C library is found before that.
        arguments.push(sdk.join("nephila.c").into());
        arguments.extend(sources.into_iter().map(|source| source.as_ref().into()));
        arguments.push("-o".into());
        arguments.push(module.into());
        arguments
    }
}
