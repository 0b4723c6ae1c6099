//! The folder of files, over the wire.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod common;

use common::{get, send};
use nephila_site::{Running, Site, SiteConfig};
use std::fs;
use tempfile::TempDir;

/// `outer/secret.txt` is beside the served `outer/www`.
async fn folder() -> (TempDir, Running) {
    let outer = TempDir::new().unwrap();
    let www = outer.path().join("www");
    fs::create_dir_all(www.join("sub dir")).unwrap();
    fs::create_dir_all(www.join("empty")).unwrap();
    fs::write(outer.path().join("secret.txt"), "secret").unwrap();
    fs::write(www.join("index.html"), "<h1>home</h1>").unwrap();
    fs::write(www.join("sub dir/index.html"), "<h1>sub</h1>").unwrap();
    fs::write(www.join("café.txt"), "coffee").unwrap();
    for name in ["a.css", "a.js", "a.svg", "a.png", "a.woff2", "a.json", "a.JPG", "a"] {
        fs::write(www.join(name), name).unwrap();
    }
    let site = Site::start(SiteConfig::files(www)).await.unwrap();
    (outer, site)
}

#[tokio::test]
async fn files_have_their_types_and_folders_their_index() {
    let (_outer, site) = folder().await;
    for (path, kind) in [
        ("/", "text/html"),
        ("/index.html", "text/html"),
        ("/sub%20dir/", "text/html"),
        ("/caf%C3%A9.txt", "text/plain; charset=utf-8"),
        ("/a.css?v=1", "text/css"),
        ("/a.js", "text/javascript"),
        ("/a.svg", "image/svg+xml"),
        ("/a.png", "image/png"),
        ("/a.woff2", "font/woff2"),
        ("/a.json", "application/json"),
        ("/a.JPG", "image/jpeg"),
        ("/a", "application/octet-stream"),
    ] {
        let reply = get(&site, path).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, kind), "{path}");
    }
    let moved = get(&site, "/sub%20dir?q=1").await;
    assert_eq!((moved.status, moved.header("location")), (301, "/sub%20dir/?q=1"));
    for missing in ["/none", "/empty/", "/a.css/"] {
        assert_eq!(get(&site, missing).await.status, 404, "{missing}");
    }
}

#[tokio::test]
async fn head_has_no_body_and_other_methods_are_refused() {
    let (_outer, site) = folder().await;
    let head = send(&site, "HEAD", "x", "/", "").await;
    assert_eq!((head.status, head.header("content-length"), head.body.len()), (200, "13", 0));
    let post = send(&site, "POST", "x", "/", "Content-Length: 0\r\n").await;
    assert_eq!((post.status, post.header("allow")), (405, "GET, HEAD"));
}

#[tokio::test]
async fn nothing_outside_the_folder_is_served() {
    let (_outer, site) = folder().await;
    for path in [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/sub%20dir/../../secret.txt",
        "/sub%20dir/..%5c..%5csecret.txt",
        "//etc/passwd",
        "/%2fetc/passwd",
    ] {
        let reply = get(&site, path).await;
        assert_eq!(reply.status, 404, "{path}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn symbolic_links_work_inside_and_not_outside() {
    let (outer, site) = folder().await;
    let www = outer.path().join("www");
    std::os::unix::fs::symlink(outer.path().join("secret.txt"), www.join("out.txt")).unwrap();
    std::os::unix::fs::symlink(outer.path(), www.join("up")).unwrap();
    std::os::unix::fs::symlink(www.join("a.css"), www.join("in.txt")).unwrap();
    assert_eq!(get(&site, "/out.txt").await.status, 404);
    assert_eq!(get(&site, "/up/secret.txt").await.status, 404);
    assert_eq!(get(&site, "/in.txt").await.text(), "a.css");
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_an_error_with_its_name() {
    let error = Site::start(SiteConfig::files("/no/such/folder")).await.err().unwrap();
    assert!(error.to_string().contains("/no/such/folder"));
}
