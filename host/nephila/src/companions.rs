//! `--pipeline` and `--listener`: plugins that look at the items of another one's crawl, or hear its events.
//!
//! Decision: what such a plugin's manifest says about the crawl (its pace, its start URLs) means nothing here, since the crawl is not its own; what
//! it says about itself (memory, time) does, so that its limits do not depend on whose crawl it is.

use crate::cli::RunOptions;
use crate::run::{apply_command_line, call_settings, settings_of};
use crate::{plugins, sources};
use anyhow::{Result, bail};
use nephila_crawler::{Companion, CrawlSettings};
use nephila_plugin::{EntryPoints, Plugin, PluginHost};
use std::sync::Arc;

/// All of them, each list in the operator's order.
pub struct Companions<T> {
    /// What was given with `--pipeline`.
    pub pipelines: Vec<T>,
    /// What was given with `--listener`.
    pub listeners: Vec<T>,
}

impl Companions<Plugin> {
    /// Loads them.
    ///
    /// # Errors
    /// If one is not there, cannot be loaded, or does not have the entry point.
    pub async fn load(host: &PluginHost, options: &RunOptions) -> Result<Self> {
        Ok(Self {
            pipelines: load(host, &options.pipelines, "pipeline", |has| has.pipeline).await?,
            listeners: load(host, &options.listeners, "listener", |has| has.listener).await?,
        })
    }

    /// What they are called with: the crawl's settings and input, and their own limits.
    ///
    /// # Errors
    /// If one's manifest asks for what it may not have.
    pub fn prepare(self, crawl: &CrawlSettings, options: &RunOptions, input: &str) -> Result<Companions<Companion>> {
        let prepare = |loaded: Vec<Plugin>| {
            loaded.into_iter().map(|plugin| prepared(plugin, crawl, options, input)).collect::<Result<Vec<Companion>>>()
        };
        Ok(Companions { pipelines: prepare(self.pipelines)?, listeners: prepare(self.listeners)? })
    }
}

async fn load(host: &PluginHost, given: &[String], entry_point: &str, has: fn(EntryPoints) -> bool) -> Result<Vec<Plugin>> {
    let mut loaded = Vec::new();
    for given in given {
        let plugin = host.load(&sources::component(given).await?.file).await?;
        if !has(plugin.entry_points()) {
            let (name, exports) = (plugin.name(), plugins::entry_points(&plugin).join(", "));
            bail!(
                "--{entry_point} {given}: plugin {name} has no {entry_point}; it exports {exports} (`nephila inspect {given}` shows it)"
            );
        }
        loaded.push(plugin);
    }
    Ok(loaded)
}

fn prepared(plugin: Plugin, crawl: &CrawlSettings, options: &RunOptions, input: &str) -> Result<Companion> {
    let mut own = settings_of(&plugin, &options.settings)?;
    apply_command_line(&mut own, options)?;
    let settings = CrawlSettings {
        plugin_memory: own.plugin_memory,
        plugin_cpu: own.plugin_cpu,
        plugin_time: own.plugin_time,
        query_timeout: own.query_timeout,
        ..crawl.clone()
    };
    Ok(Companion { plugin: Arc::new(plugin), call_settings: Arc::new(call_settings(&settings, input)) })
}
