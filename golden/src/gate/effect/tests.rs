//! The test of all lines, on made times.

use super::*;

/// Lines of `runs` against `runs` with a fixed zigzag of size `noise`, the first one shifted.
fn lines(runs: usize, noise: f64, shift: f64) -> Vec<Line> {
    let options = Options::default();
    let margins = options.margins(100.0, 0.0);
    (0..12)
        .map(|phase| {
            let at = |run: usize, seed: usize| {
                let step = (run * 7 + phase * 5 + seed) * 2_654_435_761 % 1_000;
                4.6 + noise * (step as f64 / 500.0 - 1.0)
            };
            let own = if phase == 0 { shift } else { 0.0 };
            let sides = Sides {
                base: (0..runs).map(|run| at(run, 1)).collect(),
                cand: (0..runs).map(|run| at(run, 977) + own).collect(),
            };
            Line {
                sides,
                margins,
                ..Line::default()
            }
        })
        .collect()
}

#[test]
fn a_large_shift_is_found_and_the_rest_holds() {
    let got = effects(&lines(5, 0.01, 0.1), &Options::default());
    assert!(
        got.lines[0].slower && !got.lines[0].held,
        "{:?}",
        got.lines[0]
    );
    assert!((got.lines[0].shift - 0.1).abs() < 0.02);
    assert!(got.lines[1..].iter().all(|line| !line.slower && line.held));
    assert!(!got.machine.unwrap().slower);
}

#[test]
fn noise_hides_it_and_says_how_much_more_is_needed() {
    let got = effects(&lines(4, 0.15, 0.05), &Options::default());
    let line = got.lines[0];
    assert!(!line.slower && !line.held);
    assert!(line.mde > 0.1, "{line:?}");
    let quiet = effects(&lines(12, 0.02, 0.0), &Options::default());
    assert!(
        quiet.lines[0].runs_needed.unwrap() < 12,
        "{:?}",
        quiet.lines[0]
    );
}

#[test]
fn a_uniform_shift_is_the_machine() {
    let mut lines = lines(5, 0.005, 0.0);
    for line in &mut lines {
        for x in &mut line.sides.cand {
            *x += 0.1;
        }
    }
    let got = effects(&lines, &Options::default());
    assert!(got.machine.unwrap().slower);
    assert!(
        got.lines
            .iter()
            .all(|line| !line.slower && (line.raw - 0.1).abs() < 0.02)
    );
    // Not silently absorbed: no phase passes either.
    assert!(got.lines.iter().all(|line| !line.held));
}

#[test]
fn groups_of_phases_are_no_common_shift() {
    for (moved, shift, slower) in [
        (6, -0.1, 0),
        (5, 0.1, 5),
        (7, 0.1, 7),
        (11, -0.1, 0),
        (3, 0.1, 3),
    ] {
        let mut lines = lines(8, 0.01, 0.0);
        for line in &mut lines[..moved] {
            for x in &mut line.sides.cand {
                *x += shift;
            }
        }
        let got = effects(&lines, &Options::default());
        let red = got.lines.iter().filter(|line| line.slower).count();
        assert_eq!(red, slower, "{moved} by {shift}: {:?}", got.split);
        let machine = got.machine.unwrap();
        assert!(!machine.slower || got.split.is_some(), "{moved} by {shift}");
        let still = &got.lines[moved..];
        assert!(still.iter().all(|line| line.held), "{moved} by {shift}");
    }
}

#[test]
fn slower_than_the_rest_and_not_as_measured_is_no_regression() {
    let mut lines = lines(8, 0.005, 0.0);
    for (at, line) in lines.iter_mut().enumerate() {
        for x in &mut line.sides.cand {
            *x -= if at == 0 { 0.06 } else { 0.1 };
        }
    }
    let got = effects(&lines, &Options::default());
    assert!(got.split.is_none() && got.lines[0].shift > 0.03);
    assert!(!got.lines[0].slower, "{:?}", got.lines[0]);
}

