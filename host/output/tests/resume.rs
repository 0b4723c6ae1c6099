//! Kill -9 at any byte: the next start completes the file without a line twice or broken, and never cuts what is not ours.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod common;

use common::{FakeRows, Place, prepare, read, start};
use nephila_output::{Existing, OutputError};
use std::fs;
use std::path::Path;

const FIRST: [&str; 3] = [r#"{"n":1}"#, r#"{"n":2,"t":"ü"}"#, "{}"];
const SECOND: [&str; 4] = [r#"{"n":4}"#, r#"{"n":4}"#, r#"{"n":6,"deep":{"x":[1,2]}}"#, r#"{"n":7}"#];

fn lines(items: &[&str]) -> String {
    items.iter().map(|item| format!("{item}\n")).collect()
}

/// Commits the second rows, lets the process die after it has written them, and cuts the file to every length that it may have had.
/// Each is completed exactly, also when the process dies a second time further on.
async fn dies_at_every_byte(rows: &FakeRows, path: &Path, existing: Existing) {
    let before = fs::read(path).unwrap();
    let cursors = rows.cursors();
    SECOND.iter().for_each(|item| rows.push(item));
    rows.die();
    assert!(start(rows, path, existing).await.is_err());
    let whole = fs::read(path).unwrap();
    assert!(whole.starts_with(&before) && whole.len() > before.len());

    for length in before.len()..=whole.len() {
        for second in (length..=whole.len()).step_by(7) {
            rows.revive(&cursors);
            fs::write(path, &whole[..length]).unwrap();
            let mut again = prepare(rows, path, existing).await.unwrap();
            rows.die();
            assert!(again.drain().await.is_err());
            drop(again);
            fs::write(path, &whole[..second]).unwrap();

            rows.revive(&cursors);
            start(rows, path, existing).await.unwrap();
            assert_eq!(fs::read(path).unwrap(), whole, "died at byte {length}, then at {second}");
        }
    }
    assert_eq!(start(rows, path, existing).await.unwrap(), 0, "nothing is left to write");
    assert_eq!(fs::read(path).unwrap(), whole);
}

#[tokio::test]
async fn a_crash_in_the_first_batch_is_completed() {
    let (rows, place) = (FakeRows::default(), Place::new());
    start(&rows, &place.items(), Existing::Refuse).await.unwrap();
    dies_at_every_byte(&rows, &place.items(), Existing::Refuse).await;
    assert_eq!(read(&place.items()), lines(&SECOND));
}

#[tokio::test]
async fn a_crash_in_a_later_batch_is_completed() {
    let (rows, place) = (FakeRows::with(&FIRST), Place::new());
    start(&rows, &place.items(), Existing::Refuse).await.unwrap();
    dies_at_every_byte(&rows, &place.items(), Existing::Refuse).await;
    assert_eq!(read(&place.items()), lines(&FIRST) + &lines(&SECOND));
}

#[tokio::test]
async fn a_crash_behind_content_that_is_kept_is_completed() {
    for (kept, between) in [("{\"old\":1}\n", ""), ("{\"old\":1}", "\n")] {
        let (rows, place) = (FakeRows::default(), Place::new());
        fs::write(place.items(), kept).unwrap();
        start(&rows, &place.items(), Existing::Append).await.unwrap();
        assert_eq!(read(&place.items()), kept, "without rows nothing is written");
        dies_at_every_byte(&rows, &place.items(), Existing::Append).await;
        assert_eq!(read(&place.items()), format!("{kept}{between}{}", lines(&SECOND)));
    }
}

#[tokio::test]
async fn a_crash_after_overwriting_never_empties_the_file_again() {
    let (rows, place) = (FakeRows::with(&FIRST), Place::new());
    fs::write(place.items(), "something else\n").unwrap();
    start(&rows, &place.items(), Existing::Overwrite).await.unwrap();
    assert_eq!(read(&place.items()), lines(&FIRST));
    dies_at_every_byte(&rows, &place.items(), Existing::Overwrite).await;
    assert_eq!(read(&place.items()), lines(&FIRST) + &lines(&SECOND));
}

#[tokio::test]
async fn a_store_that_lost_many_cursors_finds_its_place_over_several_batches() {
    let (rows, place) = (FakeRows::default(), Place::new());
    drop(prepare(&rows, &place.items(), Existing::Refuse).await.unwrap());
    let cursors = rows.cursors();
    (0..5_000).for_each(|n| rows.push(&format!("{{\"n\":{n}}}")));
    start(&rows, &place.items(), Existing::Refuse).await.unwrap();
    let whole = read(&place.items());
    assert_eq!(whole.lines().count(), 5_000);
    assert!(rows.puts() > 5, "a batch is at most a thousand rows");

    for length in [whole.len() - 4, whole.len() / 2, 1] {
        rows.revive(&cursors);
        fs::write(place.items(), &whole[..length]).unwrap();
        start(&rows, &place.items(), Existing::Refuse).await.unwrap();
        assert!(read(&place.items()) == whole, "cut at {length}");
    }
}

#[tokio::test]
async fn rows_that_are_long_make_short_batches() {
    let (rows, place) = (FakeRows::default(), Place::new());
    let text = "x".repeat(3 << 20);
    (0..4).for_each(|n| rows.push(&format!("{{\"n\":{n},\"t\":\"{text}\"}}")));
    assert_eq!(start(&rows, &place.items(), Existing::Refuse).await.unwrap(), 4);
    assert_eq!(rows.puts(), 1 + 4, "one at the beginning, and one for each row");
    let written: Vec<_> = read(&place.items()).lines().map(|line| line[..6].to_owned()).collect();
    assert_eq!(written, ["{\"n\":0", "{\"n\":1", "{\"n\":2", "{\"n\":3"]);
}

/// Starts a job, changes its file, and sees that the next start refuses it and leaves it as it is.
async fn refused_after(change: impl Fn(&str) -> String, difference: &str) {
    for existing in [Existing::Refuse, Existing::Append, Existing::Overwrite] {
        let (rows, place) = (FakeRows::with(&FIRST), Place::new());
        start(&rows, &place.items(), existing).await.unwrap();
        let (changed, cursors) = (change(&read(&place.items())), rows.cursors());
        fs::write(place.items(), &changed).unwrap();
        SECOND.iter().for_each(|item| rows.push(item));

        let refused = prepare(&rows, &place.items(), existing).await.unwrap_err();

        assert!(matches!(refused, OutputError::Changed { .. }) && !refused.is_resumable_stop(), "{refused}");
        let said = refused.to_string();
        assert!(said.contains(difference) && said.contains("byte 28") && said.contains("use another -o"), "{said}");
        assert_eq!((read(&place.items()), rows.cursors()), (changed, cursors));
    }
}

#[tokio::test]
async fn content_behind_the_offset_that_is_not_ours_is_refused_and_untouched() {
    let next = lines(&SECOND);
    for cut in [0, 1, 7, 8, next.len()] {
        refused_after(|ours| format!("{ours}{}#", &next[..cut]), "not ours after").await;
    }
    refused_after(|ours| format!("{ours}{next}{{\"n\":8}}\n"), "not ours after").await;
    refused_after(|ours| format!("{ours}\n"), "not ours after").await;
    refused_after(|ours| format!("{ours}\0\0\0"), "not ours after").await;
}

#[tokio::test]
async fn content_before_the_offset_that_was_changed_is_refused_and_untouched() {
    refused_after(|ours| ours.replacen('1', "9", 1), "other content before").await;
    refused_after(|ours| ours.replace("{}\n", "[]\n"), "other content before").await;
}

#[tokio::test]
async fn a_file_that_became_shorter_is_refused_and_untouched() {
    refused_after(|ours| ours[..ours.len() - 1].to_owned(), "ends before").await;
    refused_after(|_| String::new(), "ends before").await;
}

#[tokio::test]
async fn a_file_that_is_gone_is_refused_until_it_is_to_be_written_again() {
    let (rows, place) = (FakeRows::with(&FIRST), Place::new());
    start(&rows, &place.items(), Existing::Refuse).await.unwrap();
    fs::remove_file(place.items()).unwrap();

    for existing in [Existing::Refuse, Existing::Append] {
        let refused = prepare(&rows, &place.items(), existing).await.unwrap_err();
        assert!(matches!(refused, OutputError::Gone { offset: 28, .. }), "{refused}");
        assert!(!place.items().exists());
    }

    start(&rows, &place.items(), Existing::Overwrite).await.unwrap();
    assert_eq!(read(&place.items()), lines(&FIRST));
}

#[tokio::test]
async fn a_file_without_rows_that_is_gone_is_made_again() {
    let (rows, place) = (FakeRows::default(), Place::new());
    start(&rows, &place.items(), Existing::Refuse).await.unwrap();
    assert_eq!(read(&place.items()), "");
    fs::remove_file(place.items()).unwrap();
    FIRST.iter().for_each(|item| rows.push(item));
    start(&rows, &place.items(), Existing::Refuse).await.unwrap();
    assert_eq!(read(&place.items()), lines(&FIRST));
}
