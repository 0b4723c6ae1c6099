//! Plugins in C, compiled as `nephila build` does it, and run by the real host against the real test site.
//!
//! They need what `cargo xtask build --dev` builds, and a compiler. What is not there makes them fail, with what to do; they never pass
//! silently. `NEPHILA_TEST_BINARIES` and `NEPHILA_TEST_PLUGINS` name other folders with `nephila` and `nephila-site`, and with `books.wasm`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};
use nephila_sdk_c::{Compiler, FILES};
use serde_json::Value;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Something that was built before.
fn built(variable: &str, otherwise: PathBuf, name: &str) -> Result<PathBuf> {
    let file = std::env::var_os(variable).map_or(otherwise, PathBuf::from).join(name);
    ensure!(file.is_file(), "{} is not built; run `cargo xtask build --dev` first", file.display());
    Ok(file)
}

// target/debug/deps/test-1234 → target/debug
fn binary(name: &str) -> Result<PathBuf> {
    let folder = std::env::current_exe()?.parent().and_then(Path::parent).context("a test is in no folder")?.to_owned();
    built("NEPHILA_TEST_BINARIES", folder, name)
}

/// The test site as a process of its own.
struct Site {
    process: Child,
    url: String,
}

impl Site {
    fn start() -> Result<Self> {
        let mut process =
            Command::new(binary("nephila-site")?).args(["bookshop", "--port", "0"]).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let output = process.stdout.take().context("the site has no output")?;
        BufReader::new(output).read_line(&mut line)?;
        let url = line.split_whitespace().last().context("the site said no URL")?.to_owned();
        Ok(Self { process, url })
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Compiles; says what the compiler said.
fn compile(compiler: &[&str], kind: Compiler, sources: &[PathBuf], module: &Path, more: &[&str]) -> Result<Output> {
    let sdk = module.with_extension("sdk");
    std::fs::create_dir_all(&sdk)?;
    for (name, content) in FILES {
        std::fs::write(sdk.join(name), content)?;
    }
    let (program, first) = compiler.split_first().context("no compiler")?;
    let arguments: Vec<OsString> = kind.arguments(&sdk, sources, module);
    let output = Command::new(program).args(first).args(arguments).args(more).output();
    output.with_context(|| {
        format!("`{program}` cannot be started; on Debian: apt-get install clang lld wasi-libc libclang-rt-dev-wasm32")
    })
}

/// Compiles without a warning, and encodes.
fn build(sources: &[&str], component: &Path) -> Result<()> {
    let sources: Vec<PathBuf> = sources.iter().map(|source| here(source)).collect();
    let module = component.with_extension("core.wasm");
    let output = compile(&["clang"], Compiler::Clang, &sources, &module, &["-Werror"])?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    encode(&module, component)
}

fn encode(module: &Path, component: &Path) -> Result<()> {
    let module = std::fs::read(module)?;
    let bytes = wit_component::ComponentEncoder::default().validate(true).module(&module)?.encode()?;
    Ok(std::fs::write(component, bytes)?)
}

/// A crawl that has ended.
struct Crawl {
    report: Value,
    log: String,
    items: BTreeSet<String>,
    state: BTreeMap<String, String>,
}

fn crawl(plugin: &Path, site: &Site, folder: &Path, more: &[&str]) -> Result<Crawl> {
    std::fs::create_dir_all(folder)?;
    let mut command = Command::new(binary("nephila")?);
    command.current_dir(folder).args(["run", "--delay", "0", "--json", "--job", "job", "-o", "items.jsonl"]);
    let output = command.args(more).arg(plugin).arg(&site.url).output()?;
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_slice(&output.stdout).with_context(|| log.clone())?;
    let items = std::fs::read_to_string(folder.join("items.jsonl"))?;

    let store = rusqlite::Connection::open(folder.join("job/nephila.db"))?;
    let mut rows = store.prepare("SELECT key, value FROM state")?;
    let state = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    Ok(Crawl { report, log, items: items.lines().map(without_id).collect::<Result<_>>()?, state })
}

/// An item but for the id that the host gives it.
fn without_id(line: &str) -> Result<String> {
    let mut item: Value = serde_json::from_str(line)?;
    if let Some(fields) = item.as_object_mut() {
        fields.remove("_id");
    }
    Ok(item.to_string())
}

#[test]
fn books_in_c_gives_what_books_in_rust_gives() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let ours = folder.path().join("books-c.wasm");
    build(&["../../plugins/books-c/books.c"], &ours)?;
    let theirs = built("NEPHILA_TEST_PLUGINS", here("../../target/plugins"), "books.wasm")?;
    let site = Site::start()?;

    let ours = crawl(&ours, &site, &folder.path().join("c"), &[])?;
    let theirs = crawl(&theirs, &site, &folder.path().join("rust"), &[])?;

    assert_eq!(ours.items.len(), 1_000, "{}", ours.log);
    assert_eq!(ours.items, theirs.items);
    assert_eq!(ours.state.len(), 50);
    assert_eq!(ours.state, theirs.state);
    for figure in [
        "status",
        "requestsTotal",
        "requestsFinished",
        "requestsFailed",
        "items",
        "fetches",
        "statusCodes",
        "errors",
        "bodyBytes",
    ] {
        assert_eq!(ours.report[figure], theirs.report[figure], "{figure}");
    }
    Ok(())
}

/// What the guest `fails.c` is told to do, and the code and the words that its request fails with.
const FAILURES: [(&str, &str, &str); 15] = [
    ("abort", "trap", "abort() was called: the disk is full"),
    ("assert", "trap", "assertion failed: 1 + 1 == 3, at "),
    ("exit", "trap", "the plugin called exit(3)"),
    ("null", "trap", "NULL is used as if it pointed to something, at "),
    ("bounds", "trap", "the index 6 is outside of the array, at "),
    ("outside", "trap", "out of bounds memory access"),
    ("stack", "trap", "its stack is used up"),
    ("panic", "trap", "I cannot go on: 42"),
    ("memory", "memory-limit", "needs more than its"),
    ("selector", "bad-selector", "`a[[`"),
    ("first", "bad-selector", "`a[[`"),
    ("retry", "busy", "try later, please"),
    ("broken-json", "json", "no value, at byte 5"),
    ("put", "json", "`x` is to be set in what is no JSON object"),
    ("no-such-label", "unknown-label", "no route is for the label `no-such-label`"),
];

#[test]
fn what_goes_wrong_in_c_arrives_with_its_words() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let plugin = folder.path().join("fails.wasm");
    build(&["tests/guests/fails.c"], &plugin)?;
    let site = Site::start()?;

