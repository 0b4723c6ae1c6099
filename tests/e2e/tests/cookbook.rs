//! The recipes of docs/cookbook.md, as they stand there: each is taken out, run by the command below it, and its items are
//! compared with what the practice site says.
//!
//! A language whose tools are not here is skipped by name, as is one whose SDK is not in the program; where `CI` is set, that is
//! a failure. `NEPHILA_TOOLS` says where tools are that `nephila build --install` would otherwise put into the user's folder.

use anyhow::{Context, Result, bail, ensure};
use nephila_e2e::{Crawl, Ended, lines};
use nephila_site::{Quote, Running, Site, SiteConfig, Switches, authors, downloads, orders, quotes};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

const RECIPES: [&str; 9] = ["login", "search", "pages", "endless", "api", "files", "tally", "events", "visitors"];
/// Those that are short in C.
const IN_C: [&str; 2] = ["pages", "tally"];
/// Where the commands of the page expect the site.
const SITE: &str = "http://127.0.0.1:8000";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    JavaScript,
    Python,
    Rust,
    C,
}

impl Language {
    const ALL: [Self; 4] = [Self::JavaScript, Self::Python, Self::Rust, Self::C];

    fn ending(self) -> &'static str {
        match self {
            Self::JavaScript => "js",
            Self::Python => "py",
            Self::Rust => "rs",
            Self::C => "c",
        }
    }

    fn recipes(self) -> &'static [&'static str] {
        if self == Self::C { &IN_C } else { &RECIPES }
    }
}

/// What the page holds: the blocks of code by the names that the comments above them say.
struct Cookbook {
    recipes: BTreeMap<String, String>,
    runs: BTreeMap<String, String>,
}

impl Cookbook {
    fn open() -> Result<Self> {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cookbook.md");
        let text = fs::read_to_string(&page).with_context(|| format!("reading {}", page.display()))?;
        let mut book = Self { recipes: BTreeMap::new(), runs: BTreeMap::new() };
        let mut rest = text.lines();
        while let Some(line) = rest.next() {
            let Some(comment) = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->")) else { continue };
            let (kind, name) = comment.split_once(": ").with_context(|| format!("no `kind: name` in {line}"))?;
            ensure!(rest.next().is_some_and(|fence| fence.starts_with("```")), "no code follows {line}");
            let block: String = rest.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
            let blocks = match kind {
                "recipe" => &mut book.recipes,
                "run" => &mut book.runs,
                _ => bail!("what is {line}?"),
            };
            ensure!(blocks.insert(name.to_owned(), block).is_none(), "{line} is there twice");
        }
        Ok(book)
    }

    /// The commands that run a recipe, each as its words, with the source and the site put in.
    fn commands(&self, recipe: &str, source: &str, site: &Running) -> Result<Vec<Vec<String>>> {
        let block = self.runs.get(recipe).with_context(|| format!("no command runs {recipe}"))?;
        let site = site.url();
        let of_here = |word: String| match word.strip_prefix(SITE) {
            Some(path) => format!("{}{path}", site.trim_end_matches('/')),
            None if word == format!("{recipe}.js") => source.to_owned(),
            None => word,
        };
        let command = |line: &str| {
            let mut words = words(line).into_iter();
            ensure!(words.next().as_deref() == Some("nephila"), "not a command of nephila: {line}");
            Ok(words.map(of_here).collect())
        };
        block.lines().map(command).collect()
    }
}

/// The words of a command; single quotes keep one together.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Where recipes are saved, all beside each other as a reader would, and what they were built to. It outlives the test, so that
/// only what has changed is built at the next time: nine components with a whole Python in each take minutes.
fn kitchen() -> Result<PathBuf> {
    let kitchen = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cookbook");
    fs::create_dir_all(&kitchen).with_context(|| format!("making {}", kitchen.display()))?;
    Ok(kitchen)
}

fn nephila(folder: &Path, arguments: &[String]) -> Result<Ended> {
    let crawl = Crawl::new(folder, arguments).env("XDG_CACHE_HOME", &kitchen()?.join("cache").display().to_string());
    tokio::task::block_in_place(|| crawl.run())
}

/// Whether a refusal is one of a machine that lacks something; said on both outputs, since the macros' words are kept back.
fn is_skipped(language: Language, ended: &Ended) -> Result<bool> {
    let lacks = ["looked for it in", "has no SDK for it"].iter().any(|words| ended.stderr.contains(words));
    if ended.code != Some(2) || !lacks {
        return Ok(false);
    }
    ensure!(std::env::var_os("CI").is_none(), "{language:?}: {}", ended.stderr);
    let line = format!("SKIPPED: the cookbook in {language:?} ({})", ended.stderr.lines().next().unwrap_or_default());
    writeln!(std::io::stdout(), "{line}")?;
    writeln!(std::io::stderr(), "{line}")?;
    Ok(true)
}

