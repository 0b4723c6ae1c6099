//! `nephila check PLUGIN`: a plugin on its fixtures, without a network. Scrapy's `check` with its contracts.

use crate::cli::CheckOptions;
use crate::exit::Exit;
use crate::run::{apply_set, call_settings, settings_of};
use crate::trial_text::spent;
use crate::voice::{lines, put};
use crate::{input, plugin_host, sources};
use anyhow::{Context, Result, bail};
use nephila_crawler::CrawlSettings;
use nephila_plugin::{CallSettings, Plugin};
use nephila_trial::{Entry, Expected, Fixture, Scene, Seen};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Calls for each fixture with `--deterministic`.
const RUNS: usize = 3;

/// Checks a plugin: 0 if all fixtures hold, 1 if one does not.
///
/// # Errors
/// A plugin that cannot be loaded, no fixtures, or one that cannot be read.
pub async fn check(options: &CheckOptions) -> Result<Exit> {
    if Path::new(&options.plugin).extension().is_some_and(|ending| ending == "json") {
        bail!("{0} is a fixture; the plugin comes first: nephila check PLUGIN {0}", options.plugin);
    }
    let input = input::of(options.input.as_deref())?;
    let mut settings = CrawlSettings::default();
    apply_set(&mut settings, &options.settings)?;
    let found = sources::component(&options.plugin).await?;
    let beside = found.source.as_ref().map_or_else(|| found.file.parent(), |watched| Some(watched.source.folder.as_path()));
    if !found.file.exists() {
        // What is wrong with a plugin comes before what is wrong with its fixtures.
        plugin_host::start(&settings)?.load(&found.file).await?;
    }
    let files = fixtures(&options.fixtures, beside.unwrap_or(Path::new("")))?;
    let plugin = plugin_host::with_fuel(&settings)?.load(&found.file).await?;
    let mut settings = settings_of(&plugin, &options.settings)?;
    apply_set(&mut settings, &options.settings)?;
    let settings = call_settings(&settings, &input);

    let mut failed = 0;
    for file in &files {
        let verdict = one(options, &plugin, file, &settings).await?;
        if !verdict.problems.is_empty() {
            failed += 1;
        }
        if options.json {
            put!("{}\n", verdict.json(file));
        } else {
            put!("{}", lines(&verdict.text(file)));
        }
    }
    if !options.json {
        let held = files.len() - failed;
        put!(
            "{held} of {} {} of plugin {} hold\n",
            files.len(),
            if files.len() == 1 { "fixture" } else { "fixtures" },
            plugin.name()
        );
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::TooManyFailed })
}

/// What became of a fixture.
struct Verdict {
    entry: Entry,
    seen: Seen,
    problems: Vec<String>,
    note: Option<&'static str>,
}

async fn one(options: &CheckOptions, plugin: &Plugin, file: &Path, settings: &CallSettings) -> Result<Verdict> {
    let mut fixture = Fixture::read(file)?;
    let scene = Scene::of_fixture(&fixture, file, settings)?;
    let entry = scene.entry();
    let has = plugin.entry_points();
    let is_there = match entry {
        Entry::Handle => has.handler,
        Entry::Failure => has.failure,
        Entry::Finish => has.finish,
    };
    if !is_there {
        let (name, word) = (plugin.name(), word_of(entry));
        bail!("{}: plugin {name} has no entry point for `{word}`; take the fixture away, or give the plugin one", file.display());
    }
    let seen = scene.play(plugin).await;
    let mut problems = Vec::new();
    if options.deterministic {
        for run in 2..=RUNS {
            let again = scene.play(plugin).await;
            if again.exact != seen.exact {
                problems.push(format!("run {run} came to something else than the first:"));
                let differences = Expected::of(&seen).differences(&again);
                problems.extend(differences.iter().map(|difference| format!("  {difference}")));
                if differences.is_empty() {
                    problems.push("  the same in other words: the order of keys, unique keys, a message".to_owned());
                }
                break;
            }
        }
    }
    let mut note = None;
    if options.update {
        let now = Expected::updated(fixture.expect.as_ref(), &seen);
        let expects_error = fixture.expect.as_ref().is_some_and(|expected| expected.error.is_some());
        if seen.error.is_some() && !expects_error {
            problems.extend(Expected::default().differences(&seen).iter().map(ToString::to_string));
            problems
                .push("an error is not written down: mend it, or give the fixture \"expect\": {\"error\": {}} first".to_owned());
        } else if !problems.is_empty() {
            problems.push("it is not written down, since it is another each time".to_owned());
        } else if fixture.expect.as_ref() != Some(&now) {
            fixture.expect = Some(now);
            fixture.write(file)?;
            note = Some("updated");
        }
    } else {
        match &fixture.expect {
            Some(expected) => problems.extend(expected.differences(&seen).iter().map(ToString::to_string)),
            None => {
                problems.extend(Expected::default().differences(&seen).iter().map(ToString::to_string));
                note = Some("expects nothing; --update writes down what came of it");
            }
        }
    }
    Ok(Verdict { entry, seen, problems, note })
}

