//! How the figures of languages are told.

use crate::cost::Cost;
use crate::languages::{Both, Language, Round};
use crate::machine::Machine;
use crate::report::{counted, shown};
use crate::summary::Spread;
use crate::workload::Workload;
use serde::Serialize;
use std::fmt::{Display, Formatter};

/// Everything that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LanguagesReport {
    /// Where.
    pub machine: Machine,
    /// What was crawled.
    pub workload: Workload,
    /// Further arguments that Nephila was given.
    pub nephila_arguments: Vec<String>,
    /// Processor time of the bare loop for a page.
    pub bare_loop_millis_per_page: Spread,
    /// Each language.
    pub languages: Vec<LanguageFigures>,
    /// Every single run.
    pub rounds: Vec<Round>,
}

/// The figures of a language.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LanguageFigures {
    /// Which.
    pub language: Language,
    /// Processor time for a page, with a fresh sandbox for each.
    pub fresh_millis_per_page: Spread,
    /// The same with sandboxes that are reused.
    pub reused_millis_per_page: Spread,
    /// What a fresh sandbox adds, in pages of the bare loop: of the rounds.
    pub fresh_adds: Spread,
    /// The most resident memory, fresh.
    pub fresh_peak_megabytes: Spread,
    /// The same, reused.
    pub reused_peak_megabytes: Spread,
}

impl LanguagesReport {
    /// From what the rounds cost.
    #[must_use]
    pub fn of(machine: Machine, workload: Workload, nephila_arguments: Vec<String>, rounds: Vec<Round>) -> Self {
        let pages = workload.pages() as f64;
        let per_page = |cost: &Cost| cost.cpu_seconds() * 1e3 / pages;
        let megabytes = |cost: &Cost| cost.peak_bytes as f64 / 1e6;
        let names: Vec<Language> =
            rounds.first().map_or_else(Vec::new, |round| round.languages.iter().map(|both| both.language).collect());
        let languages = names.into_iter().enumerate().map(|(index, language)| {
            let spread = |figure: &dyn Fn(&Round, &Both) -> f64| {
                Spread::of(rounds.iter().filter_map(|round| Some(figure(round, round.languages.get(index)?))))
            };
            LanguageFigures {
                language,
                fresh_millis_per_page: spread(&|_, both| per_page(&both.fresh)),
                reused_millis_per_page: spread(&|_, both| per_page(&both.reused)),
                fresh_adds: spread(&|round, both| (per_page(&both.fresh) - per_page(&both.reused)) / per_page(&round.bare_loop)),
                fresh_peak_megabytes: spread(&|_, both| megabytes(&both.fresh)),
                reused_peak_megabytes: spread(&|_, both| megabytes(&both.reused)),
            }
        });
        let languages = languages.collect();
        let bare_loop_millis_per_page = Spread::of(rounds.iter().map(|round| per_page(&round.bare_loop)));
        Self { machine, workload, nephila_arguments, bare_loop_millis_per_page, languages, rounds }
    }
}

impl Display for LanguagesReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(
            out,
            "{} {}, medians with (least to most); a mesh of {} pages. The bare loop: {} ms of processor time for a page.",
            self.machine,
            counted(self.rounds.len(), "round"),
            self.workload.pages(),
            shown(self.bare_loop_millis_per_page, 3)
        )?;
        if !self.nephila_arguments.is_empty() {
            writeln!(out, "Further arguments of `nephila run`: `{}`.", self.nephila_arguments.join(" "))?;
        }
        writeln!(
            out,
            "\n| language | CPU ms/page, fresh | CPU ms/page, reused | fresh adds, in pages of the bare loop | peak MB, fresh | peak MB, reused |"
        )?;
        writeln!(out, "|---|---|---|---|---|---|")?;
        for figures in &self.languages {
            let (fresh, reused) = (shown(figures.fresh_millis_per_page, 3), shown(figures.reused_millis_per_page, 3));
            let adds = shown(figures.fresh_adds, 1);
            let peaks = [figures.fresh_peak_megabytes, figures.reused_peak_megabytes].map(|peak| shown(peak, 0));
            writeln!(out, "| {} | {fresh} | {reused} | {adds} | {} |", figures.language.name(), peaks.join(" | "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::LanguagesReport;
    use crate::languages::{Both, Language, Round};
    use crate::{Cost, Machine, Workload};

    #[test]
    fn what_a_fresh_sandbox_adds_is_told_in_pages_of_the_bare_loop_of_its_round() {
        let cost = |cpu: f64| Cost { user_seconds: cpu, system_seconds: 0.0, wall_seconds: 1.0, peak_bytes: 9_000_000 };
        let round = |bare, fresh, reused| Round {
            bare_loop: cost(bare),
            languages: vec![Both { language: Language::Python, fresh: cost(fresh), reused: cost(reused) }],
        };
        let rounds = vec![round(0.1, 3.0, 1.0), round(0.2, 3.0, 2.0), round(0.1, 2.0, 1.0)];
        let report = LanguagesReport::of(Machine::default(), Workload::mesh(Some(1_000)), Vec::new(), rounds);
        assert_eq!(report.languages[0].fresh_adds.median, 10.0);
        let text = report.to_string();
        assert!(
            text.contains("| Python | 3.000 (2.000 to 3.000) | 1.000 (1.000 to 2.000) | 10.0 (5.0 to 20.0) | 9 (9 to 9)"),
            "{text}"
        );
        assert!(text.contains("3 rounds") && text.contains("0.100 (0.100 to 0.200) ms"), "{text}");
    }
}
