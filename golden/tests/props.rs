//! Properties of the gate over arbitrary times: it never panics, always renders, does not depend
//! on order or unit, and never says less of a slower candidate.

use golden::evidence::{Evidence, Rules};
use golden::gate::{Options, judge};
use golden::render;
use golden::samples::{Run, Samples, Times};
use golden::snapshot::Snapshot;
use golden::verdict::{Inconclusive, Outcome, Verdict};
use proptest::prelude::*;

/// Run, phase, time.
type Grid = Vec<Vec<Vec<f64>>>;

fn samples(letter: char, grid: &Grid) -> Samples {
    let mut set = Samples::default();
    for (at, phases) in grid.iter().enumerate() {
        let mut run = Run::new(&format!("{letter}{at}"));
        for (phase, ms) in phases.iter().enumerate() {
            run.phases
                .insert(format!("p{phase}"), Times::of_verified(ms.clone()));
        }
        set.runs.push(run);
    }
    set
}

fn check(base: &Grid, cand: &Grid) -> Verdict {
    let golden = Snapshot::candidate(&Evidence::of(&samples('b', base), Rules::default()));
    let options = Options::default();
    judge(
        Some(&golden),
        &Evidence::of(&samples('c', cand), options.rules),
        &options,
    )
}

fn scaled(grid: &Grid, phase: Option<usize>, factor: f64) -> Grid {
    let mut grid = grid.clone();
    for phases in &mut grid {
        for (at, times) in phases.iter_mut().enumerate() {
            if phase.is_none_or(|only| only == at) {
                for ms in times {
                    *ms *= factor;
                }
            }
        }
    }
    grid
}

/// Plausible times: 7 phases of 6 partitions with a few per cent of noise.
fn plausible(runs: std::ops::Range<usize>) -> impl Strategy<Value = Grid> {
    let times = prop::collection::vec(0.97_f64..1.03, 6);
    let run = prop::collection::vec(times, 7).prop_map(|phases| {
        let level = |at: usize| 50.0 * (at + 1) as f64;
        let times = |(at, times): (usize, Vec<f64>)| {
            times
                .into_iter()
                .map(|x| x * level(at))
                .collect::<Vec<f64>>()
        };
        phases
            .into_iter()
            .enumerate()
            .map(times)
            .collect::<Vec<_>>()
    });
    prop::collection::vec(run, runs)
}

/// Anything a broken clock gives.
fn anything() -> impl Strategy<Value = Grid> {
    let time = prop_oneof![
        4 => any::<f64>(),
        2 => 0.0_f64..1e4,
        1 => Just(0.0),
        1 => (0_u32..50).prop_map(f64::from),
    ];
    prop::collection::vec(
        prop::collection::vec(prop::collection::vec(time, 0..8), 0..9),
        0..8,
    )
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * (1.0 + a.abs())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_makes_it_panic(base in anything(), cand in anything()) {
        let verdict = check(&base, &cand);
        let json = render::json(&verdict);
        let parses = |text: String| serde_json::from_str::<serde_json::Value>(&text).is_ok();
        prop_assert!(json.is_ok_and(parses));
        for text in [
            render::text(&verdict),
            render::markdown(&verdict),
            render::junit(&verdict),
        ] {
            let mut words = text.split(|c: char| !c.is_alphanumeric());
            prop_assert!(words.all(|word| word != "NaN" && word != "inf"), "{}", text);
        }
        let passes = verdict.exit_code(Inconclusive::Fail) == 0;
        prop_assert_eq!(passes, verdict.outcome == Outcome::Pass);
        prop_assert!(passes || !render::annotations(&verdict).is_empty());
    }

    #[test]
    fn the_order_of_runs_does_not_matter(
        base in plausible(3..7),
        cand in plausible(2..6),
        turn in 0_usize..6,
    ) {
        let mut turned = cand.clone();
        turned.rotate_left(turn % cand.len());
        let (one, other) = (check(&base, &cand), check(&base, &turned));
        prop_assert_eq!(one.outcome, other.outcome);
        for (a, b) in one.phases.iter().zip(&other.phases) {
            prop_assert!(close(a.ratio, b.ratio) && close(a.high, b.high) && close(a.p, b.p));
        }
    }

    #[test]
    fn the_unit_does_not_matter(base in plausible(3..7), cand in plausible(2..6)) {
        // Away from the absolute floor, that is.
        let up = |grid: &Grid| scaled(grid, None, 1024.0);
        let (one, other) = (check(&base, &cand), check(&up(&base), &up(&cand)));
        prop_assert_eq!(one.outcome, other.outcome);
        for (a, b) in one.phases.iter().zip(&other.phases) {
            // A golden holds six decimals of each log time.
            prop_assert!((a.ratio - b.ratio).abs() < 1e-5 && (a.low - b.low).abs() < 1e-5);
        }
    }

    #[test]
    fn slower_is_never_judged_better(
        base in plausible(3..7),
        cand in plausible(2..6),
        phase in 0_usize..7,
        factor in 1.0_f64..1.5,
    ) {
        let before = check(&base, &cand);
        let after = check(&base, &scaled(&cand, Some(phase), factor));
        let (a, b) = (&before.phases[phase], &after.phases[phase]);
        prop_assert!(b.raw_ratio >= a.raw_ratio * (1.0 - 1e-9));
        if a.verdict == Outcome::Regression {
            prop_assert_eq!(b.verdict, Outcome::Regression);
        }
        if factor > 1.1 {
            prop_assert_ne!(after.outcome, Outcome::Pass);
        }
    }

    #[test]
    fn a_golden_survives_its_text(base in plausible(2..6), cand in plausible(2..6)) {
        let golden = Snapshot::candidate(&Evidence::of(&samples('b', &base), Rules::default()));
        let path = std::path::Path::new("golden.toml");
        let text = golden.to_toml();
        prop_assert!(text.is_ok());
        let back = Snapshot::from_toml(&text.unwrap_or_default(), path);
        prop_assert_eq!(back.as_ref().ok(), Some(&golden));
        let options = Options::default();
        let evidence = Evidence::of(&samples('c', &cand), options.rules);
        let one = judge(Some(&golden), &evidence, &options);
        let other = judge(back.ok().as_ref(), &evidence, &options);
        prop_assert_eq!(one.outcome, other.outcome);
        for (a, b) in one.phases.iter().zip(&other.phases) {
            prop_assert!((a.ratio - b.ratio).abs() < 1e-5, "{} {}", a.ratio, b.ratio);
        }
    }
}
