//! Plugins that are wrong, each in its own way, and the words that the verdict on each must have. The end-to-end tests take the same list, so
//! that people are told what the library says.

#![allow(clippy::expect_used, clippy::panic, reason = "tests end with the first thing that is wrong")]

use std::path::{Path, PathBuf};

/// A wrong plugin.
pub struct Wrong {
    /// What its file is called, without an extension.
    pub name: &'static str,
    content: Content,
    /// What the verdict says, in this order: what is wrong, and the way out.
    pub words: &'static [&'static str],
}

enum Content {
    Bytes(Vec<u8>),
    /// So many bytes, none of which take room on a disk.
    Hole(u64),
}

impl Wrong {
    /// Writes its file.
    pub fn write(&self, folder: &Path) -> PathBuf {
        let path = folder.join(format!("{}.wasm", self.name));
        let written = match &self.content {
            Content::Bytes(bytes) => std::fs::write(&path, bytes),
            Content::Hole(size) => std::fs::File::create(&path).and_then(|file| file.set_len(*size)),
        };
        written.expect("written");
        path
    }
}

fn wrong(name: &'static str, content: impl AsRef<[u8]>, words: &'static [&'static str]) -> Wrong {
    Wrong { name, content: Content::Bytes(content.as_ref().to_owned()), words }
}

fn parsed(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn wrong_wat(name: &'static str, text: &str, words: &'static [&'static str]) -> Wrong {
    wrong(name, parsed(text), words)
}

/// A component whose `handle` has no parameters, with `core` in its core module, that exports it under a name.
pub fn mistyped(core: &str, interface: &str) -> String {
    format!(
        "(component (core module $m {core} (func (export \"handle\")))
           (core instance $i (instantiate $m))
           (func $f (canon lift (core func $i \"handle\")))
           (instance $h (export \"handle\" (func $f)))
           (export \"{interface}\" (instance $h)))"
    )
}

/// A component with a handler that fits, and further entry points: functions without parameters or results, by interface.
pub fn with_entry_points(further: &[(&str, &[&str])]) -> String {
    let export = |(interface, functions): &(&str, &[&str])| {
        let functions: String = functions.iter().map(|name| format!("(export \"{name}\" (func $nothing))")).collect();
        let name = format!("nephila:crawler/{interface}@0.1.0");
        format!("(instance ${interface} {functions}) (export \"{name}\" (instance ${interface}))")
    };
    format!(
        r#"
        (component
          (import "nephila:crawler/types@0.1.0" (instance $types
            (type $ending (enum "retry" "skip" "fatal"))
            (export "ending" (type $ending-named (eq $ending)))
            (type $error (record (field "code" string) (field "message" string) (field "ending" (option $ending-named))))
            (export "error" (type (eq $error)))))
          (alias export $types "error" (type $error))
          (import "nephila:crawler/context@0.1.0" (instance $context (export "call" (type (sub resource)))))
          (alias export $context "call" (type $call))
          (core module $guest
            (memory (export "memory") 1)
            (func (export "nothing"))
            (func (export "handle") (param i32) (result i32) (i32.const 16)))
          (core instance $guest (instantiate $guest))
          (alias core export $guest "memory" (core memory $memory))
          (func $nothing (canon lift (core func $guest "nothing")))
          (func $handle (param "call" (own $call)) (result (result (error $error)))
            (canon lift (core func $guest "handle") (memory $memory)))
          (instance $handler (export "handle" (func $handle)))
          (export "nephila:crawler/handler@0.1.0" (instance $handler))
          {})"#,
        further.iter().map(export).collect::<String>()
    )
}

const HANDLER: &str = "nephila:crawler/handler@0.1.0";

/// All of them.
pub fn all() -> Vec<Wrong> {
    let core = parsed("(module (memory 1))");
    let mut with_types = core.clone();
    with_types.extend([0, 16, 14]);
    with_types.extend(b"component-type\0");
    let component = parsed("(component)");
    let nothing_follows = [component.as_slice(), &[1, 3, 9, 9, 9]].concat();
    let mut all = vec![
        wrong("empty", "", &["is not a WebAssembly component: it is empty", "build or download it again"]),
        wrong("source", "export function handle() {}", &["does not begin with `\\0asm`", "not its source"]),
        wrong("native", "\x7fELF\x02\x01\x01", &["is native code", "give the component"]),
        Wrong {
            name: "huge",
            content: Content::Hole(65 << 20),
            words: &["has 68157440 bytes", "are allowed", "optimised for size"],
        },
        wrong("truncated", &parsed(&mistyped("", HANDLER))[..100], &["is truncated", "build or download it again"]),
        wrong("other-version", b"\0asm\x63\0\0\0", &["WebAssembly of another version", "present toolchain"]),
        wrong("core-module", &core, &["is a core module, not a component", "wasm32-wasip2"]),
        wrong("core-module-with-types", with_types, &["is a core module", "wasm-tools component new IN.wasm -o OUT.wasm"]),
        wrong("garbage", nothing_follows, &["does not compile", "build it again"]),
        wrong_wat("async", "(component (type (stream u8)))", &["component-model async", "is synchronous", "--sync"]),
        wrong_wat(
            "memory-of-64-bits",
            "(component (core module (memory i64 1)))",
            &["does not compile", "memory64", "toolchain"],
        ),
        wrong_wat("threads", "(component (core module (memory 1 1 shared)))", &["does not compile", "threads", "toolchain"]),
    ];
    all.extend(wrong_contracts());
    all.extend(wrong_imports());
    all.extend(bad_starters());
    all
}

fn wrong_contracts() -> Vec<Wrong> {
    let mistyped_entry_points = [
        wrong_wat("failure", &with_entry_points(&[("failure", &["on-failure"])]), &["a `failure` of other types", "wit folder"]),
        wrong_wat("finish", &with_entry_points(&[("finish", &["on-finish"])]), &["a `finish` of other types", "wit folder"]),
        wrong_wat("manifest", &with_entry_points(&[("manifest", &["describe"])]), &["a `manifest` of other types", "wit folder"]),
        wrong_wat("sessions", &with_entry_points(&[("sessions", &["create"])]), &["a `sessions` of other types", "wit folder"]),
        wrong_wat(
            "pipeline",
            &with_entry_points(&[("pipeline", &["process-item"])]),
            &["a `pipeline` of other types", "wit folder"],
        ),
        wrong_wat(
            "half-a-listener",
            &with_entry_points(&[("listener", &["subscriptions"])]),
            &["a `listener` of other types", "on-event"],
        ),
    ];
    let no_handler = mistyped("", "nephila:crawler/finish@0.1.0");
    let mut all = vec![
        wrong_wat("nothing", "(component)", &["has no handler: it exports nothing", "needs nephila:crawler/handler@0.1.0"]),
        wrong_wat(
            "of-another-host",
            &mistyped("", "a:b/c@1.0.0"),
            &["it exports a:b/c@1.0.0", "needs", HANDLER, "world `plugin`"],
        ),
        wrong_wat("only-a-finish", &no_handler, &["it exports nephila:crawler/finish@0.1.0", "needs", HANDLER]),
        wrong_wat("handler", &mistyped("", HANDLER), &["a `handler` of other types", "wit folder"]),
        wrong_wat(
            "exports-of-a-newer-contract",
            &mistyped("", "nephila:crawler/handler@0.3.0"),
            &["made for nephila:crawler@0.3.0", "this host speaks 0.1.0", "use a host that speaks 0.3.0"],
        ),
        wrong_wat(
            "imports-of-a-newer-contract",
            "(component (import \"nephila:crawler/log@9.0.0\" (instance)))",
            &["made for nephila:crawler@9.0.0", "build it for 0.1.0"],
        ),
    ];
    all.extend(mistyped_entry_points);
    all
}

fn wrong_imports() -> Vec<Wrong> {
    let later = "(component (import \"nephila:crawler/log@0.1.9\" (instance (export \"of-a-later-version\" (func)))))";
    let mistyped = "(component (import \"nephila:crawler/state@0.1.0\" (instance (export \"get\" (func (param \"key\" u32))))))";
    vec![
        wrong_wat(
            "later-function",
            later,
            &["does not fit this host's nephila:crawler@0.1.0", "of-a-later-version", "wit folder"],
        ),
        wrong_wat(
            "mistyped-import",
            mistyped,
            &["does not fit this host's nephila:crawler@0.1.0", "nephila:crawler/state", "wit folder"],
        ),
        wrong_wat(
            "unknown-interface",
            "(component (import \"nephila:crawler/telepathy@0.1.0\" (instance (export \"read\" (func)))))",
            &["does not fit this host's", "nephila:crawler/telepathy", "wit folder"],
        ),
        wrong_wat(
            "unknown-package",
            "(component (import \"acme:db/sql@1.0.0\" (instance)))",
            &["imports what this host does not give: acme:db/sql@1.0.0", "world `plugin`"],
        ),
        wrong_wat("root-function", "(component (import \"fetch\" (func)))", &["does not give: fetch", "world `plugin`"]),
        wrong_wat(
            "http",
            "(component (import \"wasi:http/types@0.2.0\" (instance)) (import \"a:b/c@1.0.0\" (instance)))",
            &["wasi:http/types@0.2.0, a:b/c@1.0.0", "does not fetch, it enqueues requests"],
        ),
        wrong_wat(
            "sockets-of-wasi-0.3",
            "(component (import \"wasi:sockets/types@0.3.0\" (instance)))",
            &["does not give: wasi:sockets/types@0.3.0", "WASI 0.2 without http", "wasm32-wasip2"],
        ),
    ]
}

fn bad_starters() -> Vec<Wrong> {
    let memories = "(memory 1) ".repeat(70);
    let two_modules = mistyped(&memories, HANDLER).replacen(
        "(component",
        &format!("(component (core module $n {memories}) (core instance (instantiate $n))"),
        1,
    );
    vec![
        wrong_wat(
            "crashes",
            &mistyped("(func $s unreachable) (start $s)", HANDLER),
            &["cannot be started", "crashed", "unreachable"],
        ),
        wrong_wat("loops", &mistyped("(func $s (loop br 0)) (start $s)", HANDLER), &["cannot be started", "of processor time"]),
        wrong_wat("of-a-gigabyte", &mistyped("(memory 16384)", HANDLER), &["memory", "raise"]),
        wrong_wat("many-memories", &two_modules, &["memories", "build it smaller"]),
    ]
}
