//! Which messages are one kind, and which are not.

use super::*;
use crate::FailureCode;

const URL: &str = "https://shop.example:8080/p/7?q=1";

fn reason(code: &str, message: &str, status: Option<u16>) -> FailureReason {
    FailureReason { code: FailureCode(code.to_owned().into()), message: message.to_owned(), status }
}

fn of(message: &str) -> ErrorKind {
    ErrorKind::of(&reason("exception", message, Some(200)), URL)
}

fn shape(message: &str) -> String {
    of(message).shape.expect("a shape")
}

#[test]
fn what_varies_is_left_out_and_the_words_stay() {
    for (message, left) in [
        ("no price on page 17 of 1,024", "no price on page <number> of <number>"),
        ("https://a.test/x?y=1 answered late.", "<url> answered late."),
        ("the link (http://a.test/) is odd", "the link (<url>) is odd"),
        ("cannot read property 'price' of undefined", "cannot read property <text> of undefined"),
        (r#"could not convert "£1" or `2` or “drei”"#, "could not convert <text> or <text> or <text>"),
        ("it doesn't work, isn't it", "it doesn't work, isn't it"),
        ("it's 'Bob's' turn", "it's <text> turn"),
        (r"a '\'quoted\'' word", "a <text> word"),
        ("an open \"quote stays", "an open \"quote stays"),
        ("id 3f2504e0-4f89-11d3-9a0c-0305e82c3301 is gone", "id <number> is gone"),
        ("address 0xdeadbeef, hash deadbeef01", "address <number>, hash <number>"),
        ("a decade of cafe", "a decade of cafe"),
        ("h2 and utf8", "h<number> and utf<number>"),
        ("shop.example:8080: cannot connect: refused", "<host>: cannot connect: refused"),
        ("shop.example:8080.org is another", "shop.example:<number>.org is another"),
        ("two\n    lines\tand more", "two lines and more"),
        ("", ""),
    ] {
        assert_eq!(shape(message), left, "{message}");
    }
}

#[test]
fn the_place_in_the_source_is_part_of_the_kind_and_the_stack_behind_it_is_not() {
    for (message, position, left) in [
        ("TypeError: not a function     at crawler.js:13:35", "crawler.js:13:35", "TypeError: not a function"),
        (
            "TypeError: not a function | at crawler.js:13:35 | at crawler.js:10:36",
            "crawler.js:13:35",
            "TypeError: not a function",
        ),
        ("Error: no\n    at price (src/shop.ts:6:10)\n    at crawler.ts:10:5", "src/shop.ts:6:10", "Error: no at price"),
        (
            "ValueError: could not convert: '£1' (at crawler.py:41 in book: return float(x))",
            "crawler.py:41",
            "ValueError: could not convert: <text>",
        ),
        ("NULL is used, at shop.c:31:9", "shop.c:31:9", "NULL is used,"),
        (
            "panicked at src/lib.rs:12:5: index 7 is out (unreachable)",
            "src/lib.rs:12:5",
            "panicked at <position>: index <number> is out (unreachable)",
        ),
    ] {
        let kind = of(message);
        assert_eq!((kind.position.as_deref(), kind.shape.as_deref()), (Some(position), Some(left)), "{message}");
    }
    // Neither a host with a port nor a time of day is one.
    for message in ["at shop.rs.test:8080 nobody answers", "at 12:30 it ended", "shop.rs:80: refused", "at x.js: no"] {
        assert_eq!(of(message).position, None, "{message}");
    }
}

#[test]
fn the_status_that_was_not_wanted_tells_kinds_apart() {
    let of = |status| ErrorKind::of(&reason("status", &format!("{URL} answered with status {status}"), Some(status)), URL);
    assert_eq!(of(404).shape.as_deref(), Some("<url> answered with status 404"));
    assert_ne!(of(404), of(503));
    assert_eq!(shape("200 is a number"), "<number> is a number");
}

#[test]
fn a_kind_is_read_back_from_its_name_and_one_of_an_earlier_version_is_its_code() {
    for message in ["TypeError: no at crawler.js:13:35", "plain", ""] {
        let kind = of(message);
        assert_eq!(ErrorKind::parse(&kind.name()), kind);
        let (from, before) = ErrorKind::range_of("exception");
        assert!((from..before).contains(&kind.name()));
    }
    assert_eq!(ErrorKind::parse("trap"), ErrorKind::others("trap"));
    assert_eq!(ErrorKind::others("trap").name(), "trap");
    let (from, before) = ErrorKind::range_of("trap");
    assert!(!(from..before).contains(&"trap".to_owned()));
}

#[test]
fn whatever_a_message_is_its_kind_is_short() {
    for message in ["ä".repeat(5_000), "1 ".repeat(5_000), "'".repeat(5_000), format!("at {}.js:1:1", "ö".repeat(3_000))] {
        let kind = of(&message);
        assert!(kind.name().len() <= 500, "{}", kind.name().len());
    }
}
