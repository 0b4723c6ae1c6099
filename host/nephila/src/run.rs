//! `nephila run`: from the command line to a crawl, and from its report to the exit code.

use crate::cli::RunOptions;
use crate::exit::Exit;
use crate::outputs::Outputs;
use crate::report::Shown;
use crate::stores::Place;
use crate::{plugins, progress_line, resources, runs, signals};
use anyhow::{Context, Result, anyhow, bail};
use nephila_crawler::{CrawlReport, CrawlSettings, CrawlSetup, CrawlStatus, FinishReason, SETTINGS, Stopper, run as crawl};
use nephila_fetch::{AddressGuard, FetchConfig, Fetcher};
use nephila_model::{CrawlerId, NewRequest, parse_target};
use nephila_plugin::{CallSettings, HostConfig, InstancePolicy, Limits, Plugin, PluginHost};
use nephila_store::{CrawlEnding, CrawlSpec, OpenedCrawl, Store};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use url::Url;

/// What a plugin's manifest may ask for at most; beyond that only the operator can go.
const MANIFEST_MEMORY: u64 = 512 << 20;
const MANIFEST_CPU: Duration = Duration::from_secs(120);
const MANIFEST_TIME: Duration = Duration::from_secs(600);

/// Runs a crawl.
///
/// # Errors
/// Whatever is refused before the crawl begins. Then nothing has changed.
pub async fn run(options: RunOptions) -> Result<Exit> {
    let starts = options.urls.iter().map(|url| Ok(parse_target(url, None)?)).collect::<Result<Vec<Url>>>()?;
    let input = input(options.input.as_deref())?;
    let outputs = Outputs::parse(&options)?;

    // What the plugin is loaded with comes from the command line alone; what it is run with also from its manifest.
    let mut settings = CrawlSettings::default();
    apply_command_line(&mut settings, &options)?;
    let path = plugins::find(&options.plugin)?;
    let plugin = plugin_host(&settings)?.load(&path).await?;
    let mut settings = settings_of(&plugin, &options)?;
    apply_command_line(&mut settings, &options)?;
    let crawler_id = crawler_id(&options, &plugin)?;
    let fetcher = Fetcher::new(fetch_config(&settings, &starts, &options))?;
    let starts = start_requests(starts, &plugin, &settings)?;

    let place = Place::of(&options, plugin.name())?;
    outputs.check_before_job(&place).await?;
    let store = place.open(&settings)?;
    let opened = store.open_crawl(&spec(crawler_id, &plugin, &settings, &place)).await?;
    let outputs = match outputs.prepare(Arc::clone(&store), opened.record.id).await {
        Ok(outputs) => outputs,
        Err(error) => {
            leave_as_it_was(store.as_ref(), &opened).await;
            return Err(error);
        }
    };
    announce(&options, &opened, &place);
    if let Err(error) = runs::prune() {
        tracing::warn!("{error:#}");
    }

    let (stopper, stop) = Stopper::new();
    signals::listen(stopper.clone(), settings.shutdown_grace).context("signals cannot be listened to")?;
    let (progress, shown) = watch::channel(Default::default());
    let (items, written) = watch::channel(0);
    let line = progress_line::show(shown);
    let exports = outputs.start(written, stopper.clone());
    let ratio = settings.max_failed_ratio;
    let call_settings = call_settings(&settings, &input);
    let setup = CrawlSetup {
        store: Arc::clone(&store),
        opened,
        plugin: Arc::new(plugin),
        fetcher: Arc::new(fetcher),
        settings,
        call_settings,
        starts,
        stop,
        progress,
        items,
    };
    let report = crawl(setup).await;
    if let Some(line) = line {
        // It ends with the crawl; whether it could write its last line matters to nobody.
        let _ = line.await;
    }
    let exported = exports.finish().await;
    let report = report.context("the crawl has ended, but its store does not answer")?;
    if let Err(error) = store.close().await {
        tracing::warn!(%error, "the store could not be closed; nothing is lost");
    }
    show(&options, &report);
    Ok(conclude(&options, &report, ratio, exported, &place))
}

/// A plugin host for these settings.
///
/// # Errors
/// If the machine cannot run one.
pub fn plugin_host(settings: &CrawlSettings) -> Result<PluginHost> {
    let policy = match settings.plugin_reuse {
        0 | 1 => InstancePolicy::Fresh,
        calls => {
            InstancePolicy::Reuse { max_calls: calls, max_memory: usize::try_from(settings.plugin_memory).unwrap_or(usize::MAX) }
        }
    };
    let most = usize::try_from(settings.plugin_memory.max(MANIFEST_MEMORY)).unwrap_or(usize::MAX);
    let limits = Limits { memory: most, ..Limits::default() };
    let config = HostConfig { cache_dir: cache_dir(), instances: policy, limits, ..HostConfig::default() };
    Ok(PluginHost::new(config)?)
}

