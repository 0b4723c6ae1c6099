//! Outputs beside a crawl: pipes and files, what stops them, and the end.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod common;

use common::{FakeRows, Place, prepare, read, start, target};
use nephila_output::{Existing, Exporter, OutputError, Target};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Command;
use std::thread;
use tokio::sync::{oneshot, watch};

fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[tokio::test]
async fn rows_of_a_pipe_carry_their_ids_and_the_cursor_goes_on() {
    let (rows, place) = (FakeRows::with(&[r#"{"n":1}"#]), Place::new());
    let fifo = place.path("rows");
    make_fifo(&fifo);
    let reads = |fifo: &Path| {
        let fifo = fifo.to_owned();
        thread::spawn(move || fs::read_to_string(fifo).unwrap())
    };

    let reader = reads(&fifo);
    start(&rows, &fifo, Existing::Refuse).await.unwrap();
    assert_eq!(reader.join().unwrap(), format!("{{\"_id\":\"{:032x}\",\"n\":1}}\n", 1));

    rows.push("{}");
    let reader = reads(&fifo);
    start(&rows, &fifo, Existing::Refuse).await.unwrap();
    assert_eq!(reader.join().unwrap(), format!("{{\"_id\":\"{:032x}\"}}\n", 2));
}

#[tokio::test]
async fn a_pipe_whose_cursor_was_lost_is_sent_the_same_rows_with_the_same_ids() {
    let (rows, place) = (FakeRows::with(&["{}"]), Place::new());
    let fifo = place.path("rows");
    make_fifo(&fifo);
    let mut seen = Vec::new();
    rows.die();
    for _ in 0..2 {
        let path = fifo.clone();
        let reader = thread::spawn(move || fs::read_to_string(path).unwrap());
        assert!(matches!(start(&rows, &fifo, Existing::Refuse).await, Err(OutputError::Store(_))));
        seen.push(reader.join().unwrap());
    }
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test]
async fn a_reader_that_goes_is_a_stop_that_can_be_resumed() {
    let (rows, place) = (FakeRows::default(), Place::new());
    let (fifo, file) = (place.path("rows"), place.items());
    make_fifo(&fifo);
    let path = fifo.clone();
    let reader = thread::spawn(move || File::open(path).unwrap());
    let mut exporter = Exporter::prepare(rows.clone(), &[target(&fifo), target(&file)], Existing::Refuse).await.unwrap();
    drop(reader.join().unwrap());
    rows.push("{}");

    let stop = exporter.drain().await.unwrap_err();

    assert!(matches!(stop, OutputError::ReaderGone { .. }) && stop.is_resumable_stop(), "{stop}");
    assert!(stop.to_string().contains("the crawl can be resumed"), "{stop}");
    assert_eq!(read(&file), "{}\n", "the other output has its row");
    assert_eq!(rows.cursors().len(), 1, "and the pipe has no cursor");
}

#[tokio::test]
async fn a_full_disk_is_a_stop_that_can_be_resumed() {
    let rows = FakeRows::with(&["{}"]);
    let stop = start(&rows, "/dev/full".as_ref(), Existing::Refuse).await.unwrap_err();
    assert!(matches!(stop, OutputError::DiskFull { .. }) && stop.is_resumable_stop(), "{stop}");
    assert!(stop.to_string().contains("free some space"), "{stop}");
    assert!(rows.cursors().is_empty());
}

#[tokio::test]
async fn waiting_for_a_reader_can_be_given_up() {
    let (rows, place) = (FakeRows::default(), Place::new());
    let fifo = place.path("rows");
    make_fifo(&fifo);
    let targets = [target(&fifo), target(&place.items())];
    let waiting = Exporter::prepare(rows, &targets, Existing::Refuse);
    assert!(tokio::time::timeout(std::time::Duration::from_millis(120), waiting).await.is_err());
    assert!(!place.items().exists());
}

#[tokio::test]
async fn a_file_that_another_writes_to_meanwhile_stops_and_is_not_cut() {
    let (rows, place) = (FakeRows::with(&["{}"]), Place::new());
    let mut exporter = prepare(&rows, &place.items(), Existing::Refuse).await.unwrap();
    exporter.drain().await.unwrap();
    File::options().append(true).open(place.items()).unwrap().write_all(b"theirs").unwrap();
    rows.push("{}");
    let stop = exporter.drain().await.unwrap_err();
    assert!(matches!(stop, OutputError::Meddled { .. }) && stop.is_resumable_stop(), "{stop}");
    assert_eq!(read(&place.items()), "{}\ntheirs");
}

#[tokio::test]
async fn a_file_that_is_moved_away_meanwhile_stops() {
    let (rows, place) = (FakeRows::with(&["{}"]), Place::new());
    let mut exporter = prepare(&rows, &place.items(), Existing::Refuse).await.unwrap();
    fs::rename(place.items(), place.path("away.jsonl")).unwrap();
    assert!(matches!(exporter.drain().await, Err(OutputError::Meddled { what: "moved or removed", .. })));
}

#[tokio::test]
async fn two_files_each_have_every_row_also_when_one_comes_later() {
    let (rows, place) = (FakeRows::with(&["{}"]), Place::new());
    let (one, two) = (target(&place.path("one.ndjson")), target(&place.path("two.jl")));
    Exporter::prepare(rows.clone(), std::slice::from_ref(&one), Existing::Refuse).await.unwrap().drain().await.unwrap();
    rows.push("{}");
    let written = Exporter::prepare(rows.clone(), &[one, two], Existing::Refuse).await.unwrap().drain().await.unwrap();
    assert_eq!(written, 1 + 2);
    for name in ["one.ndjson", "two.jl"] {
        assert_eq!(read(&place.path(name)), "{}\n{}\n");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_writes_pipes_at_once_files_soon_and_all_of_it_at_the_end() {
    let (rows, place) = (FakeRows::with(&["{}"]), Place::new());
    let fifo = place.path("rows");
    make_fifo(&fifo);
    let (lines, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let path = fifo.clone();
    let reader = thread::spawn(move || {
        BufReader::new(File::open(path).unwrap()).lines().for_each(|line| lines.send(line.unwrap()).unwrap());
    });
    let (committed, watched) = watch::channel(1);
    let (end, ended) = oneshot::channel::<()>();
    let exporter = Exporter::prepare(rows.clone(), &[target(&fifo), target(&place.items())], Existing::Refuse).await.unwrap();
    let run = tokio::spawn(exporter.run(watched, async {
        ended.await.ok();
    }));

    // What was committed before the run began comes without being announced, and to the file first.
    assert!(seen.recv().await.unwrap().ends_with("001\"}"));
    assert_eq!(read(&place.items()), "{}\n");
    // What is announced comes to the pipe at once, and to the file within about a second, while the crawl runs.
    rows.push("{}");
    committed.send(2).unwrap();
    assert!(seen.recv().await.unwrap().ends_with("002\"}"));
    while read(&place.items()).lines().count() < 2 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    // What is committed before the end is written, announced or not.
    rows.push("{}");
    end.send(()).unwrap();
    assert_eq!(run.await.unwrap().unwrap(), 6);
    assert!(seen.recv().await.unwrap().ends_with("003\"}"));
    assert_eq!(read(&place.items()), "{}\n{}\n{}\n");
    reader.join().unwrap();
}

#[tokio::test]
async fn a_run_ends_when_nobody_can_commit_any_more() {
    let (rows, place) = (FakeRows::default(), Place::new());
    let exporter = prepare(&rows, &place.items(), Existing::Refuse).await.unwrap();
    let (committed, watched) = watch::channel(0);
    rows.push("{}");
    drop(committed);
    assert_eq!(exporter.run(watched, std::future::pending()).await.unwrap(), 1);
    assert_eq!(read(&place.items()), "{}\n");
}

#[tokio::test]
async fn a_run_that_cannot_write_ends_at_once() {
    let rows = FakeRows::with(&["{}"]);
    let exporter = prepare(&rows, "/dev/full".as_ref(), Existing::Refuse).await.unwrap();
    let (_committed, watched) = watch::channel(0);
    assert!(matches!(exporter.run(watched, std::future::pending()).await, Err(OutputError::DiskFull { .. })));
}

#[tokio::test]
async fn without_outputs_a_run_waits_for_the_end() {
    let exporter = Exporter::prepare(FakeRows::with(&["{}"]), &[] as &[Target], Existing::Refuse).await.unwrap();
    let (_committed, watched) = watch::channel(0);
    assert_eq!(exporter.run(watched, async {}).await.unwrap(), 0);
}
