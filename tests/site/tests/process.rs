//! The command as scripts use it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

#[test]
fn it_says_when_it_is_ready_answers_and_stops_on_a_signal() {
    for (signal, threads) in [("TERM", "1"), ("INT", "2")] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_nephila-site"))
            .args(["mesh", "--pages", "10", "--links", "2", "--bytes", "500", "--threads", threads])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().strip_suffix('/').unwrap();

        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /_site/stats HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        assert!(reply.ends_with(r#"{"requests":0,"byUrl":{},"minGapMillis":{},"maxConcurrent":0}"#), "{reply}");

        // An open connection does not keep it alive.
        let _idle = TcpStream::connect(address).unwrap();
        let killed = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn a_mesh_needs_to_be_told_no_more_than_how_many_pages() {
    let mut child =
        Command::new(env!("CARGO_BIN_EXE_nephila-site")).args(["mesh", "--pages", "30"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.starts_with("listening on "), "{line}");
}

#[test]
fn the_practice_site_needs_to_be_told_nothing() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_nephila-site")).arg("practice").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.starts_with("listening on "), "{line}");
}

#[test]
fn wrong_switches_are_refused_with_their_name() {
    let output = Command::new(env!("CARGO_BIN_EXE_nephila-site"))
        .args(["bookshop", "--fail-ratio", "2"])
        .env("RUST_BACKTRACE", "1")
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("nephila-site: ") && said.contains("--fail-ratio must be between 0 and 1"), "{said}");
    assert_eq!(said.lines().count(), 1, "no backtrace: {said}");
}
