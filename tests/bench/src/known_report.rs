//! How the figures of [`crate::measure_known`] are told: a table, which is also Markdown, and JSON.

use crate::known::{BYTES, KnownRuns, KnownSize, LINKS};
use crate::machine::Machine;
use crate::report::{counted, shown};
use crate::summary::Spread;
use serde::Serialize;
use std::fmt::{Display, Formatter};

/// Everything that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownReport {
    /// Where.
    pub machine: Machine,
    /// How often each size was measured.
    pub alternations: usize,
    /// Further arguments that Nephila was given.
    pub nephila_arguments: Vec<String>,
    /// The sizes; the first is what the others are compared with.
    pub sizes: Vec<KnownSummary>,
}

/// The figures of one size.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownSummary {
    /// What was measured.
    pub size: KnownSize,
    /// Processor time of a page, without the opening.
    pub cpu_millis_per_page: Spread,
    /// How many times as much as with the first size: of the runs that stand beside each other.
    pub cpu_ratio: Spread,
    /// Processor time of start and opening.
    pub opening_cpu_seconds: Spread,
    /// The most resident memory of the longer run.
    pub peak_megabytes: Spread,
    /// Links of a page that were known.
    pub known_links: Spread,
    /// Every single run.
    pub runs: Vec<KnownRuns>,
}

impl KnownReport {
    /// From the runs of all sizes.
    #[must_use]
    pub fn of(machine: Machine, nephila_arguments: Vec<String>, measured: Vec<(KnownSize, Vec<KnownRuns>)>) -> Self {
        let first: Vec<f64> = measured.first().into_iter().flat_map(|(_, runs)| runs).map(KnownRuns::page_seconds).collect();
        let summary = |(size, runs): (KnownSize, Vec<KnownRuns>)| {
            let spread = |figure: &dyn Fn(&KnownRuns) -> f64| Spread::of(runs.iter().map(figure));
            KnownSummary {
                size,
                cpu_millis_per_page: spread(&|runs| runs.page_seconds() * 1e3),
                cpu_ratio: Spread::of(runs.iter().zip(&first).map(|(runs, first)| runs.page_seconds() / first)),
                opening_cpu_seconds: spread(&KnownRuns::opening_seconds),
                peak_megabytes: spread(&|runs| runs.long.cost.peak_bytes as f64 / 1e6),
                known_links: spread(&KnownRuns::known_links),
                runs,
            }
        };
        let alternations = first.len();
        Self { machine, alternations, nephila_arguments, sizes: measured.into_iter().map(summary).collect() }
    }
}

impl Display for KnownReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} Pages of {BYTES} bytes with {LINKS} links, ", self.machine)?;
        writeln!(out, "{}, medians with (least to most).", counted(self.alternations, "alternation"))?;
        if !self.nephila_arguments.is_empty() {
            writeln!(out, "Further arguments of `nephila run`: `{}`.", self.nephila_arguments.join(" "))?;
        }
        writeln!(out)?;
        let titles = ["known URLs", "pages", "CPU ms/page", "ratio", "opening, CPU s", "peak MB", "links known"];
        row(out, titles)?;
        writeln!(out, "|{:->11}:|{dash:-<20}|{dash:-<24}|{dash:-<22}|{dash:-<24}|{dash:-<24}|{dash:-<24}|", "", dash = "")?;
        for summary in &self.sizes {
            let KnownSize { known, short, long } = summary.size;
            let cells = [
                &known.to_string(),
                &format!("{short} and {long}"),
                &shown(summary.cpu_millis_per_page, 3),
                &shown(summary.cpu_ratio, 2),
                &shown(summary.opening_cpu_seconds, 2),
                &shown(summary.peak_megabytes, 1),
                &shown(summary.known_links, 2),
            ];
            row(out, cells.map(String::as_str))?;
        }
        Ok(())
    }
}

fn row(out: &mut Formatter<'_>, cells: [&str; 7]) -> std::fmt::Result {
    let [known, pages, cpu, ratio, opening, peak, links] = cells;
    writeln!(out, "| {known:>10} | {pages:<18} | {cpu:<22} | {ratio:<20} | {opening:<22} | {peak:<22} | {links:<22} |")
}

#[cfg(test)]
mod tests {
    use super::KnownReport;
    use crate::known::{KnownRuns, Resumed};
    use crate::{Cost, Machine};

    fn report() -> KnownReport {
        let resumed = |pages, cpu| {
            let cost = Cost { user_seconds: cpu, system_seconds: 0.0, wall_seconds: 1.0, peak_bytes: 9_000_000 };
            Resumed { times: 1, pages, new_links: pages, cost }
        };
        let runs = |each: f64| KnownRuns { short: resumed(100, 1.0 + 100.0 * each), long: resumed(200, 1.0 + 200.0 * each) };
        let (few, many) = (vec![runs(0.5), runs(1.0), runs(0.5)], vec![runs(0.75), runs(1.25), runs(1.0)]);
        let measured = [("1000:100:200", few), ("2000:100:200", many)].map(|(size, runs)| (size.parse().unwrap(), runs));
        KnownReport::of(Machine::default(), vec!["-v".into()], measured.to_vec())
    }

    #[test]
    fn a_size_is_compared_with_the_first_run_by_run() {
        let sizes = report().sizes;
        assert_eq!([sizes[0].cpu_ratio.min, sizes[0].cpu_ratio.max], [1.0, 1.0]);
        assert_eq!([sizes[1].cpu_ratio.min, sizes[1].cpu_ratio.median, sizes[1].cpu_ratio.max], [1.25, 1.5, 2.0]);
        assert_eq!(sizes[1].opening_cpu_seconds.median, 1.0);
    }

    #[test]
    fn a_table_has_a_row_for_each_size() {
        let text = report().to_string();
        assert!(text.contains("| known URLs | pages "), "{text}");
        assert!(
            text.contains("|       2000 | 100 and 200        | 1000.000 (750.000 to 1250.000) | 1.50 (1.25 to 2.00) "),
            "{text}"
        );
        assert!(text.contains("3 alternations") && text.contains("`-v`") && text.contains("19.00 (19.00 to 19.00)"), "{text}");
        assert_eq!(serde_json::to_value(report()).unwrap()["sizes"][1]["runs"][0]["short"]["newLinks"], 100);
    }
}
