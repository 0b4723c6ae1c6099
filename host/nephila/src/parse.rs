//! `nephila parse URL --plugin P` (Scrapy's `parse`): one page through a plugin, shown and not kept.

use crate::cli::ParseOptions;
use crate::exit::{self, Exit};
use crate::one_page::{self, Reach};
use crate::run::{apply_set, call_settings, settings_of};
use crate::trial_text::{cost, shown};
use crate::voice::{lines, note, put};
use crate::{input, plugin_host, sources};
use anyhow::{Result, anyhow, bail};
use nephila_crawler::{CrawlSettings, Sessions};
use nephila_model::{RequestSpec, parse_target};
use nephila_trial::{Scene, Session, queued};

/// Fetches a page, lets the plugin handle it, and shows what came of it.
///
/// # Errors
/// Wrong usage, or a plugin that cannot be loaded.
pub async fn parse(options: &ParseOptions) -> Result<Exit> {
    let url = parse_target(&options.url, None)?;
    let input = input::of(options.input.as_deref())?;
    let user_data = options.user_data.as_deref().map(json).transpose()?;
    let mut settings = CrawlSettings::default();
    apply_set(&mut settings, &options.settings)?;
    let plugin = plugin_host::start(&settings)?.load(&sources::component(&options.plugin).await?.file).await?;
    if !plugin.entry_points().handler {
        bail!("plugin {} handles no pages", plugin.name());
    }
    let mut settings = settings_of(&plugin, &options.settings)?;
    apply_set(&mut settings, &options.settings)?;

    let page = match one_page::fetch(&url, &settings, Reach::of(options.allow_private)).await {
        Ok(page) => page,
        Err(error) => {
            exit::refuse(&error);
            return Ok(Exit::TooManyFailed);
        }
    };
    if !RequestSpec::default().accepts(page.status) {
        let code = page.status;
        note!("{} answered with status {code}: a crawl fails it with the code `status` and does not call the handler", page.url);
        return Ok(Exit::TooManyFailed);
    }
    let (status, loaded) = (page.status, page.url.clone());
    let mut request = queued(url, settings.site_by);
    request.label.clone_from(&options.label);
    request.spec = RequestSpec { user_data, ..request.spec };
    request.chain.clone_from(&page.chain);
    let session = (settings.sessions.used == Sessions::Used).then(Session::default);
    let seen = Scene::of_page(request, page, session.as_ref(), call_settings(&settings, &input)).play(&plugin).await;
    if options.json {
        put!("{}\n", seen.text());
    } else {
        put!("{}", lines(&format!("{status} {loaded}\n{}{}", shown(&seen), cost(&seen.cost))));
    }
    Ok(if seen.error.is_some() { Exit::TooManyFailed } else { Exit::Done })
}

fn json(given: &str) -> Result<String> {
    let value: serde_json::Value = serde_json::from_str(given)
        .map_err(|error| anyhow!("--user-data is not JSON ({error}); write it like '{{\"page\": 2}}'"))?;
    Ok(value.to_string())
}
