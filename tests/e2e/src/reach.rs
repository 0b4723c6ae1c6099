//! What a crawl of a web site must come to, computed another way.
//!
//! Decision: nothing of the host is used here: other redirects, other refreshes, another queue, links from a tree and not from a
//! stream. What it has in common with a crawl is the WHATWG URL, html5ever's tree and HTTP. It keeps every id and every link as
//! text, so that it is right by being simple; it is not meant for sites of more than some ten thousand pages.

use anyhow::{Context, Result, bail};
use reqwest::header::{CONTENT_TYPE, LOCATION};
use scraper::{Html, Selector};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use url::Url;

/// Redirects and refreshes that are followed one after another.
const MOST_HOPS: usize = 20;

/// Fetches at a time.
const AT_ONCE: usize = 8;

/// What is crawled: the host of the start URLs, as far as paths begin like this.
#[derive(Debug, Clone)]
pub struct Scope {
    host: String,
    paths: Vec<String>,
}

/// What is on a page of the site.
#[derive(Debug, Default, PartialEq)]
pub struct Facts {
    /// Of elements, and names of anchors.
    pub ids: BTreeSet<String>,
    /// Absolute URLs with their fragments.
    pub links: BTreeSet<String>,
}

/// What a URL leads to.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A page or a file, by the URL that answered.
    Final(String),
    /// An answer that is none.
    Status(u16),
    /// More redirects than anyone follows.
    Loop,
}

/// All that can be reached.
#[derive(Debug, Default)]
pub struct Reach {
    /// What each URL (without a fragment) leads to.
    pub answers: BTreeMap<String, Answer>,
    /// The pages of the site by the URL that answered. Files and pages out of the scope are not among them.
    pub pages: BTreeMap<String, Arc<Facts>>,
    /// Refreshes that were followed.
    pub refreshes: usize,
}

/// A link that leads nowhere: with a fragment if it is only that which is missing.
pub type Problem = String;

impl Scope {
    /// The scope of these start URLs.
    ///
    /// # Errors
    /// If there is none, or one has no host.
    pub fn of(starts: &[Url], paths: &[&str]) -> Result<Self> {
        let host = starts.first().and_then(Url::host_str).context("no start URL with a host")?;
        Ok(Self { host: host.to_owned(), paths: paths.iter().map(|path| (*path).to_owned()).collect() })
    }

    fn contains(&self, url: &Url) -> bool {
        let is_path = |start: &String| url.path().starts_with(start.as_str());
        matches!(url.scheme(), "http" | "https")
            && url.host_str() == Some(&self.host)
            && (self.paths.is_empty() || self.paths.iter().any(is_path))
    }
}

/// Follows everything.
///
/// # Errors
/// If a server cannot be asked at all.
pub async fn reach(starts: &[Url], scope: &Scope) -> Result<Reach> {
    // Fails if somebody was first, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(Duration::from_secs(60))
        .no_proxy()
        .build()
        .context("no HTTP client")?;
    let mut reach = Reach::default();
    let mut queue: Vec<(Url, bool)> = starts.iter().map(|url| (without_fragment(url), true)).collect();
    let mut known: BTreeSet<Url> = queue.iter().map(|(url, _)| url.clone()).collect();
    let mut asked = JoinSet::new();
    loop {
        while asked.len() < AT_ONCE
            && let Some((url, is_start)) = queue.pop()
        {
            let (client, scope) = (client.clone(), scope.clone());
            asked.spawn(async move { visit(&client, url, is_start, &scope).await });
        }
        let Some(visited) = asked.join_next().await else { return Ok(reach) };
        let visited = visited??;
        reach.refreshes += visited.refreshes;
        if let (Answer::Final(url), Some(facts)) = (&visited.answer, visited.facts) {
            for link in &facts.links {
                let link = without_fragment(&Url::parse(link)?);
                if scope.contains(&link) && known.insert(link.clone()) {
                    queue.push((link, false));
                }
            }
            reach.pages.entry(url.clone()).or_insert_with(|| Arc::new(facts));
        }
        reach.answers.insert(visited.asked.into(), visited.answer);
    }
}

struct Visited {
    asked: Url,
    answer: Answer,
    facts: Option<Facts>,
    refreshes: usize,
}

async fn visit(client: &reqwest::Client, asked: Url, is_start: bool, scope: &Scope) -> Result<Visited> {
    let mut url = asked.clone();
    let mut refreshes = 0;
    for _ in 0..=MOST_HOPS {
        let response = client.get(url.clone()).send().await.with_context(|| format!("asking for {url}"))?;
        let status = response.status().as_u16();
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if matches!(status, 301 | 302 | 303 | 307 | 308) && !header(LOCATION).is_empty() {
            url = without_fragment(&url.join(header(LOCATION))?);
            continue;
        }
        if !(200..300).contains(&status) {
            return Ok(Visited { asked, answer: Answer::Status(status), facts: None, refreshes });
        }
        let is_html = header(CONTENT_TYPE).starts_with("text/html");
        let body = response.bytes().await?;
        let mut facts = None;
        if is_html {
            let read = Read::of(&url, &String::from_utf8_lossy(&body));
            if let Some(target) = read.refresh {
                refreshes += 1;
                url = target;
                continue;
            }
            facts = (is_start || scope.contains(&url)).then_some(read.facts);
        }
        return Ok(Visited { asked, answer: Answer::Final(url.into()), facts, refreshes });
    }
    Ok(Visited { asked, answer: Answer::Loop, facts: None, refreshes })
}

