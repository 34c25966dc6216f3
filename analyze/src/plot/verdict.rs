//! A candidate beside its golden: the runs of both as ratios, phase by phase, with what the gate
//! says of each.
//!
//! Ratios, intervals and limits are those of the verdict; nothing is computed here but places.

use golden::evidence::Column;
use golden::render::{headline, word};
use golden::snapshot::Snapshot;
use golden::verdict::{Machine, Outcome, PhaseVerdict, Verdict};

use super::palette::Role;
use super::ratio::{self, Span};
use super::scene::{Anchor, Ink, Scene};
use super::{Style, font, legend, scene_of};

/// Height of a phase: two rows of dots.
const ROW: f64 = 46.0;
/// Widest column of names, and of what is said on the right.
const NAMES_MAX: f64 = 210.0;
const WORDS: f64 = 150.0;

/// Dashes of the limit's line in a row.
const DASHES: u32 = 8;

/// Both sides of a check with its verdict.
#[derive(Clone, Copy, Debug)]
pub struct Checked<'c> {
    /// What was held to.
    pub golden: &'c Snapshot,
    /// Run medians of the candidate, as of a candidate snapshot.
    pub candidate: &'c Snapshot,
    /// What the gate said.
    pub verdict: &'c Verdict,
}

/// Every phase of a verdict: the golden's runs above, the candidate's below, as ratios to the
/// golden's mean; the bar is the 95 % interval of the change, the tick in it the change.
pub fn verdict(checked: &Checked<'_>, style: Style) -> Scene {
    let verdict = checked.verdict;
    let mut scene = scene_of(style, &headline(verdict));
    scene.summary = headline(verdict);
    let rows: Vec<Row<'_>> = verdict
        .phases
        .iter()
        .filter_map(|phase| Row::of(checked, phase))
        .collect();
    if rows.is_empty() {
        let at = (12.0, scene.height + 16.0);
        scene.text(at, Anchor::Start, "no phase to compare", Ink::note());
        scene.height += 32.0;
        return scene;
    }
    draw(&mut scene, &rows, verdict);
    scene
}

/// A phase with the runs of both sides.
struct Row<'r> {
    phase: &'r PhaseVerdict,
    before: Vec<f64>,
    after: Vec<f64>,
}

impl<'r> Row<'r> {
    fn of(checked: &Checked<'r>, phase: &'r PhaseVerdict) -> Option<Self> {
        let before = checked.golden.phases.get(&phase.phase)?;
        let after = checked.candidate.phases.get(&phase.phase)?;
        let base = before.ms().ln();
        let ratios = |column: &Column| column.ln_ms.iter().map(|x| (x - base).exp()).collect();
        Some(Self {
            phase,
            before: ratios(before),
            after: ratios(after),
        })
    }

    fn all(&self) -> impl Iterator<Item = f64> {
        let ends = [self.phase.low, self.phase.high];
        self.before.iter().chain(&self.after).copied().chain(ends)
    }

    /// Role of the candidate's side.
    const fn role(&self) -> Role {
        match self.phase.verdict {
            Outcome::Regression => Role::Bad,
            _ if self.phase.control || !self.phase.gated => Role::Unattributed,
            Outcome::Pass => Role::Kernel,
            Outcome::Inconclusive | Outcome::NotComparable => Role::Starved,
        }
    }
}

