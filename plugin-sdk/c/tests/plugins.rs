//! Plugins in C, compiled as `nephila build` does it, and run by the real host against the real test site.
//!
//! They need what `cargo xtask build --dev` builds, and clang with a C library for WASI. Where these are not there, a test is skipped by
//! name, and fails if `CI` is set. `NEPHILA_TEST_BINARIES` and `NEPHILA_TEST_PLUGINS` name other folders with `nephila` and `nephila-site`, and
//! with `books.wasm`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};
use nephila_sdk_c::Compiler;
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

/// What a test needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// A compiler only.
    Clang,
    /// The host and the test site too.
    Host,
    /// And `books` in Rust.
    Books,
}

/// Whether all is there that a test needs; if not, that is said on both outputs.
fn can_run(test: &str, needs: Needs) -> Result<bool> {
    let missing = match missing(needs) {
        Ok(()) => return Ok(true),
        Err(missing) => missing,
    };
    // Machines of the CI have all of it, so that there it may not be left out.
    if std::env::var_os("CI").is_some() {
        return Err(missing);
    }
    let line = format!("SKIPPED: {test} ({missing:#})");
    // Not by the macros: what they print is kept back when a test passes.
    writeln!(std::io::stdout(), "{line}")?;
    writeln!(std::io::stderr(), "{line}")?;
    Ok(false)
}

fn missing(needs: Needs) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let probe = folder.path().join("probe.c");
    std::fs::write(&probe, "#include <stdio.h>\nint probe(void) { return puts(\"\"); }\n")?;
    let mut command = Command::new("clang");
    command.args(Compiler::Clang.flags()).arg("-fno-sanitize=all").args(Compiler::Clang.link_flags());
    let output = command.arg(&probe).arg("-o").arg(folder.path().join("probe.wasm")).output();
    let output =
        output.context("clang cannot be started; on Debian: apt-get install clang lld wasi-libc libclang-rt-dev-wasm32")?;
    ensure!(
        output.status.success(),
        "clang makes no WebAssembly; on Debian: apt-get install lld wasi-libc libclang-rt-dev-wasm32: {}",
        String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default()
    );
    if needs != Needs::Clang {
        binary("nephila")?;
        binary("nephila-site")?;
    }
    if needs == Needs::Books {
        books()?;
    }
    Ok(())
}