// Where compiled plugins are kept: the user's cache folder (XDG Base Directory Specification).
fn cache_dir() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("nephila").join("compiled"))
}

fn input(given: Option<&str>) -> Result<String> {
    let Some(given) = given else { return Ok("null".to_owned()) };
    let text = match given.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(file).with_context(|| format!("--input {given}: the file cannot be read"))?,
        None => given.to_owned(),
    };
    let value: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| anyhow!("--input is not JSON ({error}); write it like '{{\"key\": \"value\"}}', or @FILE"))?;
    Ok(value.to_string())
}

fn settings_of(plugin: &Plugin, options: &RunOptions) -> Result<CrawlSettings> {
    let mut settings = CrawlSettings::default();
    for (name, value) in &plugin.manifest().settings {
        // The manifest's values are JSON; a string stands for its text.
        let text = serde_json::from_str::<String>(value).unwrap_or_else(|_| value.clone());
        settings.set(name, &text).with_context(|| format!("the manifest of plugin {}", plugin.name()))?;
    }
    // What a plugin may spend is the operator's to say; its manifest may ask for this much at most.
    for (asked, most, name) in [
        (settings.plugin_memory > MANIFEST_MEMORY, "512MB", "plugin-memory"),
        (settings.plugin_cpu > MANIFEST_CPU, "2m", "plugin-cpu"),
        (settings.plugin_time > MANIFEST_TIME, "10m", "plugin-time"),
    ] {
        if asked && !options.settings.iter().any(|pair| pair.split('=').next() == Some(name)) {
            bail!("plugin {} asks for more {name} than {most}; if you trust it, say so with --set {name}=…", plugin.name());
        }
    }
    Ok(settings)
}

fn apply_command_line(settings: &mut CrawlSettings, options: &RunOptions) -> Result<()> {
    for pair in &options.settings {
        let Some((name, value)) = pair.split_once('=') else {
            bail!("--set {pair}: write it as KEY=VALUE, with a key of docs/settings.md");
        };
        settings.set(name.trim(), value)?;
    }
    let count = |value: Option<u64>| value.map(|value| value.to_string());
    for (name, value) in [
        ("concurrency", options.concurrency.map(|value| value.to_string())),
        ("delay", options.delay.clone()),
        ("max-items", count(options.max_items)),
        ("max-requests", count(options.max_requests)),
        ("max-depth", options.max_depth.map(|value| value.to_string())),
        ("max-time", options.max_time.clone()),
    ] {
        if let Some(value) = value {
            settings.set(name, &value)?;
        }
    }
    Ok(())
}

fn crawler_id(options: &RunOptions, plugin: &Plugin) -> Result<CrawlerId> {
    let id = options.id.as_deref().unwrap_or_else(|| plugin.name());
    CrawlerId::new(id).with_context(|| format!("--id {id}: use 1 to 128 letters, digits, dots, underscores and hyphens"))
}

fn fetch_config(settings: &CrawlSettings, starts: &[Url], options: &RunOptions) -> FetchConfig {
    let mut guard = AddressGuard::new();
    for host in starts.iter().filter_map(Url::host_str) {
        guard = guard.allow_host(host);
    }
    if options.allow_private {
        guard = guard.allow_all_private();
    }
    FetchConfig {
        user_agent: settings.user_agent.clone(),
        connect_timeout: settings.connect_timeout,
        read_timeout: settings.read_timeout,
        total_timeout: settings.request_timeout,
        max_body_bytes: usize::try_from(settings.max_body_size).unwrap_or(usize::MAX),
        guard,
        ..FetchConfig::default()
    }
}

fn start_requests(starts: Vec<Url>, plugin: &Plugin, settings: &CrawlSettings) -> Result<Vec<NewRequest>> {
    let starts = if starts.is_empty() {
        plugin
            .manifest()
            .start_urls
            .iter()
            .map(|url| parse_target(url.as_str(), None).with_context(|| format!("a start URL of plugin {}", plugin.name())))
            .collect::<Result<Vec<Url>>>()?
    } else {
        starts
    };
    if starts.is_empty() {
        bail!("plugin {} has no start URLs of its own; give one: nephila run … https://example.com/", plugin.name());
    }
    Ok(starts.into_iter().map(|url| NewRequest::get(url, settings.site_by)).collect())
}