#[test]
fn one_run_or_no_spread_proves_nothing() {
    let mut one = lines(5, 0.01, 0.5);
    for line in &mut one {
        line.sides.cand.truncate(1);
    }
    let got = effects(&one, &Options::default());
    assert!(got.lines.iter().all(|line| !line.slower && !line.held));
    let still = effects(&lines(5, 0.0, 0.0), &Options::default());
    assert!(still.lines.iter().all(|line| !line.slower && !line.held));
}

#[test]
fn ranks_of_six_or_more_runs_agree_with_a_real_shift_only() {
    let got = effects(&lines(8, 0.01, 0.1), &Options::default());
    assert!(got.lines[0].slower, "{:?}", got.lines[0]);
    for (base, cand) in [(6, 6), (8, 30), (30, 8)] {
        let side = |runs: usize| (0..runs).map(|run| run as f64 * 1e-3).collect::<Vec<_>>();
        let up = side(cand).iter().map(|x| x + 0.2).collect();
        let shifted = Line {
            sides: Sides {
                base: side(base),
                cand: up,
            },
            ..Line::default()
        };
        assert!(ranks_agree(&shifted), "{base} against {cand}");
        let same = Sides {
            base: side(base),
            cand: side(base),
        };
        assert!(!ranks_agree(&Line {
            sides: same,
            ..Line::default()
        }));
    }
}

#[test]
fn one_wild_run_is_not_a_regression() {
    let mut wild = lines(6, 0.004, 0.0);
    wild[3].sides.cand[2] += 1.5;
    let got = effects(&wild, &Options::default());
    assert!(
        !got.lines[3].slower && !got.lines[3].held,
        "{:?}",
        got.lines[3]
    );
}

#[test]
fn what_a_tick_can_hide_is_no_pass_with_any_number_of_runs() {
    let options = Options::default();
    let mut coarse = lines(30, 0.0005, 0.0);
    coarse[2].margins = options.margins(10.0, 1.0);
    coarse[3].margins = options.margins(100.0, 1.0);
    let got = effects(&coarse, &options);
    assert!(!got.lines[2].held && got.lines[2].runs_needed.is_none());
    assert!(got.lines[3].held, "a hundred ticks: {:?}", got.lines[3]);
    // Two ticks more are seen all the same.
    for x in &mut coarse[2].sides.cand {
        *x += 1.3_f64.ln();
    }
    assert!(effects(&coarse, &options).lines[2].slower);
    coarse[2].ungated = true;
    assert!(!effects(&coarse, &options).lines[2].slower, "on request");
}

#[test]
fn a_control_is_no_part_of_the_family() {
    let mut with = lines(5, 0.01, 0.1);
    with[0].control = true;
    let got = effects(&with, &Options::default());
    assert!(!got.lines[0].slower);
    assert!(
        got.machine.unwrap().slower,
        "the control moved: so did the machine"
    );
}

#[test]
fn a_phase_that_is_not_gated_stands_on_its_own_runs() {
    let mut all = lines(4, 0.001, 0.0);
    let restless = [-0.6, 0.4, -0.5, 0.7];
    for (x, more) in all[1].sides.base.iter_mut().zip(restless) {
        *x += more;
    }
    all[1].ungated = true;
    let got = effects(&all, &Options::default()).lines[1];
    let alone = effects(&all[1..2], &Options::default()).lines[0];
    let width = |effect: &Effect| effect.interval.1 - effect.interval.0;
    assert!(
        width(&got) > 0.9 * width(&alone),
        "{got:?} and alone {alone:?}"
    );
    assert!(got.mde > 0.5, "{got:?}");
}

#[test]
fn a_restless_phase_among_quiet_ones_is_not_taken_for_one() {
    let mut all = lines(4, 0.001, 0.0);
    for (x, more) in all[1].sides.base.iter_mut().zip([-0.6, 0.4, -0.5, 0.7]) {
        *x += more;
    }
    let got = effects(&all, &Options::default()).lines[1];
    assert!(!got.held && !got.slower && got.mde > 0.5, "{got:?}");
}
