//! The files of the practice site: bytes that no text could be taken for, and a table of all quotes.

use crate::quotes::quotes;
use crate::seed::{Seed, mix};

const REPORTS: usize = 3;

/// A file that can be downloaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Download {
    /// The name; its path is `/files/NAME`.
    pub name: String,
    /// The media type that it is sent with.
    pub content_type: &'static str,
    /// All of it.
    pub body: Vec<u8>,
}

/// The files of the practice site with this seed: three of the shape of a PDF, and `quotes.csv`.
pub fn downloads(seed: u64) -> Vec<Download> {
    let mut files: Vec<Download> = (1..=REPORTS).map(|number| report(Seed(seed), number)).collect();
    files.push(Download {
        name: "quotes.csv".to_owned(),
        content_type: "text/csv; charset=utf-8",
        body: table(seed).into_bytes(),
    });
    files
}

/// Has the first and last line of a PDF, and between them all bytes that there are, 0 among them.
fn report(seed: Seed, number: usize) -> Download {
    let words = 1_000 + seed.below("report", number as u64, 6_000) as u64;
    let start = seed.hash("report", number as u64);
    let mut body = b"%PDF-1.4\n".to_vec();
    body.extend((0..words).flat_map(|word| mix(start ^ word).to_le_bytes()));
    body.extend(b"\n%%EOF\n");
    Download { name: format!("report-{number}.pdf"), content_type: "application/pdf", body }
}

/// As RFC 4180 has it.
fn table(seed: u64) -> String {
    let mut csv = "text,author,tags\r\n".to_owned();
    for quote in quotes(seed) {
        let row = [quote.text, quote.author, quote.tags.join(" ")].map(|cell| format!("\"{}\"", cell.replace('"', "\"\"")));
        csv.push_str(&row.join(","));
        csv.push_str("\r\n");
    }
    csv
}

#[cfg(test)]
mod tests {
    use super::downloads;
    use std::collections::HashSet;

    #[test]
    fn three_files_of_all_bytes_and_a_table() {
        let files = downloads(1);
        assert_eq!(
            files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(),
            ["report-1.pdf", "report-2.pdf", "report-3.pdf", "quotes.csv"]
        );
        for file in &files[..3] {
            assert_eq!(file.body.iter().collect::<HashSet<_>>().len(), 256, "{}", file.name);
            assert!(std::str::from_utf8(&file.body).is_err());
        }
        assert_eq!(files[3].body.iter().filter(|byte| **byte == b'\n').count(), 101);
        assert_ne!(files, downloads(2));
    }
}
