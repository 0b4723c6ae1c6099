//! What is refused before the crawl begins changes nothing, and says the way out.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod common;

use common::{FakeRows, Place, prepare, read, start, target};
use nephila_output::{Existing, Exporter, OutputError, Target, check_new};
use std::fs;
use std::os::unix::fs::symlink;

#[tokio::test]
async fn a_file_with_content_is_refused_and_untouched() {
    let (rows, place) = (FakeRows::with(&["{}"]), Place::new());
    fs::write(place.items(), "mine").unwrap();
    let refused = prepare(&rows, &place.items(), Existing::Refuse).await.unwrap_err();
    assert!(matches!(refused, OutputError::Exists { .. }) && !refused.is_resumable_stop());
    let said = refused.to_string();
    assert!(said.contains("--append") && said.contains("--overwrite"), "{said}");
    assert_eq!(read(&place.items()), "mine");
    assert!(rows.cursors().is_empty());
}

#[tokio::test]
async fn an_empty_file_is_taken() {
    let (rows, place) = (FakeRows::with(&["{}"]), Place::new());
    fs::write(place.items(), "").unwrap();
    start(&rows, &place.items(), Existing::Refuse).await.unwrap();
    assert_eq!(read(&place.items()), "{}\n");
}

#[tokio::test]
async fn append_goes_on_a_line_of_its_own_and_overwrite_begins_anew() {
    for (existing, before, after) in [
        (Existing::Append, "a\n", "a\n{}\n"),
        (Existing::Append, "a", "a\n{}\n"),
        (Existing::Append, "", "{}\n"),
        (Existing::Overwrite, "a", "{}\n"),
    ] {
        let (rows, place) = (FakeRows::with(&["{}"]), Place::new());
        fs::write(place.items(), before).unwrap();
        start(&rows, &place.items(), existing).await.unwrap();
        assert_eq!(read(&place.items()), after);
        start(&rows, &place.items(), existing).await.unwrap();
        assert_eq!(read(&place.items()), after, "a second start of the same job adds nothing");
    }
}

#[tokio::test]
async fn a_file_that_another_crawl_writes_is_refused() {
    let (rows, place) = (FakeRows::default(), Place::new());
    let first = prepare(&rows, &place.items(), Existing::Refuse).await.unwrap();
    for existing in [Existing::Refuse, Existing::Append, Existing::Overwrite] {
        let refused = prepare(&FakeRows::default(), &place.items(), existing).await.unwrap_err();
        assert!(matches!(refused, OutputError::InUse { .. }), "{refused}");
    }
    drop(first);
    prepare(&FakeRows::default(), &place.items(), Existing::Refuse).await.unwrap();
}

#[tokio::test]
async fn the_same_output_twice_is_refused() {
    let place = Place::new();
    let twice = [place.items(), place.path("./items.jsonl")].map(|path| target(&path));
    let refused = Exporter::prepare(FakeRows::default(), &twice, Existing::Refuse).await.unwrap_err();
    assert!(matches!(refused, OutputError::Twice { .. }), "{refused}");
    assert!(!place.items().exists());

    let refused = Exporter::prepare(FakeRows::default(), &[Target::Stdout, Target::Stdout], Existing::Refuse).await.unwrap_err();
    assert!(matches!(refused, OutputError::Twice { .. }), "{refused}");
}

#[tokio::test]
async fn two_names_of_one_file_are_refused_by_its_lock_and_nothing_stays_behind() {
    let (rows, place) = (FakeRows::default(), Place::new());
    let other = place.path("other.jsonl");
    symlink(place.items(), &other).unwrap();
    let both = [target(&place.items()), target(&other)];

    let refused = Exporter::prepare(rows.clone(), &both, Existing::Refuse).await.unwrap_err();
    assert!(matches!(refused, OutputError::InUse { .. }), "{refused}");
    assert!(!place.items().exists(), "what was made for the first is taken back");
    assert!(rows.cursors().is_empty());

    fs::write(place.items(), "").unwrap();
    let refused = Exporter::prepare(rows, &both, Existing::Refuse).await.unwrap_err();
    assert!(matches!(refused, OutputError::InUse { .. }), "{refused}");
    assert!(place.items().exists());
}

#[tokio::test]
async fn a_link_is_followed() {
    let (rows, place) = (FakeRows::with(&["{}"]), Place::new());
    symlink("real.jsonl", place.items()).unwrap();
    start(&rows, &place.items(), Existing::Refuse).await.unwrap();
    rows.push("{}");
    start(&rows, &place.items(), Existing::Refuse).await.unwrap();
    assert_eq!(read(&place.path("real.jsonl")), "{}\n{}\n");
    assert!(place.items().is_symlink());
}

#[tokio::test]
async fn one_refused_output_leaves_the_others_untouched() {
    let (rows, place) = (FakeRows::with(&["{}"]), Place::new());
    let (old, new) = (place.path("old.jsonl"), place.path("new.jsonl"));
    fs::write(&old, "old").unwrap();
    let targets = [target(&old), target(&new), target(&place.path("missing/items.jsonl"))];
    let refused = Exporter::prepare(rows.clone(), &targets, Existing::Overwrite).await.unwrap_err();
    assert!(matches!(refused, OutputError::NoFolder { .. }), "{refused}");
    assert!(refused.to_string().contains("missing does not exist"), "{refused}");
    assert_eq!(read(&old), "old");
    assert!(!new.exists() && rows.cursors().is_empty());
}

#[tokio::test]
async fn a_folder_is_refused() {
    let place = Place::new();
    fs::create_dir(place.items()).unwrap();
    assert!(matches!(Target::parse(place.items().to_str().unwrap()), Err(OutputError::Folder { .. })));
    let late = Target::File(place.items());
    let refused = Exporter::prepare(FakeRows::default(), &[late], Existing::Overwrite).await.unwrap_err();
    assert!(matches!(refused, OutputError::Folder { .. }), "{refused}");
}

/// Nobody can make a file in /sys, not even root.
#[tokio::test]
async fn a_folder_that_cannot_be_written_is_refused() {
    let refused = prepare(&FakeRows::default(), "/sys/nephila-test.jsonl".as_ref(), Existing::Refuse).await.unwrap_err();
    assert!(matches!(refused, OutputError::Unusable { action: "make", .. }) && !refused.is_resumable_stop(), "{refused}");
}

#[tokio::test]
async fn a_new_job_s_outputs_are_checked_without_a_job() {
    let place = Place::new();
    check_new(&[target(&place.items())], Existing::Refuse).await.unwrap();
    assert!(!place.items().exists());
    std::fs::write(place.items(), "mine\n").unwrap();
    let refused = check_new(&[target(&place.items())], Existing::Refuse).await.unwrap_err();
    assert!(matches!(refused, OutputError::Exists { .. }), "{refused}");
    check_new(&[target(&place.items())], Existing::Append).await.unwrap();
    assert_eq!(read(&place.items()), "mine\n");
}