/// What is read from an HTML text.
struct Read {
    facts: Facts,
    refresh: Option<Url>,
}

impl Read {
    fn of(url: &Url, text: &str) -> Self {
        let document = Html::parse_document(text);
        let values = |selector: &str, attribute: &'static str| -> Vec<String> {
            let Ok(selector) = Selector::parse(selector) else { return Vec::new() };
            document.select(&selector).filter_map(|element| element.attr(attribute).map(str::to_owned)).collect()
        };
        let base = values("base[href]", "href").first().and_then(|href| url.join(href).ok()).unwrap_or_else(|| url.clone());
        let refresh = values(r#"meta[http-equiv="refresh" i]"#, "content");
        let refresh = refresh.first().and_then(|content| refresh_target(content)).and_then(|target| base.join(target).ok());
        let links = values("a[href], area[href]", "href");
        let links = links.iter().filter_map(|href| base.join(href).ok()).filter(|link| matches!(link.scheme(), "http" | "https"));
        Self {
            facts: Facts {
                ids: values("[id]", "id").into_iter().chain(values("a[name]", "name")).collect(),
                links: links.map(String::from).collect(),
            },
            refresh: refresh.map(|target| without_fragment(&target)).filter(|target| target != url),
        }
    }
}

/// The URL of `0; URL=there`.
fn refresh_target(content: &str) -> Option<&str> {
    let (_, rest) = content.split_once([';', ','])?;
    let rest = rest.trim();
    let is_named = rest.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("url="));
    Some(if is_named { &rest[4..] } else { rest }.trim_matches([' ', '\'', '"']))
}

fn without_fragment(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_fragment(None);
    url
}

impl Reach {
    /// All URLs that answered in the end.
    #[must_use]
    pub fn finals(&self) -> BTreeSet<String> {
        let last = |answer: &Answer| if let Answer::Final(url) = answer { Some(url.clone()) } else { None };
        self.answers.values().filter_map(last).collect()
    }

    /// Links that lead nowhere, each with all pages that hold it. `is_excluded` tells which fragments are not looked for.
    ///
    /// # Errors
    /// If there is a link into the scope that was not followed, which would be a mistake of this program.
    pub fn problems(&self, scope: &Scope, is_excluded: impl Fn(&str) -> bool) -> Result<BTreeMap<Problem, BTreeSet<String>>> {
        let mut problems: BTreeMap<Problem, BTreeSet<String>> = BTreeMap::new();
        for (page, facts) in &self.pages {
            for link in &facts.links {
                let link = Url::parse(link)?;
                let target = String::from(without_fragment(&link));
                if !scope.contains(&link) && &target != page {
                    continue;
                }
                let end = match self.answers.get(&target) {
                    Some(Answer::Final(end)) => end,
                    // Every page was asked for by some name; its own may not have been.
                    None if self.pages.contains_key(&target) => &target,
                    None => bail!("{target} was not followed, which is on {page}"),
                    Some(Answer::Status(_) | Answer::Loop) => {
                        problems.entry(target).or_default().insert(page.clone());
                        continue;
                    }
                };
                let Some(fragment) = link.fragment() else { continue };
                if !is_excluded(fragment) && !self.has(end, fragment) {
                    problems.entry(format!("{target}#{fragment}")).or_default().insert(page.clone());
                }
            }
        }
        Ok(problems)
    }

    fn has(&self, page: &str, fragment: &str) -> bool {
        let fragment = fragment.split(":~:").next().unwrap_or_default();
        // A file, or a page of another site, has no ids that anyone knows.
        let Some(facts) = self.pages.get(page) else { return true };
        fragment.is_empty()
            || fragment.eq_ignore_ascii_case("top")
            || facts.ids.contains(fragment)
            || facts.ids.contains(&decoded(fragment))
    }
}

/// By the parser of forms, which decodes `%XX`; it takes `+` for a blank, which is put back before.
fn decoded(fragment: &str) -> String {
    let shielded = fragment.replace('+', "%2B").replace('&', "%26").replace('=', "%3D");
    url::form_urlencoded::parse(shielded.as_bytes()).next().map(|(name, _)| name.into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Read, decoded, refresh_target};
    use url::Url;

    #[test]
    fn refreshes_are_read() {
        for content in ["0;URL=../x.html", "0; url='../x.html'", "0,../x.html"] {
            assert_eq!(refresh_target(content), Some("../x.html"), "{content}");
        }
        assert_eq!(refresh_target("30"), None);
    }

    #[test]
    fn ids_and_links_are_read() {
        let url = Url::parse("http://a.example/x/y").expect("a URL");
        let read =
            Read::of(&url, "<base href=/z/><p id=one><a name=two href='b#c'>x</a><map><area href=d></map><a href='mailto:x@y'>");
        assert_eq!(read.facts.ids.into_iter().collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(read.facts.links.into_iter().collect::<Vec<_>>(), ["http://a.example/z/b#c", "http://a.example/z/d"]);
        assert!(read.refresh.is_none());
    }

    #[test]
    fn fragments_are_decoded_once() {
        assert_eq!(decoded("a+b=c&d%20%C3%BC%2520"), "a+b=c&d ü%20");
    }
}