    let names: Vec<&str> = FAILURES.iter().map(|(name, ..)| *name).collect();
    let input = serde_json::to_string(&names)?;
    let crawl = crawl(&plugin, &site, &folder.path().join("run"), &["--input", &input])?;

    // The guest's `failure` says each as a line of the log.
    for (name, code, words) in FAILURES {
        let line = format!("gave up {name} ({code}):");
        let told = crawl.log.lines().any(|told| told.contains(&line) && told.contains(words));
        assert!(told, "no line has `{line}` and `{words}`:\n{}", crawl.log);
    }
    assert_eq!(crawl.report["requestsFailed"], FAILURES.len());
    assert_eq!(crawl.items, BTreeSet::new());
    Ok(())
}

#[test]
fn all_of_the_contract_can_be_said_in_c() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let plugin = folder.path().join("tour.wasm");
    build(&["tests/guests/tour.c"], &plugin)?;
    let site = Site::start()?;

    let crawl = crawl(&plugin, &site, &folder.path().join("run"), &["--input", r#"{"stars":5}"#, "--set", "session-pool=yes"])?;

    // The guest compares for itself and fails with `assert`.
    assert_eq!(crawl.report["errors"], serde_json::json!([]), "{}", crawl.log);
    for words in
        ["a line of printf", "half a line of printf", "the listener heard tour #1", "finished with 2 items", "a line with data"]
    {
        assert!(crawl.log.contains(words), "`{words}` is not in the log:\n{}", crawl.log);
    }
    let text = r#"{"text":"caf\u{fffd} \"quoted\"\n\u{1}\u{e9}\u{1f600}","numbers":[51.77,10.0,-0.001,3.141592653589793,1e300,-9223372036854775808,0]}"#;
    let text =
        text.replace("\\u{fffd}", "\u{fffd}").replace("\\u{1}", "\\u0001").replace("\\u{e9}", "é").replace("\\u{1f600}", "😀");
    let expected: Value = serde_json::from_str(&text)?;
    assert!(crawl.items.contains(&expected.to_string()), "{:?}", crawl.items);
    Ok(())
}

#[test]
fn the_header_is_for_cpp_too_and_constructors_run() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let plugin = folder.path().join("cpp.wasm");
    build(&["tests/guests/cpp.cpp"], &plugin)?;
    let site = Site::start()?;

    let crawl = crawl(&plugin, &site, &folder.path().join("run"), &["-n", "3"])?;

    assert_eq!(crawl.report["errors"], serde_json::json!([]), "{}", crawl.log);
    assert_eq!(crawl.items.len(), 1, "each page has a sandbox of its own: {:?}", crawl.items);
    Ok(())
}

