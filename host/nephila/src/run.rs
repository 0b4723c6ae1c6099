//! `nephila run`: from the command line to a crawl, and from its report to the exit code.

use crate::cli::RunOptions;
use crate::companions::Companions;
use crate::exit::{self, Exit, Interrupted};
use crate::one_page::{Reach, fetch_config};
use crate::outputs::{Outputs, Prepared};
use crate::report::Shown;
use crate::stores::Place;
use crate::voice::{note, put};
use crate::{
    happenings, input, outputs, plugin_host, progress_line, resources, runs, sessions, signals, sources, voice, watching,
};
use anyhow::{Context, Result, anyhow, bail};
use nephila_crawler::{
    CrawlReport, CrawlSettings, CrawlSetup, CrawlStatus, FinishReason, Load, StopOrder, Stopper, all_settings, note_late_steps,
    out_of_patience, run as crawl,
};
use nephila_fetch::Fetcher;
use nephila_model::{CrawlerId, NewRequest, Profile, Shard, Timestamp, parse_target};
use nephila_plugin::{CallSettings, Limits, Plugin};
use nephila_store::{CrawlEnding, CrawlSpec, InHand, LeftBehind, OpenedCrawl, Store};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use url::Url;

/// Runs a crawl.
///
/// # Errors
/// Whatever is refused before the crawl begins. Then nothing has changed.
pub async fn run(options: RunOptions, load: Load) -> Result<Exit> {
    // From the first moment: a signal during the start is a signal to stop, too.
    let (stopper, stop) = Stopper::new();
    signals::listen(stopper.clone()).context("signals cannot be listened to")?;
    let starts = options.urls.iter().map(|url| Ok(parse_target(url, None)?)).collect::<Result<Vec<Url>>>()?;
    let input = input::of(options.input.as_deref())?;
    let outputs = Outputs::parse(&options)?;

    // What the plugin is loaded with comes from the command line alone; what it is run with also from its manifest.
    let mut settings = CrawlSettings::default();
    apply_command_line(&mut settings, &options)?;
    let host = plugin_host::start(&settings)?;
    let loaded = async {
        let found = sources::component(&options.plugin).await?;
        let plugin = host.load(&found.file).await?;
        anyhow::Ok((found, plugin, Companions::load(&host, &options).await?))
    };
    let (found, plugin, companions) = tokio::select! {
        loaded = loaded => loaded?,
        () = out_of_patience(stop.clone(), Duration::ZERO) => return Err(Interrupted.into()),
    };
    if options.watch && found.source.is_none() {
        bail!("--watch is for a plugin's source, which {} is not: give its folder or its file", options.plugin);
    }
    if !plugin.entry_points().handler {
        let (name, has) = (plugin.name(), plugin.entry_points());
        let ways: Vec<&str> =
            [(has.pipeline, "--pipeline"), (has.listener, "--listener")].iter().filter(|way| way.0).map(|way| way.1).collect();
        bail!(
            "plugin {name} handles no pages; give it to a crawl of another plugin, with {} {}",
            ways.join(" or "),
            options.plugin
        );
    }
    let mut settings = settings_of(&plugin, &options.settings)?;
    apply_command_line(&mut settings, &options)?;
    if settings.min_concurrency > settings.concurrency {
        let (least, most) = (settings.min_concurrency, settings.concurrency);
        bail!("min-concurrency is {least}, and concurrency (-c) only {most}; lower the one or raise the other");
    }
    sessions::check(&settings, &plugin)?;
    let Companions { pipelines, listeners } = companions.prepare(&settings, &options, &input)?;
    let crawler_id = crawler_id(&options, &plugin)?;
    let fetcher = Fetcher::new(fetch_config(&settings, Reach::of(options.allow_private).guard(&starts)))?;
    let starts = start_requests(starts, &plugin, &settings)?;

    let place = Place::of(&options, plugin.name())?;
    if !place.exists() {
        outputs.check_new().await?;
    }
    let store = place.open(&settings)?;
    let spec = spec(crawler_id, &plugin, &settings, &place);
    // On a refusal the store is dropped, not closed: closing would fold the log of a job that was killed, and nothing may change.
    let opened = open(Arc::clone(&store), &spec, outputs, &place, stop.clone()).await;
    let (opened, outputs) = opened.map_err(|error| runs::named(error, &options, &place))?;
    announce(&options, &opened, &place);
    sessions::say_if_unused(&settings, &plugin);
    let lease = opened.leases.of(Shard::CRAWL);
    if let Err(error) = runs::prune(plugin.name()) {
        tracing::warn!("{error:#}");
    }

    let (progress, shown) = watch::channel(Default::default());
    let (items, written) = watch::channel(0);
    let line = progress_line::show(shown);
    let profile = Arc::new(Profile::default());
    let exports = outputs.start(written, stopper.clone(), Arc::clone(&profile));
    let call_settings = Arc::new(call_settings(&settings, &input));
    let settings = Arc::new(settings);
    let events = nephila_events::manager();
    let teller = tokio::spawn(happenings::tell_of_stop(events.clone(), stop.clone(), settings.migration_grace));
    let plugin = watch::Sender::new(Arc::new(plugin));
    let watching =
        found.source.filter(|_| options.watch).map(|source| tokio::spawn(watching::watch(source, host, plugin.clone())));
    let setup = CrawlSetup {
        store: Arc::clone(&store),
        opened,
        plugin: plugin.subscribe(),
        pipelines,
        listeners,
        fetcher: Arc::new(fetcher),
        settings: Arc::clone(&settings),
        call_settings,
        block_rules: Vec::new(),
        starts,
        stop: stop.clone(),
        progress,
        items,
        events: events.clone(),
        load,
        named_storages: place.named_storages(&options),
        profile,
    };
    // As a task, it is woken by the thread that a visit ends on; from this thread each landing would be a switch of threads.
    let report = tokio::spawn(crawl(setup)).await.context("the crawl fell over; this is a defect, please report it")?;
    teller.abort();
    if let Some(watching) = watching {
        watching.abort();
    }
    happenings::tell_of_exit(&events);
    if let Some(line) = line {
        // It ends with the crawl; whether it could write its last line matters to nobody.
        let _ = line.await;
    }
    let exported = tokio::select! {
        exported = exports.finish() => exported,
        // A pipe whose reader stands still must not hold a process that was told to stop.
        () = out_of_patience(stop, settings.shutdown_grace) => Err(anyhow!("the outputs are behind the dataset; run the same command again, it writes the rest")),
    };
    let mut report = match report {
        Ok(report) => report,
        Err(error) => {
            exit::refuse(&anyhow!(error).context("the crawl has ended, but its store does not answer"));
            return Ok(Exit::Stopped);
        }
    };
    if let Err(error) = note_late_steps(&*store, lease, &mut report).await {
        tracing::debug!(%error, "the profile of the last outputs was not kept");
    }
    if let Err(error) = store.close().await {
        tracing::warn!(%error, "the store could not be closed; nothing is lost");
    }
    show(&options, &report);
    Ok(conclude(&options, &report, settings.max_failed_ratio, exported, &place))
}