fn draw(scene: &mut Scene, rows: &[Row<'_>], verdict: &Verdict) {
    let names = (scene.width * 0.26).min(NAMES_MAX);
    let words = (scene.width * 0.2).min(WORDS);
    let pixels = (names + 16.0, scene.width - words - 16.0);
    let values = rows.iter().flat_map(Row::all).chain([1.0 + verdict.limit]);
    let span = Span::of(values, pixels);
    let top = scene.height + 4.0;
    let bottom = top + ROW * rows.len() as f64;
    ratio::grid(scene, &span, (top, bottom));
    for (at, row) in rows.iter().enumerate() {
        let top = top + ROW * at as f64;
        scene.line(vec![(12.0, top), (scene.width - 12.0, top)], Role::Grid, 1);
        one(scene, row, (&span, top), names);
        said(scene, row.phase, (verdict.limit, words), top);
    }
    let note = "time over the golden's mean; bar: the change and its 95 % interval, without the \
                machine's shift; dashed: what a pass excludes";
    let ink = Ink::note();
    let text = font::fit(note, ink.size, false, scene.width - 24.0);
    scene.text((12.0, bottom + 29.0), Anchor::Start, &text, ink);
    scene.height = bottom + 42.0;
    if let Some(machine) = &verdict.machine {
        let text = font::fit(&machine_words(machine), ink.size, false, scene.width - 24.0);
        scene.text((12.0, scene.height + 8.0), Anchor::Start, &text, ink);
        scene.height += 20.0;
    }
    let mut entries = vec![(Role::Drain, "a run of the golden")];
    for (role, words) in [
        (Role::Kernel, "a candidate run: pass"),
        (Role::Starved, "inconclusive"),
        (Role::Bad, "regression"),
        (Role::Unattributed, "not judged"),
    ] {
        if rows.iter().any(|row| row.role() == role) {
            entries.push((role, words));
        }
    }
    legend::draw(scene, &entries);
}

fn one(scene: &mut Scene, row: &Row<'_>, (span, top): (&Span, f64), names: f64) {
    let (ink, phase) = (Ink::name(), row.phase);
    let name = font::fit(&phase.phase, ink.size, false, names);
    scene.text((12.0, top + 15.0), Anchor::Start, &name, ink);
    let times = format!("{} to {} ms", ms(phase.baseline_ms), ms(phase.candidate_ms));
    let note = Ink::note();
    let times = font::fit(&times, note.size, false, names);
    scene.text((12.0, top + 31.0), Anchor::Start, &times, note);
    let limit = span.x(1.0 + phase.limit);
    for step in 0..DASHES {
        let from = top + f64::from(step) * ROW / f64::from(DASHES);
        scene.line(vec![(limit, from), (limit, from + 3.0)], Role::Soft, 1);
    }
    let role = row.role();
    for (side, y, role) in [
        (&row.before, top + 14.0, Role::Drain),
        (&row.after, top + 31.0, role),
    ] {
        for ratio in side {
            scene.dot((span.x(*ratio), y), 3.5, role, 0.6);
        }
    }
    let y = top + 41.0;
    let (low, high) = (span.x(phase.low), span.x(phase.high));
    scene.rect([low, y - 1.5, high.max(low + 1.0), y + 1.5], role, 1.0);
    let at = span.x(phase.ratio);
    scene.line(vec![(at, y - 4.0), (at, y + 4.0)], Role::Ink, 2);
    let hover = format!(
        "{}: {} ({} to {})",
        phase.phase,
        ratio::percent(phase.ratio),
        ratio::percent(phase.low),
        ratio::percent(phase.high)
    );
    scene.zone([0.0, top, scene.width, top + ROW], hover);
}

/// The change and the verdict, on the right.
fn said(scene: &mut Scene, phase: &PhaseVerdict, (usual, room): (f64, f64), top: f64) {
    let left = scene.width - room - 4.0;
    let ink = Ink {
        bold: phase.verdict == Outcome::Regression,
        ..Ink::name()
    };
    let change = ratio::percent(phase.ratio);
    scene.text((left, top + 15.0), Anchor::Start, &change, ink);
    let note = Ink::note();
    let words = font::fit(&word(phase, usual), note.size, false, room);
    scene.text((left, top + 31.0), Anchor::Start, &words, note);
}

fn machine_words(machine: &Machine) -> String {
    format!(
        "machine: {} (95 % interval {} to {}), {}",
        ratio::percent(machine.ratio),
        ratio::percent(machine.low),
        ratio::percent(machine.high),
        golden::render::machine_word(machine),
    )
}

/// Milliseconds with as many digits as say something.
fn ms(x: f64) -> String {
    if x >= 100.0 {
        format!("{x:.0}")
    } else if x >= 10.0 {
        format!("{x:.1}")
    } else {
        format!("{x:.3}")
    }
}

#[cfg(test)]
mod tests {
    use golden::evidence::{Evidence, Rules};
    use golden::gate::{Options, judge};
    use golden::samples::{Run, Samples, Times};

    use super::*;

    /// Runs of eight phases, one of which is slower by a factor.
    fn evidence(salt: usize, slow: f64) -> Evidence {
        let mut set = Samples::default();
        for at in 0..5 {
            let mut run = Run::new(&format!("{salt}-{at}"));
            for phase in 0..8 {
                let wiggle = ((at * 7 + phase * 5 + salt * 3) % 11) as f64 / 1100.0;
                let factor = if phase == 2 { slow } else { 1.0 };
                let level = 50.0 * (phase + 1) as f64 * (1.0 + wiggle) * factor;
                let ms = (0..9)
                    .map(|i| level * (1.0 + f64::from(i % 4) / 997.0))
                    .collect();
                run.phases
                    .insert(format!("p{phase}"), Times::of_verified(ms));
            }
            set.runs.push(run);
        }
        Evidence::of(&set, Rules::default())
    }

    fn drawn(slow: f64, ungated: &[&str]) -> (Scene, Verdict) {
        let golden = Snapshot::candidate(&evidence(1, 1.0));
        let evidence = evidence(2, slow);
        let options = Options {
            ungated: ungated.iter().map(|name| (*name).to_owned()).collect(),
            ..Options::default()
        };
        let verdict = judge(Some(&golden), &evidence, &options);
        let checked = Checked {
            golden: &golden,
            candidate: &Snapshot::candidate(&evidence),
            verdict: &verdict,
        };
        (super::verdict(&checked, Style::default()), verdict)
    }

    #[test]
    fn a_slow_phase_is_red_and_says_so() {
        let (scene, verdict) = drawn(1.2, &["p5"]);
        assert_eq!(verdict.outcome, Outcome::Regression);
        assert!(scene.summary.starts_with("REGRESSION"), "{}", scene.summary);
        let texts: Vec<&str> = scene.labels().map(|label| label.text.as_str()).collect();
        for words in ["regression", "not gated", "pass", "p2"] {
            assert!(texts.contains(&words), "{words}: {texts:?}");
        }
        assert_eq!(crate::plot::testing::misplaced(&scene), [""; 0]);
        assert!(crate::plot::svg_of(&scene, Style::default().theme).is_ok());
    }

    #[test]
    fn nothing_in_common_has_a_picture_too() {
        let (golden, other) = (Snapshot::default(), Snapshot::default());
        let verdict = judge(None, &Evidence::default(), &Options::default());
        let checked = Checked {
            golden: &golden,
            candidate: &other,
            verdict: &verdict,
        };
        let scene = super::verdict(&checked, Style::default());
        assert!(
            scene
                .labels()
                .any(|label| label.text == "no phase to compare")
        );
    }
}