/// Cooks all recipes of a language.
async fn cook(language: Language) -> Result<()> {
    let (book, kitchen, table) = (Cookbook::open()?, kitchen()?, tempfile::tempdir()?);
    let table = table.path();
    if language == Language::Rust {
        // One project for all of them, so that what they are built on is built once.
        let made = nephila(table, &["new", "project", "--lang", "rust"].map(str::to_owned))?;
        if is_skipped(language, &made)? {
            return Ok(());
        }
        made.expect_code(0)?;
    }
    for recipe in language.recipes() {
        let folder = table.join(recipe);
        fs::create_dir(&folder)?;
        let name = format!("{recipe}.{}", language.ending());
        let code = book.recipes.get(&name).with_context(|| format!("no recipe {name}"))?;
        let (file, source) = match language {
            Language::Rust => (table.join("project/src/lib.rs"), table.join("project")),
            _ => (kitchen.join(&name), kitchen.join(&name)),
        };
        fs::write(file, code)?;
        let source = source.to_str().context("a path that is no text")?;
        let site = site(recipe).await?;
        for command in book.commands(recipe, source, &site)? {
            let reports = command.first().is_some_and(|word| word == "run");
            let command = if reports { [command, vec!["--json".to_owned()]].concat() } else { command };
            let ended = nephila(&folder, &command)?;
            if is_skipped(language, &ended)? {
                return Ok(());
            }
            let ended = ended.expect_code(0).with_context(|| name.clone())?;
            if reports {
                assert_eq!(ended.json()?["requestsFailed"], 0, "{name}: {}", ended.stderr);
            }
        }
        let items = lines(&folder.join(format!("{recipe}.jsonl")))?;
        let items = items.iter().map(|line| Ok(serde_json::from_str(line)?)).collect::<Result<Vec<Value>>>()?;
        taste(recipe, language, &items, &site, &folder).with_context(|| name.clone())?;
        site.stop().await;
    }
    Ok(())
}

async fn site(recipe: &str) -> Result<Running> {
    let switches = match recipe {
        "visitors" => Switches { visitors: true, block_every: Some(7), soft_blocks: true, ..Switches::default() },
        _ => Switches::default(),
    };
    Ok(Site::start(SiteConfig::practice().with(switches)).await?)
}

/// Compares what a recipe came to with what the site says.
fn taste(recipe: &str, language: Language, items: &[Value], site: &Running, folder: &Path) -> Result<()> {
    let url = |path: &str| format!("{}{path}", site.url().trim_end_matches('/'));
    match recipe {
        "login" => {
            let order = |order: &nephila_site::Order| {
                let url = url(&format!("/account/orders/{}", order.number));
                json!({ "url": url, "title": order.title, "total": order.total() })
            };
            same(items, orders(1).iter().map(order))
        }
        "search" | "pages" | "endless" => same(items, quotes(1).iter().map(|quote| json!(quote))),
        "api" => {
            let author = |a: nephila_site::Author| json!({ "rank": a.id, "name": a.name, "born": a.born, "quotes": a.quotes });
            same(items, authors(1).into_iter().map(author))
        }
        "files" => {
            let mut told = Vec::new();
            for file in downloads(1) {
                let kept = folder.join("storage/key_value_stores/files").join(&file.name);
                ensure!(fs::read(&kept)? == file.body, "{} is another file", kept.display());
                let kind = file.content_type.split(';').next();
                let url = url(&format!("/files/{}", file.name));
                told.push(json!({ "url": url, "key": file.name, "type": kind, "bytes": file.body.len() }));
            }
            same(items, told)
        }
        "tally" => {
            let [item] = items else { bail!("{} items instead of one", items.len()) };
            let counts: BTreeMap<_, _> = authors(1).into_iter().map(|author| (author.name, author.quotes)).collect();
            assert_eq!(item["authors"], json!(counts));
            // C counts bytes, and the others characters.
            let length = |text: &str| if language == Language::C { text.len() } else { text.chars().count() };
            let longest = item["longest"].as_str().map(length);
            assert_eq!(longest, quotes(1).iter().map(|quote| length(&quote.text)).max());
            Ok(())
        }
        "events" => {
            let known = quotes(1);
            let is_of = |item: &Value, quote: &Quote| item["author"] == *quote.author && item["first"] == *quote.text;
            ensure!(items.iter().all(|item| known.iter().any(|quote| is_of(item, quote))), "{items:?}");
            same(items.iter().map(|item| &item["author"]), authors(1).into_iter().map(|author| json!(author.name)))
        }
        "visitors" => visits(items, site, url),
        _ => bail!("nobody knows what {recipe} is to come to"),
    }
}