/// The settings that a plugin's manifest gives, but for those that `--set` says.
///
/// # Errors
/// If it asks for what it may not have.
pub fn settings_of(plugin: &Plugin, said: &[String]) -> Result<CrawlSettings> {
    let mut settings = CrawlSettings::default();
    for (name, value) in &plugin.manifest().settings {
        let text = text_of(value);
        // What the operator has said is not the manifest's any more.
        if !said.iter().any(|pair| pair.split('=').next().is_some_and(|key| key.trim() == name)) {
            settings.set_by_manifest(name, &text).with_context(|| format!("the manifest of plugin {}", plugin.name()))?;
        }
    }
    Ok(settings)
}

/// The text of a manifest's value: JSON, where a string stands for its text.
pub fn text_of(value: &str) -> String {
    serde_json::from_str::<String>(value).unwrap_or_else(|_| value.to_owned())
}

/// Sets what `--set` says.
///
/// # Errors
/// If a value does not fit.
pub fn apply_set(settings: &mut CrawlSettings, said: &[String]) -> Result<()> {
    for pair in said {
        let Some((name, value)) = pair.split_once('=') else {
            bail!("--set {pair}: write it as KEY=VALUE, with a key of docs/settings.md");
        };
        settings.set(name.trim(), value)?;
    }
    Ok(())
}

