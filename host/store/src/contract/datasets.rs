//! Datasets and their cursors, key-value stores, sinks.

use super::Fixture;
use super::given::{Crawl, failed, items, page, spec};
use crate::{Company, CrawlSpec, SinkRecord};
use nephila_model::{DatasetName, Effects, KeyValueWrite, KvStoreName, KvValue, NewRequest};

pub async fn a_cursor_reads_every_row_once_in_order(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept((0..30).map(|path| page(&path.to_string())).collect()).await;
    let (mut cursor, mut read, mut written) = (0, Vec::new(), 0);
    // A reader that reads while others write, from its own cursor, in portions of its own.
    for (at, request) in accepted.iter().enumerate() {
        let texts: Vec<String> = (0..at % 4).map(|item| format!("{}", written + item)).collect();
        written += texts.len();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        crawl.apply(crawl.handled(request, items(&texts))).await;
        let slice =
            crawl.store.dataset_slice(crawl.id, &DatasetName::Default, cursor, 1 + at % 3, usize::MAX).await.expect("a slice");
        for row in slice.rows {
            assert!(row.sequence > cursor);
            cursor = row.sequence;
            read.push(row.json);
        }
    }
    loop {
        let slice = crawl.store.dataset_slice(crawl.id, &DatasetName::Default, cursor, 2, usize::MAX).await.expect("a slice");
        cursor = slice.rows.last().map_or(cursor, |row| row.sequence);
        read.extend(slice.rows.into_iter().map(|row| row.json));
        if !slice.more {
            break;
        }
    }
    assert_eq!(read, (0..written).map(|item| format!("{{\"item\":\"{item}\"}}")).collect::<Vec<_>>());
    let end = crawl.store.dataset_slice(crawl.id, &DatasetName::Default, cursor, 2, usize::MAX).await.expect("a slice");
    assert!(end.rows.is_empty() && !end.more);
    let none = crawl.store.dataset_slice(crawl.id, &DatasetName::Named("none".into()), 0, 2, usize::MAX).await.expect("a slice");
    assert!(none.rows.is_empty());
}

pub async fn a_slice_is_cut_at_its_bytes_and_says_more(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let request = crawl.accept_one("1").await;
    // 12 bytes each, and one of 111.
    let long = "x".repeat(100);
    crawl.apply(crawl.handled(&request, items(&["a", "b", &long, "c", "ü"]))).await;
    let all = crawl.items(&DatasetName::Default).await;
    assert_eq!(all.iter().map(String::len).collect::<Vec<_>>(), [12, 12, 111, 12, 13]);
    for (first, limit, max_bytes, rows, more) in [
        (0, 9, usize::MAX, 5, false),
        (0, 9, 160, 5, false),
        (0, 9, 159, 4, true),
        (0, 9, 24, 2, true),
        (0, 9, 23, 1, true),
        (0, 1, 24, 1, true),
        // One row at least, however long it is.
        (2, 9, 0, 1, true),
        (2, 9, 122, 1, true),
        (2, 9, 123, 2, true),
        (4, 9, 0, 1, false),
        (5, 9, 0, 0, false),
        (0, 0, 99, 0, true),
    ] {
        let before = crawl.store.dataset_slice(crawl.id, &DatasetName::Default, 0, first, usize::MAX).await.expect("a slice");
        let after = before.rows.last().map_or(0, |row| row.sequence);
        let slice = crawl.store.dataset_slice(crawl.id, &DatasetName::Default, after, limit, max_bytes).await.expect("a slice");
        let read: Vec<&String> = slice.rows.iter().map(|row| &row.json).collect();
        assert_eq!((read, slice.more), (all[first..first + rows].iter().collect(), more), "{first} {limit} {max_bytes}");
    }
}

pub async fn the_same_page_gives_the_same_ids(fixture: &dyn Fixture) {
    let store = fixture.open().await;
    let mut all = Vec::new();
    for crawler in ["first", "second"] {
        let crawl = Crawl::open(store.clone(), CrawlSpec { company: Company::Shared, ..spec(crawler) }).await;
        let other = NewRequest { label: Some("l".into()), ..page("2") };
        let accepted = crawl.accept(vec![page("1"), other, page("3")]).await;
        crawl.apply(crawl.handled(&accepted[0], items(&["a", "b"]))).await;
        crawl.apply(crawl.outcome(&accepted[1], failed(), items(&["c"]))).await;
        crawl.apply(crawl.finish(items(&["d"]))).await;
        let rows = store.dataset_slice(crawl.id, &DatasetName::Default, 0, 99, usize::MAX).await.expect("a slice").rows;
        all.push(rows.into_iter().map(|row| row.id).collect::<Vec<_>>());
    }
    assert_eq!(all[0], all[1]);
    assert!(all[0].iter().all(|id| id.len() == 32));
    let mut distinct = all.remove(0);
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 4);
}

pub async fn a_key_value_pair_is_written_replaced_and_removed(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let store = KvStoreName::Named("shots".into());
    let put = |value: Option<&[u8]>| {
        let value = value.map(|bytes| KvValue { content_type: "image/png".into(), value: bytes.to_vec().into() });
        let write = KeyValueWrite { store: store.clone(), key: "k".into(), value };
        Effects { key_values: vec![write], ..Effects::default() }
    };
    let get = async || crawl.store.kv_get(crawl.id, &store, "k").await.expect("an answer");
    assert_eq!(get().await, None);
    crawl.apply(crawl.of_crawl(put(Some(b"\x00\xff")))).await;
    assert_eq!(get().await.expect("a value").value.as_ref(), b"\x00\xff");
    crawl.apply(crawl.of_crawl(put(Some(b"")))).await;
    assert_eq!(get().await, Some(KvValue { content_type: "image/png".into(), value: Vec::new().into() }));
    assert_eq!(crawl.store.kv_get(crawl.id, &KvStoreName::Default, "k").await.expect("an answer"), None);
    crawl.apply(crawl.of_crawl(put(None))).await;
    assert_eq!(get().await, None);
}

pub async fn a_sink_keeps_its_place(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let record = |target: &str, cursor| SinkRecord { target: target.into(), cursor, state: format!("{{\"at\":{cursor}}}") };
    assert_eq!(crawl.store.sink(crawl.id, "a.jsonl").await.expect("an answer"), None);
    for put in [record("a.jsonl", 3), record("b.csv", 1), record("a.jsonl", 9)] {
        crawl.store.put_sink(crawl.id, &put).await.expect("noted");
    }
    assert_eq!(crawl.store.sink(crawl.id, "a.jsonl").await.expect("an answer"), Some(record("a.jsonl", 9)));
    assert_eq!(crawl.store.sink(crawl.id, "b.csv").await.expect("an answer"), Some(record("b.csv", 1)));
}
