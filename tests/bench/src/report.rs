//! How figures are told: a table for people, which is also Markdown, and JSON for programs.

use crate::machine::Machine;
use crate::programs::Contestant;
use crate::summary::{Spread, Summary};
use serde::Serialize;
use std::fmt::{Display, Formatter};

/// Everything that a benchmark found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Where.
    pub machine: Machine,
    /// Pairs of runs of each workload.
    pub alternations: usize,
    /// Further arguments that Nephila was given.
    pub nephila_arguments: Vec<String>,
    /// What, one for each workload.
    pub workloads: Vec<Summary>,
}

impl Display for Report {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let pairs = counted(self.alternations, "pair");
        writeln!(out, "{} {pairs} of runs for each site, medians with (least to most).", self.machine)?;
        if !self.nephila_arguments.is_empty() {
            writeln!(out, "Further arguments of `nephila run`: `{}`.", self.nephila_arguments.join(" "))?;
        }
        for summary in &self.workloads {
            writeln!(out, "\n**{}**\n", summary.workload.describe())?;
            writeln!(out, "| {:<9} | {:<28} | {:<28} | {:<22} |", "", "CPU ms/page", "pages/s", "peak MB")?;
            writeln!(out, "|-----------|{:-<30}|{:-<30}|{:-<24}|", "", "", "")?;
            for contestant in Contestant::ALL {
                let figures = summary.figures(contestant);
                row(
                    out,
                    contestant.name(),
                    shown(figures.cpu_millis_per_page, 3),
                    shown(figures.pages_per_second, 0),
                    shown(figures.peak_megabytes, 1),
                )?;
            }
            let ratios = [summary.cpu_ratio, summary.speed_ratio, summary.memory_ratio].map(|ratio| shown(ratio, 2));
            let [cpu, speed, memory] = ratios;
            row(out, "ratio", cpu, speed, memory)?;
        }
        Ok(())
    }
}

fn row(out: &mut Formatter<'_>, name: &str, cpu: String, speed: String, memory: String) -> std::fmt::Result {
    writeln!(out, "| {name:<9} | {cpu:<28} | {speed:<28} | {memory:<22} |")
}

/// The middle, with the least and the most.
pub(crate) fn shown(spread: Spread, digits: usize) -> String {
    format!("{:.digits$} ({:.digits$} to {:.digits$})", spread.median, spread.min, spread.max)
}

/// So many of them, in words: the plural is an `s` more.
pub(crate) fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::Report;
    use crate::{Cost, Machine, Pair, Summary, Workload};

    fn report() -> Report {
        let cost = |cpu: f64| Cost { user_seconds: cpu, system_seconds: 0.5, wall_seconds: 2.0, peak_bytes: 9_000_000 };
        let pair = Pair { bare_loop: cost(0.5), nephila: cost(2.0) };
        let workloads = vec![Summary::of(Workload::heavy(None), vec![pair])];
        Report { machine: Machine::default(), alternations: 1, nephila_arguments: vec!["-c".into(), "1".into()], workloads }
    }

    #[test]
    fn a_table_has_a_row_for_each_and_the_ratio() {
        let text = report().to_string();
        assert!(text.contains("**heavy: 2000 pages"), "{text}");
        assert!(text.contains("| bare loop | 0.500 (0.500 to 0.500)"), "{text}");
        assert!(text.contains("| nephila   | 1.250 (1.250 to 1.250)"), "{text}");
        assert!(text.contains("| ratio     | 2.50 (2.50 to 2.50)"), "{text}");
        assert!(text.contains("`-c 1`") && text.contains(" 1 pair of runs"), "{text}");
    }

    #[test]
    fn json_has_every_run() {
        let json = serde_json::to_value(report()).unwrap();
        assert_eq!(json["workloads"][0]["cpuRatio"]["median"], 2.5);
        assert_eq!(json["workloads"][0]["workload"]["heavy"]["pages"], 2_000);
        assert_eq!(json["workloads"][0]["pairs"][0]["nephila"]["userSeconds"], 2.0);
    }
}