/// Sets what the operator says.
///
/// # Errors
/// If a value does not fit.
pub fn apply_command_line(settings: &mut CrawlSettings, options: &RunOptions) -> Result<()> {
    apply_set(settings, &options.settings)?;
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

/// What all calls of a plugin have in common.
pub fn call_settings(settings: &CrawlSettings, input: &str) -> CallSettings {
    let shown = |name: &'static str| settings.show(name).map(|value| (name.to_owned(), json_of(&value)));
    CallSettings {
        input_json: input.to_owned(),
        settings: all_settings().filter_map(|setting| shown(setting.name)).collect::<BTreeMap<_, _>>(),
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

// Everything that can be refused is, before anything is written.
async fn open(
    store: Arc<dyn Store>,
    spec: &CrawlSpec,
    outputs: Outputs,
    place: &Place,
    stop: watch::Receiver<StopOrder>,
) -> Result<(OpenedCrawl, Prepared)> {
    let found = store.find_crawl(spec).await?;
    outputs.check(&store, found, place).await?;
    let opened = store.open_crawl(spec).await?;
    // A named pipe waits for its reader.
    let prepared = tokio::select! {
        prepared = outputs.prepare(Arc::clone(&store), opened.record.id) => prepared,
        () = out_of_patience(stop, Duration::ZERO) => Err(Interrupted.into()),
    };
    match prepared {
        Ok(prepared) => Ok((opened, prepared)),
        Err(error) => {
            let (status, reason) = (CrawlStatus::Paused.as_str().to_owned(), "not-begun".to_owned());
            let in_hand = if opened.left == LeftBehind::Nothing { InHand::Finished } else { InHand::Dropped };
            store.close_crawl(opened.record.id, &CrawlEnding { status, reason, at: Timestamp::now(), in_hand }).await?;
            store.close().await?;
            Err(error)
        }
    }
}

fn announce(options: &RunOptions, opened: &OpenedCrawl, place: &Place) {
    let Some(folder) = place.folder() else { return };
    if let Some(before) = &opened.upgraded_from {
        note!(
            "the plugin has changed since this crawl was made ({} before); it goes on with the new one",
            &before[..before.len().min(12)]
        );
    }
    if opened.fresh {
        note!("crawling with {}; its state is kept in {}", options.plugin, folder.display());
    } else if opened.left == LeftBehind::Crash {
        note!("resuming the crawl in {}, which was cut off; nothing is lost", folder.display());
    } else {
        note!("resuming the crawl in {}", folder.display());
    }
}

fn show(options: &RunOptions, report: &CrawlReport) {
    let shown = Shown::of_report(report, resources::used());
    if options.json {
        if options.outputs.iter().any(|target| outputs::is_stdout(target)) {
            voice::say(&format!("{}\n", shown.json()));
        } else {
            put!("{}\n", shown.json());
        }
    } else {
        voice::say(&shown.table());
    }
    if report.idle && report.reason == FinishReason::Finished {
        note!("this crawl is finished; there was nothing to do");
    }
}

fn conclude(options: &RunOptions, report: &CrawlReport, ratio: f64, exported: Result<u64>, place: &Place) -> Exit {
    let resume = runs::way_on(options, place);
    let by = runs::found_by(options, place, report);
    if let Err(error) = exported {
        note!("{error:#}{by}");
        return Exit::Stopped;
    }
    if report.is_resumable() {
        match report.reason {
            // These say the way out themselves.
            FinishReason::StoreFailed(_) | FinishReason::OutputFailed(_) => note!("{}{by}", report.reason),
            _ => note!("{}; {resume}", report.reason),
        }
        return Exit::Stopped;
    }
    match report.reason.status() {
        CrawlStatus::Failed => {
            note!("{}; {resume}", report.reason);
            Exit::TooManyFailed
        }
        _ if report.failed_ratio() > ratio => {
            note!("{:.1} % of the requests failed, more than max-failed-ratio {ratio}", report.failed_ratio() * 100.0);
            Exit::TooManyFailed
        }
        _ => {
            if report.counts.failed > 0 {
                let list = place.folder().map(|folder| format!("; `nephila status {} --failed` lists them", folder.display()));
                note!("{} of the requests failed; the errors above say why{}", report.counts.failed, list.unwrap_or_default());
            }
            Exit::Done
        }
    }
}