fn spec(crawler_id: CrawlerId, plugin: &Plugin, settings: &CrawlSettings, place: &Place) -> CrawlSpec {
    CrawlSpec {
        company: place.company(),
        crawler_id,
        plugin_name: plugin.name().to_owned(),
        plugin_digest: plugin.digest().to_owned(),
        site_by: settings.site_by,
        order: settings.order,
        max_state_value: settings.max_state_value,
    }
}

fn call_settings(settings: &CrawlSettings, input: &str) -> CallSettings {
    let shown = |name: &'static str| settings.show(name).map(|value| (name.to_owned(), json_of(&value)));
    CallSettings {
        input_json: input.to_owned(),
        settings: SETTINGS.iter().filter_map(|setting| shown(setting.name)).collect::<BTreeMap<_, _>>(),
        max_depth: settings.max_depth,
        site_by: settings.site_by,
        max_retries: settings.max_retries,
        timeout: settings.request_timeout,
        max_url_length: settings.max_url_length,
        limits: Limits {
            memory: usize::try_from(settings.plugin_memory).unwrap_or(usize::MAX),
            cpu: settings.plugin_cpu,
            wall: settings.plugin_time,
            state_value_bytes: settings.max_state_value,
            query: settings.query_timeout,
            ..Limits::default()
        },
        ..CallSettings::default()
    }
}

// Numbers as numbers, `none` as null, everything else as a string.
fn json_of(value: &str) -> String {
    match value {
        "none" => "null".to_owned(),
        _ if value.parse::<f64>().is_ok_and(f64::is_finite) => value.to_owned(),
        _ => serde_json::Value::from(value).to_string(),
    }
}

// The outputs were refused, so this start never was: the crawl ends as it had ended before.
async fn leave_as_it_was(store: &dyn Store, opened: &OpenedCrawl) {
    let ending = opened.previous_ending.clone().unwrap_or_else(|| CrawlEnding {
        status: CrawlStatus::Paused.as_str().to_owned(),
        reason: "output-refused".to_owned(),
        at: opened.record.opened_at,
    });
    if !opened.unclean {
        // If this fails, the next start takes it for a crash, which costs it a delay.
        let _ = store.close_crawl(opened.record.id, &ending).await;
    }
    let _ = store.close().await;
}

fn announce(options: &RunOptions, opened: &OpenedCrawl, place: &Place) {
    let Some(folder) = place.folder() else { return };
    if let Some(before) = &opened.upgraded_from {
        eprintln!(
            "nephila: the plugin has changed since this crawl was made ({} before); it goes on with the new one",
            &before[..before.len().min(12)]
        );
    }
    if opened.fresh {
        eprintln!("nephila: crawling with {}; its state is kept in {}", options.plugin, folder.display());
    } else if opened.unclean {
        eprintln!("nephila: resuming the crawl in {}, which was cut off; nothing is lost", folder.display());
    } else {
        eprintln!("nephila: resuming the crawl in {}", folder.display());
    }
}

fn show(options: &RunOptions, report: &CrawlReport) {
    let shown = Shown::of_report(report, resources::used());
    if options.json {
        if options.outputs.iter().any(|target| target == "-") {
            eprintln!("{}", shown.json());
        } else {
            println!("{}", shown.json());
        }
    } else {
        eprint!("{}", shown.table());
    }
    if report.idle && report.reason == FinishReason::Finished {
        eprintln!("nephila: this crawl is finished; there was nothing to do");
    }
}

fn conclude(options: &RunOptions, report: &CrawlReport, ratio: f64, exported: Result<u64>, place: &Place) -> Exit {
    let resume = match (place, &options.job, &options.store) {
        (Place::Memory, ..) => "its state was in memory and is gone".to_owned(),
        (_, None, None) => "to go on, run the same command with --resume".to_owned(),
        _ => "to go on, run the same command again".to_owned(),
    };
    if let Err(error) = exported {
        eprintln!("nephila: {error:#}; {resume}");
        return Exit::Stopped;
    }
    if report.is_resumable() {
        eprintln!("nephila: {}; {resume}", report.reason);
        return Exit::Stopped;
    }
    match report.reason.status() {
        CrawlStatus::Failed => {
            eprintln!("nephila: {}; {resume}", report.reason);
            Exit::TooManyFailed
        }
        _ if report.failed_ratio() > ratio => {
            eprintln!(
                "nephila: {:.1} % of the requests failed, more than max-failed-ratio {ratio}",
                report.failed_ratio() * 100.0
            );
            Exit::TooManyFailed
        }
        _ => {
            if report.counts.failed > 0 {
                eprintln!("nephila: {} requests failed; the table above says why", report.counts.failed);
            }
            Exit::Done
        }
    }
}
