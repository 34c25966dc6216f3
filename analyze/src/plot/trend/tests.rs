//! Pictures of histories: labels inside and apart, every number finite, changes in their colour.

use std::collections::BTreeMap;

use golden::history::{Level, trends};
use golden::stats::ChangeOptions;

use super::*;
use crate::plot::testing::misplaced;
use crate::plot::{Shape, svg_of};

/// `(points, level in ms, commit, key)` in a row, for `phases` phases.
fn points(parts: &[(usize, f64, &str, &str)], phases: usize) -> Vec<Point> {
    let mut out: Vec<Point> = Vec::new();
    for (count, ms, commit, key) in parts {
        for _ in 0..*count {
            let at = out.len();
            let wiggle = [0.0, 0.004, -0.003, 0.002, -0.004, 0.001, 0.003][at % 7];
            let level = Level {
                ln_ms: ms.ln() + wiggle,
                error: 0.002,
            };
            let names = (0..phases).map(|n| format!("phase_with_a_name_{n}"));
            out.push(Point {
                commit: (*commit).to_owned(),
                time: format!("2025-{:02}-{:02}", 1 + at / 28 % 12, 1 + at % 28),
                key: (*key).to_owned(),
                runs: 3,
                phases: names.map(|name| (name, level)).collect(),
            });
        }
    }
    out
}

fn all(points: &[Point]) -> Vec<Trend> {
    trends(points, &ChangeOptions::default())
}

fn has(scene: &Scene, role: Role) -> bool {
    scene.shapes.iter().any(|shape| match shape {
        Shape::Rect {
            role: of, alpha, ..
        } => *of == role && *alpha < 0.5,
        _ => false,
    })
}

const STORY: &[(usize, f64, &str, &str)] = &[
    (30, 100.0, "a", "k"),
    (30, 112.0, "b", "k"),
    (30, 95.0, "c", "k"),
    (30, 103.0, "c", "k"),
    (20, 400.0, "d", "l"),
];

#[test]
fn figures_of_other_work_each_stand_side_by_side() {
    let parts = [("a", 45.0), ("b", 42.0), ("c", 60.0), ("d", 38.0)];
    let parts: Vec<_> = parts
        .iter()
        .map(|(name, ms)| (1, *ms, *name, *name))
        .collect();
    let points = points(&parts, 1);
    let trends = all(&points);
    let history = History {
        points: &points,
        trends: &trends,
        by: By::Commits,
    };
    let scene = panels(&history, Style::default());
    let mut heights: Vec<f64> = scene
        .shapes
        .iter()
        .filter_map(|shape| match shape {
            Shape::Dot { at, .. } => Some(at.1),
            _ => None,
        })
        .collect();
    heights.sort_by(f64::total_cmp);
    heights.dedup();
    assert_eq!(heights.len(), 4, "not all on one line");
    assert!(
        scene
            .labels()
            .any(|label| label.text.ends_with(", other work each"))
    );
    assert!(has(&scene, Role::Queue), "and each is a change of shape");
}

#[test]
fn labels_stay_inside_and_apart_at_every_width() {
    for (phases, by) in [(1, By::Dates), (5, By::Commits), (12, By::Dates)] {
        let points = points(STORY, phases);
        let trends = all(&points);
        let history = History {
            points: &points,
            trends: &trends,
            by,
        };
        for width in [320, 350, 680, 1080, 1600] {
            let style = Style {
                width,
                ..Style::default()
            };
            for scene in [
                panels(&history, style),
                single(&history, &trends[0], style),
                before_and_after(&history, style),
            ] {
                assert_eq!(misplaced(&scene), [""; 0], "{width} {phases} {by:?}");
                assert!(!scene.summary.is_empty() && scene.height > 50.0);
            }
        }
    }
}

#[test]
fn every_kind_of_change_has_its_colour() {
    let points = points(STORY, 1);
    let trends = all(&points);
    let causes: Vec<String> = trends[0]
        .changes
        .iter()
        .map(|c| cause_of(&c.cause))
        .collect();
    assert_eq!(causes, ["b", "c", "machine", "shape"]);
    let history = History {
        points: &points,
        trends: &trends,
        by: By::Dates,
    };
    let scene = single(&history, &trends[0], Style::default());
    for role in [Role::Bad, Role::Barrier, Role::Starved, Role::Queue] {
        assert!(has(&scene, role), "{role:?}");
    }
    let words: Vec<&str> = scene.labels().map(|label| label.text.as_str()).collect();
    assert!(
        words.contains(&"+12.0 % b") && words.contains(&"shape"),
        "{words:?}"
    );
    assert!(
        words.iter().any(|word| word.ends_with("% machine")),
        "{words:?}"
    );
    assert!(scene.zones.iter().any(|zone| zone.text.contains("between")));
}

#[test]
fn before_and_after_show_the_last_change_that_compares() {
    let points = points(STORY, 2);
    let trends = all(&points);
    let history = History {
        points: &points,
        trends: &trends,
        by: By::Commits,
    };
    let scene = before_and_after(&history, Style::default());
    let counts = scene.labels().filter(|label| label.text == "n 30").count();
    assert_eq!(counts, 4, "both sides of both phases");
    let still = self::points(&[(30, 5.0, "a", "k")], 1);
    let trends = all(&still);
    let history = History {
        points: &still,
        trends: &trends,
        by: By::Commits,
    };
    let scene = before_and_after(&history, Style::default());
    assert_eq!(
        scene.labels().last().unwrap().text,
        "no confirmed change of level"
    );
}

#[test]
fn a_long_history_is_drawn_as_columns() {
    let points = points(&[(9_000, 100.0, "a", "k"), (1_000, 112.0, "b", "k")], 1);
    let trends = all(&points);
    let history = History {
        points: &points,
        trends: &trends,
        by: By::Commits,
    };
    let scene = panels(&history, Style::default());
    assert!(scene.shapes.len() < 3_000, "{}", scene.shapes.len());
    assert!(svg_of(&scene, crate::plot::Theme::Light).unwrap().len() < 400_000);
}

#[test]
fn nothing_and_nonsense_are_drawn_too() {
    let empty = History {
        points: &[],
        trends: &[],
        by: By::Dates,
    };
    let scene = panels(&empty, Style::default());
    assert!(scene.labels().any(|label| label.text == "no phase to draw"));
    let mut points = points(&[(8, 1e-9, "", ""), (8, 1e12, "", "")], 1);
    points[3].phases = BTreeMap::new();
    let trends = all(&points);
    let history = History {
        points: &points,
        trends: &trends,
        by: By::Dates,
    };
    for scene in [
        panels(&history, Style::default()),
        before_and_after(&history, Style::default()),
    ] {
        assert_eq!(misplaced(&scene), [""; 0]);
        assert!(scene.height.is_finite());
    }
}