impl Verdict {
    fn text(&self, file: &Path) -> String {
        let Self { entry, seen, problems, note } = self;
        let word = if problems.is_empty() { "ok" } else { "FAILED" };
        let count = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        let items = seen.items.len() + seen.datasets.values().map(Vec::len).sum::<usize>();
        let mut text = format!(
            "{word:<6} {} ({}): {}, {}; {}{}\n",
            file.display(),
            word_of(*entry),
            count(items, "item"),
            count(seen.requests.len(), "request"),
            spent(&seen.cost),
            note.map(|note| format!("; {note}")).unwrap_or_default()
        );
        for problem in problems {
            text.push_str(&format!("       {problem}\n"));
        }
        if !problems.is_empty() {
            for frame in &seen.backtrace {
                text.push_str(&format!("       at {frame}\n"));
            }
        }
        text
    }

    fn json(&self, file: &Path) -> Value {
        let cost = &self.seen.cost;
        json!({
            "fixture": file.display().to_string(),
            "call": word_of(self.entry),
            "ok": self.problems.is_empty(),
            "problems": self.problems,
            "effects": self.seen.json(),
            "cpuMillis": cost.cpu.as_secs_f64() * 1_000.0,
            "fuel": cost.fuel,
            "memoryBytes": cost.memory_peak,
            "hostCalls": cost.host_calls,
            "logLines": cost.log_lines,
        })
    }
}

const fn word_of(entry: Entry) -> &'static str {
    match entry {
        Entry::Handle => "handle",
        Entry::Failure => "failure",
        Entry::Finish => "finish",
    }
}

/// The fixtures that are meant, in the order of their names.
fn fixtures(given: &[PathBuf], beside: &Path) -> Result<Vec<PathBuf>> {
    let default = [beside.join("fixtures")];
    let places = if given.is_empty() { &default[..] } else { given };
    let mut files = Vec::new();
    for place in places {
        if !place.is_dir() {
            if !place.exists() {
                bail!(
                    "there are no fixtures at {}; save a page with `nephila fetch URL --save {}`",
                    place.display(),
                    example(place)
                );
            }
            files.push(place.clone());
            continue;
        }
        let entries = std::fs::read_dir(place).with_context(|| format!("{} cannot be read", place.display()))?;
        let mut found: Vec<PathBuf> = entries
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| path.extension().is_some_and(|ending| ending == "json") && path.is_file())
            .collect();
        if found.is_empty() {
            bail!("{} has no fixtures (*.json); save a page with `nephila fetch URL --save {}`", place.display(), example(place));
        }
        found.sort();
        files.extend(found);
    }
    Ok(files)
}

fn example(place: &Path) -> String {
    match place.extension() {
        Some(ending) if ending == "json" => place.display().to_string(),
        _ => place.join("page.json").display().to_string(),
    }
}
