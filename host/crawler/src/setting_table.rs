//! The settings by name: what each is called, what it takes, and how a text becomes a value.
//!
//! Decision: one list ([`all`]), in files by theme. An entry is data with two functions, so that nothing can be set that cannot be shown,
//! and docs/settings.md is tested against it.

use crate::settings::CrawlSettings;
use crate::units::duration;
use std::time::Duration;

/// A setting as people know it.
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// Its unit, and what values it takes.
    pub takes: &'static str,
    /// What it does.
    pub about: &'static str,
    pub(crate) set: fn(&mut CrawlSettings, &str) -> Result<(), String>,
    pub(crate) show: fn(&CrawlSettings) -> String,
}

fn number<T: std::str::FromStr>(value: &str) -> Result<T, String> {
    value.parse().map_err(|_| "is not such a number".to_owned())
}

fn positive(value: &str) -> Result<usize, String> {
    match number(value)? {
        0 => Err("is too small".to_owned()),
        n if n > 65_536 => Err("is more than 65,536".to_owned()),
        n => Ok(n),
    }
}

fn limit(value: &str) -> Result<Option<u64>, String> {
    match unless_none(value, number)? {
        Some(0) => Err("would end the crawl before its first page; leave it out for no limit".to_owned()),
        limit => Ok(limit),
    }
}

fn some_time(value: &str) -> Result<Duration, String> {
    match duration(value)? {
        Duration::ZERO => Err("leaves no time".to_owned()),
        time => Ok(time),
    }
}

fn unless_none<T>(value: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    if value == "none" { Ok(None) } else { parse(value).map(Some) }
}

fn optional<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

fn shown(duration: Duration) -> String {
    format!("{}", duration.as_secs_f64())
}

const POSITIVE: &str = "a whole number from 1 to 65,536";
const TIME: &str = "seconds, or a number with ms, s, m, h or d";
const SIZE: &str = "bytes, or a number with KB, MB or GB (powers of 1,024)";
const COUNT: &str = "a whole number, or none";
const COUNT_FROM_ONE: &str = "a whole number from 1, or none";

macro_rules! setting {
    ($name:literal, $takes:expr, $about:literal, |$s:ident, $v:ident| $set:expr, |$r:ident| $show:expr) => {
        Setting {
            name: $name,
            takes: $takes,
            about: $about,
            set: |$s, $v| {
                $set;
                Ok(())
            },
            show: |$r| $show,
        }
    };
}

mod crawl;
mod fetch;
mod plugin;
mod sessions;

/// Every setting, in the order of docs/settings.md.
pub fn all() -> impl Iterator<Item = &'static Setting> {
    [crawl::TABLE, fetch::TABLE, plugin::TABLE, sessions::TABLE].into_iter().flatten()
}