/// Each page once; each session is one visitor all the time, has counted its own pages, and was gone for good after a block.
fn visits(items: &[Value], site: &Running, url: impl Fn(&str) -> String) -> Result<()> {
    same(items.iter().map(|item| &item["url"]), (1..=20).map(|number| json!(url(&format!("/visitors/{number}")))))?;
    let mut by_session: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for item in items {
        by_session.entry(item["session"].to_string()).or_default().push(item);
    }
    let mut seen = BTreeSet::new();
    for (session, items) in &by_session {
        let visitors: BTreeSet<_> = items.iter().map(|item| item["visitor"].to_string()).collect();
        ensure!(visitors.len() == 1 && visitors.iter().all(|visitor| seen.insert(visitor.clone())), "{session}: {visitors:?}");
        let pages: BTreeSet<_> = items.iter().filter_map(|item| item["pages"].as_u64()).collect();
        ensure!(pages == (1..=items.len() as u64).collect(), "{session} counted {pages:?}");
    }
    let gate = site.gate();
    ensure!(gate.blocked > 0 && gate.came_again == 0, "{gate:?}");
    Ok(())
}

/// The same values, in any order.
fn same<'v>(found: impl IntoIterator<Item = &'v Value>, expected: impl IntoIterator<Item = Value>) -> Result<()> {
    let mut found: Vec<String> = found.into_iter().map(Value::to_string).collect();
    let mut expected: Vec<String> = expected.into_iter().map(|value| value.to_string()).collect();
    found.sort();
    expected.sort();
    ensure!(found == expected, "found {found:#?}\ninstead of {expected:#?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_is_refused_has_its_code_and_one_that_is_not_outlives_a_stop() -> Result<()> {
    let (book, folder) = (Cookbook::open()?, tempfile::tempdir()?);
    fs::write(folder.path().join("login.js"), &book.recipes["login.js"])?;
    let site = site("login").await?;
    let command = book.commands("login", "login.js", &site)?.remove(0);
    let run = |password: &str, more: &[&str]| {
        let mut command: Vec<String> = command.iter().map(|word| word.replace("practice", password)).collect();
        command.extend(["--json"].iter().chain(more).map(|word| (*word).to_owned()));
        nephila(folder.path(), &command)
    };

    let refused = run("guessed", &["--store", "memory:"])?;
    if is_skipped(Language::JavaScript, &refused)? {
        return Ok(());
    }
    let report = refused.expect_code(0)?.json()?;
    assert_eq!((&report["requestsFailed"], &report["items"]), (&json!(1), &json!(0)));
    assert!(report["errors"].to_string().contains("login-refused"), "{report}");

    // Stopped within the orders; what goes on asks for them as the visitor who logged in.
    site.reset();
    run("practice", &["--job", "job", "--overwrite", "--max-requests", "5"])?.expect_code(0)?;
    let report = run("practice", &["--job", "job"])?.expect_code(0)?.json()?;
    assert_eq!((&report["requestsFailed"], &report["items"]), (&json!(0), &json!(orders(1).len())));
    assert_eq!(site.stats().by_url["/login"], 2, "the form and what it sends, once each");
    Ok(())
}

#[test]
fn each_recipe_is_there_in_each_language_with_its_command() -> Result<()> {
    let book = Cookbook::open()?;
    let names = |language: Language| language.recipes().iter().map(move |recipe| format!("{recipe}.{}", language.ending()));
    assert_eq!(book.recipes.keys().cloned().collect::<BTreeSet<_>>(), Language::ALL.into_iter().flat_map(names).collect());
    assert_eq!(book.runs.keys().map(String::as_str).collect::<BTreeSet<_>>(), BTreeSet::from(RECIPES));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn javascript() -> Result<()> {
    cook(Language::JavaScript).await
}

#[tokio::test(flavor = "multi_thread")]
async fn python() -> Result<()> {
    cook(Language::Python).await
}

#[tokio::test(flavor = "multi_thread")]
async fn rust() -> Result<()> {
    cook(Language::Rust).await
}

#[tokio::test(flavor = "multi_thread")]
async fn c() -> Result<()> {
    cook(Language::C).await
}
