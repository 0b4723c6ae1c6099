//! A folder of real files, as a plain web server would serve it.
//!
//! HTML goes out without a charset in its header: the recorded pages served here declare their own, and a header would win
//! over it. Every file is read anew, since tests change files while the site runs. A name is resolved by the system and must
//! then still be inside the folder, which refuses traversal and symbolic links that lead out with one rule.

use crate::error::SiteError;
use crate::percent::percent_decode;
use crate::prepared::Prepared;
use std::path::{Path, PathBuf};

/// The folder that is served.
pub(crate) struct Folder {
    /// Without symbolic links, so that it can be compared with.
    root: PathBuf,
}

pub(crate) enum FileAnswer {
    File(Prepared),
    /// A folder that was asked for without its slash.
    NeedsSlash,
    Missing,
}

impl Folder {
    pub fn open(path: &Path) -> Result<Self, SiteError> {
        let failed = |source| SiteError::Folder { path: path.to_owned(), source };
        let root = path.canonicalize().map_err(failed)?;
        std::fs::read_dir(&root).map_err(failed)?;
        Ok(Self { root })
    }

    /// What is at the path of a URL; blocks on the disk.
    pub fn look(&self, url_path: &str) -> FileAnswer {
        self.resolve(url_path).unwrap_or(FileAnswer::Missing)
    }

    fn resolve(&self, url_path: &str) -> Option<FileAnswer> {
        let (names, wants_folder) = names(url_path)?;
        let mut path = self.inside(&names.iter().fold(self.root.clone(), |path, name| path.join(name)))?;
        if path.is_dir() {
            if !wants_folder {
                return Some(FileAnswer::NeedsSlash);
            }
            path = self.inside(&path.join("index.html"))?;
        } else if wants_folder {
            return None;
        }
        // Not a pipe or a device, which might never end.
        if !path.is_file() {
            return None;
        }
        // The type follows the name that was asked for, not the one that a link leads to.
        let name = if wants_folder { "index.html" } else { names.last()?.as_str() };
        Some(FileAnswer::File(Prepared::raw(std::fs::read(&path).ok()?, content_type(name))))
    }

    fn inside(&self, path: &Path) -> Option<PathBuf> {
        path.canonicalize().ok().filter(|path| path.starts_with(&self.root))
    }
}

/// The decoded names of a path, and whether it ends with a slash; `None` for names that no file has.
fn names(url_path: &str) -> Option<(Vec<String>, bool)> {
    let path = url_path.strip_prefix('/')?;
    let (path, wants_folder) = match path.strip_suffix('/') {
        Some(path) => (path, true),
        None => (path, path.is_empty()),
    };
    if path.is_empty() {
        // `//` is not `/`.
        return (url_path == "/").then(|| (Vec::new(), true));
    }
    let names: Option<Vec<String>> = path.split('/').map(name).collect();
    Some((names?, wants_folder))
}

fn name(encoded: &str) -> Option<String> {
    let name = percent_decode(encoded)?;
    let is_name = !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0']);
    is_name.then_some(name)
}

fn content_type(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    match extension.as_str() {
        "html" | "htm" => "text/html",
        "xhtml" => "application/xhtml+xml",
        "css" => "text/css",
        "js" | "mjs" => "text/javascript",
        "json" | "map" => "application/json",
        "jsonl" | "ndjson" => "application/x-ndjson",
        "webmanifest" => "application/manifest+json",
        "xml" => "application/xml",
        "rss" => "application/rss+xml",
        "atom" => "application/atom+xml",
        "txt" | "md" => "text/plain; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "ico" => "image/x-icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "otf" => "font/otf",
        "mp3" => "audio/mpeg",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        "pdf" => "application/pdf",
        "wasm" => "application/wasm",
        "gz" => "application/gzip",
        "zip" => "application/zip",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn names_that_lead_elsewhere_are_no_names() {
        for path in ["/..", "/a/../b", "/%2e%2e/b", "/a%2fb", "/a%5cb", "/a%00", "//", "//a", "/a//b", "/./a", "a"] {
            assert!(names(path).is_none(), "{path}");
        }
        assert_eq!(names("/"), Some((vec![], true)));
        assert_eq!(names("/a/b%20c/"), Some((vec!["a".to_owned(), "b c".to_owned()], true)));
    }
}
