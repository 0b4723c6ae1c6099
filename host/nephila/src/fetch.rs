//! `nephila fetch URL`: what the host sees of a page, and how a page becomes a fixture.

use crate::cli::FetchOptions;
use crate::exit::{self, Exit};
use crate::one_page::{self, Reach};
use crate::run::apply_set;
use crate::voice::{lines, put};
use anyhow::{Context, Result, bail};
use nephila_crawler::CrawlSettings;
use nephila_model::{HopKind, Page, parse_target};
use nephila_trial::{Fixture, Request, files};
use serde_json::json;
use std::path::Path;
use url::Url;

/// Header fields that mean something for a saved page: of the others some say who asked.
const KEPT: [&str; 5] = ["content-type", "content-language", "last-modified", "link", "x-robots-tag"];

/// Fetches a page, shows it, and saves it if that is asked for.
///
/// # Errors
/// Wrong usage, or a file that is in the way.
pub async fn fetch(options: &FetchOptions) -> Result<Exit> {
    let url = parse_target(&options.url, None)?;
    let mut settings = CrawlSettings::default();
    apply_set(&mut settings, &options.settings)?;
    if let Some(file) = &options.save {
        check_place(file, options.overwrite)?;
    }
    let page = match one_page::fetch(&url, &settings, Reach::of(options.allow_private)).await {
        Ok(page) => page,
        Err(error) => {
            exit::refuse(&error);
            return Ok(Exit::TooManyFailed);
        }
    };
    if options.json {
        put!("{}\n", as_json(&url, &page));
    } else {
        put!("{}", lines(&as_text(&page)));
    }
    if let Some(file) = &options.save {
        save(&url, &page, file, options.overwrite)?;
        put!(
            "saved as {}; `nephila check PLUGIN {} --update` writes down what a plugin makes of it\n",
            file.display(),
            file.display()
        );
    }
    Ok(Exit::Done)
}

fn check_place(file: &Path, overwrite: bool) -> Result<()> {
    if file.extension().is_none_or(|ending| ending != "json") {
        bail!("--save {}: a fixture is a file .json; the page goes beside it, under the same name", file.display());
    }
    refuse_existing(file, overwrite)
}

// A link that leads to nothing is something, too.
fn refuse_existing(file: &Path, overwrite: bool) -> Result<()> {
    if !overwrite && std::fs::symlink_metadata(file).is_ok() {
        bail!("--save: {} exists; give another name, or --overwrite", file.display());
    }
    Ok(())
}

fn save(asked: &Url, page: &Page, file: &Path, overwrite: bool) -> Result<()> {
    let ending = match page.content_type.as_ref().map(|content_type| content_type.essence.as_str()) {
        Some("text/html" | "application/xhtml+xml") => "html",
        // The fixture itself has the ending .json.
        Some(essence) if essence.ends_with("json") => "data",
        Some(essence) if essence.ends_with("xml") => "xml",
        Some(essence) if essence.starts_with("text/") => "txt",
        _ => "bin",
    };
    let beside = file.with_extension(ending);
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    refuse_existing(&beside, overwrite)?;
    files::write(&beside, &page.body)?;
    let kept = page.headers.iter().filter(|header| KEPT.contains(&header.name.as_str()));
    // Of a fixture that is there only what the page says is new.
    let before = if overwrite { Fixture::read(file).unwrap_or_default() } else { Fixture::default() };
    let request = Request { url: (*asked != page.url).then(|| asked.to_string()), ..before.request };
    let fixture = Fixture {
        url: page.url.to_string(),
        page: beside.file_name().map(Into::into),
        status: (page.status != 200).then_some(page.status),
        headers: kept.map(|header| (header.name.clone(), header.value.clone())).collect(),
        request,
        ..before
    };
    Ok(fixture.write(file)?)
}

fn kind_of(kind: HopKind) -> &'static str {
    match kind {
        HopKind::HttpRedirect => "redirect",
        HopKind::MetaRefresh => "meta refresh",
    }
}

fn as_text(page: &Page) -> String {
    let mut text = String::new();
    for hop in &page.chain {
        text.push_str(&format!("{} {} ({})\n", hop.status, hop.url, kind_of(hop.kind)));
    }
    text.push_str(&format!("{} {}\n", page.status, page.url));
    for header in &page.headers {
        text.push_str(&format!("  {}: {}\n", header.name, header.value));
    }
    let essence = page.content_type.as_ref().map_or("unknown", |content_type| content_type.essence.as_str());
    text.push_str(&format!(
        "read as {essence}, {}, {} bytes in {} ms\n",
        page.charset.unwrap_or("not text"),
        page.body.len(),
        page.timings.total.as_millis()
    ));
    text
}

fn as_json(asked: &Url, page: &Page) -> serde_json::Value {
    let headers: Vec<[&str; 2]> = page.headers.iter().map(|header| [header.name.as_str(), header.value.as_str()]).collect();
    let chain: Vec<serde_json::Value> = page
        .chain
        .iter()
        .map(|hop| json!({ "url": hop.url.as_str(), "status": hop.status, "kind": kind_of(hop.kind) }))
        .collect();
    json!({
        "url": asked.as_str(),
        "loadedUrl": page.url.as_str(),
        "status": page.status,
        "headers": headers,
        "contentType": page.content_type.as_ref().map(|content_type| content_type.essence.as_str()),
        "charset": page.charset,
        "bodyBytes": page.body.len(),
        "redirects": chain,
        "firstByteMillis": u64::try_from(page.timings.first_byte.as_millis()).unwrap_or(u64::MAX),
        "totalMillis": u64::try_from(page.timings.total.as_millis()).unwrap_or(u64::MAX),
    })
}
