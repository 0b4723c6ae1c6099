//! A new project of each language builds with the real tools, and is not built twice.
//!
//! A language whose tools are not here is skipped by name; where `CI` is set, that is a failure. The tools are looked for where
//! `nephila build` looks: `NEPHILA_TOOLS` may say where.

use anyhow::{Context, Result, ensure};
use nephila_build::{BuildError, Builder, Built, Folders, Freshness, Language, Missing, Source, component, scaffold};
use std::fs;
use std::io::Write;
use std::path::Path;

struct Bench {
    place: tempfile::TempDir,
    builder: Builder,
}

impl Bench {
    fn new() -> Result<Self> {
        let place = tempfile::tempdir()?;
        let folders = Folders { cache: place.path().join("cache"), ..Folders::of_user()? };
        Ok(Self { builder: Builder::new(folders, Missing::Say), place })
    }

    /// Makes and builds; none where the tools are missing.
    fn project(&self, language: Language) -> Result<Option<(Source, Built)>> {
        let project = match scaffold::create(self.place.path(), "quotes", language) {
            Err(BuildError::Program { cause, .. }) if cause.contains("has no SDK") => return skip(language, &cause),
            project => project?,
        };
        let source = Source::find(&project.folder)?;
        match self.builder.cached(&source, || {}) {
            Err(error @ BuildError::NoToolchain { .. }) => skip(language, &error.to_string()),
            Err(error) => Err(error).context("building"),
            Ok(built) => Ok(Some((source, built))),
        }
    }

    fn again(&self, source: &Source) -> Result<Built> {
        Ok(self.builder.cached(source, || {})?)
    }
}

fn skip<T>(language: Language, why: &str) -> Result<Option<T>> {
    ensure!(std::env::var_os("CI").is_none(), "{language}: {why}");
    let line = format!("SKIPPED: {language} ({why})");
    // Not by the macros: what they print is kept back when a test passes.
    writeln!(std::io::stdout(), "{line}")?;
    writeln!(std::io::stderr(), "{line}")?;
    Ok(None)
}

fn add(file: &Path, text: &str) -> Result<()> {
    Ok(fs::write(file, fs::read_to_string(file)? + text)?)
}

fn is_built_once(language: Language, main: &str) -> Result<()> {
    let bench = Bench::new()?;
    let Some((source, built)) = bench.project(language)? else { return Ok(()) };
    assert_eq!(built.freshness, Freshness::Built);
    assert!(built.component.ends_with("quotes.wasm"));
    let exports = component::surface(&fs::read(&built.component)?)?.exports;
    for interface in ["nephila:crawler/handler@", "nephila:crawler/manifest@"] {
        assert!(exports.iter().any(|export| export.starts_with(interface)), "{interface} in {exports:?}");
    }
    let again = bench.again(&source)?;
    assert_eq!((again.freshness, &again.component), (Freshness::Cached, &built.component));

    // A comment more is another source.
    let file = source.folder.join(main);
    add(&file, if language == Language::Python { "\n# More.\n" } else { "\n// More.\n" })?;
    assert_eq!(bench.again(&source)?.freshness, Freshness::Built);

    // And a mistake is said with its place, in the author's own file.
    add(&file, if language == Language::Python { "\ndef wrong(:\n" } else { "\n} wrong\n" })?;
    let refused = bench.builder.cached(&source, || {}).err();
    let Some(BuildError::Fault(fault)) = &refused else { anyhow::bail!("no fault: {refused:?}") };
    assert!(fault.file.as_deref().is_some_and(|named| named.ends_with(main)), "{fault:?}");
    assert!(fault.line.is_some() && fault.column.is_some() && fault.snippet.is_some(), "{fault:?}");
    Ok(())
}

#[test]
fn rust() -> Result<()> {
    is_built_once(Language::Rust, "src/lib.rs")
}

#[test]
fn javascript() -> Result<()> {
    is_built_once(Language::JavaScript, "crawler.js")
}

#[test]
fn typescript() -> Result<()> {
    is_built_once(Language::TypeScript, "crawler.ts")
}

#[test]
fn python() -> Result<()> {
    is_built_once(Language::Python, "crawler.py")
}

#[test]
fn c() -> Result<()> {
    is_built_once(Language::C, "crawler.c")
}

/// A single file is built with what it imports: a change of that is a change of it.
#[test]
fn a_single_file_and_what_it_imports() -> Result<()> {
    let bench = Bench::new()?;
    let Some((source, _)) = bench.project(Language::JavaScript)? else { return Ok(()) };
    let alone = bench.place.path().join("alone");
    fs::create_dir(&alone)?;
    for name in ["crawler.js", "quote.js"] {
        fs::copy(source.folder.join(name), alone.join(name))?;
    }
    let single = Source::find(&alone.join("crawler.js"))?;
    bench.again(&single)?;
    assert_eq!(bench.again(&single)?.freshness, Freshness::Cached);
    fs::write(alone.join("notes.js"), "what nothing imports")?;
    assert_eq!(bench.again(&single)?.freshness, Freshness::Cached);
    add(&alone.join("quote.js"), "// More.\n")?;
    assert_eq!(bench.again(&single)?.freshness, Freshness::Built);
    Ok(())
}
