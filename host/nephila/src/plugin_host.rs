//! The host of plugins, as the settings and the environment want it.

use anyhow::{Result, bail};
use nephila_crawler::{CrawlSettings, MANIFEST_MEMORY};
use nephila_plugin::{HostConfig, InstancePolicy, Limits, Metering, PluginHost};
use std::path::PathBuf;

/// The variable that says how large the folder of compiled plugins may grow.
const CACHE_SIZE: &str = "NEPHILA_CACHE_MBYTES";

/// Starts it.
///
/// # Errors
/// If the machine cannot run one, or a variable is not understood.
pub fn start(settings: &CrawlSettings) -> Result<PluginHost> {
    Ok(PluginHost::new(config(settings)?)?)
}

/// Starts one that counts fuel, for a call at a time.
///
/// # Errors
/// As [`start`].
pub fn with_fuel(settings: &CrawlSettings) -> Result<PluginHost> {
    Ok(PluginHost::new(HostConfig { metering: Metering::Fuel, pool: false, ..config(settings)? })?)
}

fn config(settings: &CrawlSettings) -> Result<HostConfig> {
    let bytes = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
    let instances = match settings.plugin_reuse {
        0 | 1 => InstancePolicy::Fresh,
        calls => InstancePolicy::Reuse { max_calls: calls, max_memory: bytes(settings.plugin_reuse_memory) },
    };
    let limits = Limits { memory: bytes(settings.plugin_memory.max(MANIFEST_MEMORY)), ..Limits::default() };
    let mut config = HostConfig { cache_dir: cache_dir(), instances, limits, ..HostConfig::default() };
    if let Some(size) = std::env::var_os(CACHE_SIZE) {
        config.cache_bytes = cache_bytes(&size.to_string_lossy())?;
        if config.cache_bytes == 0 {
            config.cache_dir = None;
        }
    }
    Ok(config)
}

// Where compiled plugins are kept: the user's cache folder (XDG Base Directory Specification).
fn cache_dir() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("nephila").join("compiled"))
}

fn cache_bytes(size: &str) -> Result<u64> {
    match size.trim().parse::<u64>().ok().and_then(|megabytes| megabytes.checked_mul(1 << 20)) {
        Some(bytes) => Ok(bytes),
        None => bail!("{CACHE_SIZE}={size}: it takes a whole number of megabytes; 0 keeps no compiled plugins"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_the_cache_is_a_whole_number_of_megabytes() {
        assert_eq!((cache_bytes("0").ok(), cache_bytes(" 2048 ").ok()), (Some(0), Some(2 << 30)));
        for bad in ["", "-1", "1.5", "2GB", "99999999999999999"] {
            let error = cache_bytes(bad).expect_err(bad).to_string();
            assert!(error.contains(CACHE_SIZE) && error.contains("megabytes"), "{error}");
        }
    }
}