#[test]
fn a_plugin_exports_what_its_author_wrote_and_imports_the_contract_only() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let said = |source: &str| -> Result<String> {
        let plugin = folder.path().join("plugin.wasm");
        build(&[source], &plugin)?;
        let output = Command::new(binary("nephila")?).arg("inspect").arg(&plugin).output()?;
        Ok(String::from_utf8(output.stdout)?)
    };

    let books = said("../../plugins/books-c/books.c")?;
    assert!(books.contains("exports   handler, manifest\n") && books.contains("compatible with this host"), "{books}");
    assert!(!books.contains("wasi:") && !books.contains("/session@"), "{books}");
    let tour = said("tests/guests/tour.c")?;
    for entry in ["handler", "manifest", "failure", "finish", "listener", "sessions"] {
        let exports = tour.lines().find(|line| line.trim_start().starts_with("exports")).unwrap_or_default();
        assert!(exports.contains(entry), "{tour}");
    }
    assert!(!tour.contains("wasi:"), "{tour}");
    Ok(())
}

#[test]
fn a_mistake_is_told_with_its_place() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("wrong.c");
    std::fs::write(&source, "#include \"nephila.h\"\nNEPHILA_HANDLER(call) {\n    return nephila_title(call) +;\n}\n")?;
    let output = compile(&["clang"], Compiler::Clang, std::slice::from_ref(&source), &folder.path().join("wrong.wasm"), &[])?;

    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains(&format!("{}:3:33: error: expected expression", source.display())), "{said}");
    Ok(())
}

/// `NEPHILA_TEST_ZIG` says how Zig's compiler is called here: `python3 -m ziglang`.
#[test]
#[ignore = "Zig's compiler is large, and seldom there"]
fn zig_compiles_plugins_too() -> Result<()> {
    let Ok(zig) = std::env::var("NEPHILA_TEST_ZIG") else { bail!("NEPHILA_TEST_ZIG is not set") };
    let compiler: Vec<&str> = zig.split_whitespace().chain(["cc"]).collect();
    let folder = tempfile::tempdir()?;
    let site = Site::start()?;
    for (guest, failed) in [("tests/guests/tour.c", 0), ("tests/guests/fails.c", FAILURES.len())] {
        let (module, plugin) = (folder.path().join("zig.core.wasm"), folder.path().join("zig.wasm"));
        let output = compile(&compiler, Compiler::Zig, &[here(guest)], &module, &[])?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        encode(&module, &plugin)?;

        let input = match failed {
            0 => r#"{"stars":5}"#.to_owned(),
            _ => serde_json::to_string(&FAILURES.map(|(name, ..)| name))?,
        };
        let run = folder.path().join(format!("run-{failed}"));
        let crawl = crawl(&plugin, &site, &run, &["--input", &input, "--set", "session-pool=yes"])?;
        assert_eq!(crawl.report["requestsFailed"], failed, "{}", crawl.log);
    }
    Ok(())
}