/// `books` in Rust.
fn books() -> Result<PathBuf> {
    let target = here("../../target/plugins");
    built("NEPHILA_TEST_PLUGINS", std::fs::canonicalize(&target).unwrap_or(target), "books.wasm")
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
    let (program, first) = compiler.split_first().context("no compiler")?;
    let mut command = Command::new(program);
    command.args(first).args(kind.flags()).args(kind.link_flags()).args(more).arg("-I").arg(here("nephila"));
    command.arg(here("nephila/nephila.c")).args(sources).arg("-o").arg(module);
    command.output().with_context(|| format!("`{program}` cannot be started"))
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
    if !can_run("books_in_c_gives_what_books_in_rust_gives", Needs::Books)? {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let ours = folder.path().join("books-c.wasm");
    build(&["../../plugins/books-c/books.c"], &ours)?;
    let theirs = books()?;
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
    if !can_run("what_goes_wrong_in_c_arrives_with_its_words", Needs::Host)? {
        return Ok(());
    }
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
    if !can_run("all_of_the_contract_can_be_said_in_c", Needs::Host)? {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let plugin = folder.path().join("tour.wasm");
    build(&["tests/guests/tour.c"], &plugin)?;
    let site = Site::start()?;

    let crawl = crawl(&plugin, &site, &folder.path().join("run"), &["--input", r#"{"stars":5}"#, "--set", "session-pool=yes"])?;

    // The guest compares for itself and fails with `assert`.
    assert_eq!(crawl.report["errors"], serde_json::json!([]), "{}", crawl.log);
    for words in [
        "a line of printf",
        "half a line of printf",
        "the listener heard tour #1",
        "finished with 2 items",
        "a line with data",
        "item 1 of the crawl",
        "item 2 of reviews",
    ] {
        assert!(crawl.log.contains(words), "`{words}` is not in the log:\n{}", crawl.log);
    }
    let text = r#"{"text":"caf\u{fffd} \"quoted\"\n\u{1}\u{e9}\u{1f600}","numbers":[51.77,10.0,-0.001,3.141592653589793,1e300,-9223372036854775808,0]}"#;
    let text =
        text.replace("\\u{fffd}", "\u{fffd}").replace("\\u{1}", "\\u0001").replace("\\u{e9}", "é").replace("\\u{1f600}", "😀");
    let expected: Value = serde_json::from_str(&text)?;
    assert!(crawl.items.contains(&expected.to_string()), "{:?}", crawl.items);
    // Shown at the end, with what both pages made of it.
    let store = rusqlite::Connection::open(folder.path().join("run/job/nephila.db"))?;
    let saved: Vec<u8> = store.query_row("SELECT value FROM key_values WHERE key = 'saved'", [], |row| row.get(0))?;
    assert_eq!(serde_json::from_slice::<Value>(&saved)?, serde_json::json!({ "n": 2 }));
    Ok(())
}

/// What a pipeline in C does with the items of a page, and the code and the words that the page fails with.
const REFUSALS: [(&str, &str, &str); 5] = [
    ("reject", "item-rejected", "no item may begin with `"),
    ("fatal", "asked", "it was asked for"),
    ("push", "not-in-pipeline", ""),
    ("panic", "trap", "no more of http://"),
    ("change to text", "bad-json", "not a JSON object"),
];

#[test]
fn a_pipeline_in_c_decides_about_the_items_of_another_plugin() -> Result<()> {
    if !can_run("a_pipeline_in_c_decides_about_the_items_of_another_plugin", Needs::Books)? {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let (pipeline, books) = (folder.path().join("pipeline.wasm"), books()?);
    build(&["tests/guests/pipeline.c"], &pipeline)?;
    let site = Site::start()?;
    let shallow = ["--max-depth", "1"];
    let whole = crawl(&books, &site, &folder.path().join("whole"), &shallow)?;
    let whole: Vec<Value> = whole.items.iter().map(|item| Ok(serde_json::from_str(item)?)).collect::<Result<_>>()?;
    let titles: Vec<&str> = whole.iter().filter_map(|book| book["title"].as_str()).collect();
    assert_eq!(titles.len(), 20);

    let told = ["change", "change", "drop", "drop", "drop"].into_iter().chain(REFUSALS.map(|(what, ..)| what));
    let rules: Vec<(&str, &str)> = titles.iter().copied().zip(told).collect();
    let (input, path) = (serde_json::to_string(&rules)?, pipeline.display().to_string());
    let more = [&shallow[..], &["--input", &input, "--pipeline", &path]].concat();
    let seen = crawl(&books, &site, &folder.path().join("seen"), &more)?;

    let expected = whole.iter().filter_map(|book| {
        let mut book = book.clone();
        match rules.iter().find(|(title, _)| book["title"] == *title) {
            // Each page has one item, and each page's items an instance of their own.
            Some((_, "change")) => {
                (book["seen"], book["of"]) = (1.into(), book["url"].clone());
                Some(book.to_string())
            }
            Some(_) => None,
            None => Some(book.to_string()),
        }
    });
    assert_eq!(seen.items, expected.collect::<BTreeSet<_>>(), "{}", seen.log);
    assert_eq!(seen.report["itemsDropped"], serde_json::json!({ "not wanted": 3 }), "{}", seen.report);
    assert_eq!(seen.report["requestsFailed"], REFUSALS.len(), "{}", seen.log);
    assert_eq!(seen.state.get("changed").map(String::as_str), Some("2"));
    for (what, code, words) in REFUSALS {
        let errors = seen.report["errors"].as_array().context("errors")?;
        let found = errors.iter().any(|error| error["code"] == code && error.to_string().contains(words));
        assert!(found, "{what}: no error {code} with `{words}`: {errors:?}");
    }
    Ok(())
}

#[test]
fn the_header_is_for_cpp_too_and_constructors_run() -> Result<()> {
    if !can_run("the_header_is_for_cpp_too_and_constructors_run", Needs::Host)? {
        return Ok(());
    }
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
    if !can_run("a_plugin_exports_what_its_author_wrote_and_imports_the_contract_only", Needs::Host)? {
        return Ok(());
    }
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
    for entry in ["handler", "manifest", "failure", "finish", "listener", "sessions", "pipeline"] {
        let exports = tour.lines().find(|line| line.trim_start().starts_with("exports")).unwrap_or_default();
        assert!(exports.contains(entry), "{tour}");
    }
    assert!(!tour.contains("wasi:"), "{tour}");
    let pipeline = said("tests/guests/pipeline.c")?;
    assert!(pipeline.contains("exports   manifest, pipeline\n") && !pipeline.contains("wasi:"), "{pipeline}");
    Ok(())
}

#[test]
fn a_mistake_is_told_with_its_place() -> Result<()> {
    if !can_run("a_mistake_is_told_with_its_place", Needs::Clang)? {
        return Ok(());
    }
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
