//! What the identity of a request costs: `cargo bench -p nephila-model`. Every link of every page pays for it.

#![allow(clippy::expect_used, reason = "a benchmark ends with the first thing that is wrong")]

use divan::{Bencher, black_box};
use nephila_model::{Method, SiteBy, SiteKey, UniqueKey};
use url::Url;

fn main() {
    divan::main();
}

const PLAIN: &str = "https://shop.example.co.uk/catalogue/category/books/a-long-title-of-a-book_1042/index.html";
const SORTED: &str = "https://shop.example.co.uk/catalogue/search?category=books&page=2&sort=price";
const UNSORTED: &str = "https://shop.example.co.uk/catalogue/search?sort=price&page=2&category=books#results";

#[divan::bench(args = [PLAIN, SORTED, UNSORTED])]
fn key(bencher: Bencher<'_, '_>, url: &str) {
    let url = Url::parse(url).expect("a URL");
    bencher.bench(|| UniqueKey::of(black_box(&url), Method::Get, None));
}

#[divan::bench]
fn key_as_text(bencher: Bencher<'_, '_>) {
    let key = UniqueKey::explicit("a");
    bencher.bench(|| black_box(key).to_string());
}

#[divan::bench(args = [SiteBy::Hostname, SiteBy::Domain])]
fn site(bencher: Bencher<'_, '_>, by: SiteBy) {
    let url = Url::parse(PLAIN).expect("a URL");
    bencher.bench(|| SiteKey::of(black_box(&url), by));
}
