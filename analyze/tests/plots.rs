//! The plots: nothing outside the picture, no two labels on top of each other, every number
//! finite, texts escaped, the same bytes each time.
#![cfg(feature = "plots")]

mod sim;

use analyze::plot::{
    Kind, Memory, Scene, Shape, Style, Theme, memory_scene, png, scene, svg, vram_scene,
};
use sim::{ODD_ID, Size};

const WIDTHS: [u32; 3] = [380, 720, 1120];

fn check(scene: &Scene, name: &str) {
    assert!(
        scene.width > 0.0 && scene.height > 40.0 && scene.height < 3000.0,
        "{name}"
    );
    let labels: Vec<_> = scene.labels().collect();
    for (n, label) in labels.iter().enumerate() {
        let a = label.bounds();
        let inside = a[0] >= 0.0 && a[1] >= 0.0 && a[2] <= scene.width && a[3] <= scene.height;
        assert!(
            inside,
            "{name}: {:?} at {a:?} leaves the picture",
            label.text
        );
        for other in &labels[n + 1..] {
            let b = other.bounds();
            let apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
            assert!(
                apart,
                "{name}: {:?} {a:?} over {:?} {b:?}",
                label.text, other.text
            );
        }
    }
    for shape in &scene.shapes {
        let finite = match shape {
            Shape::Rect { bounds, .. } => bounds.iter().all(|n| n.is_finite()),
            Shape::Line { points, .. } | Shape::Area { points, .. } => {
                points.iter().all(|(x, y)| x.is_finite() && y.is_finite())
            }
            Shape::Dot { at, .. } => at.0.is_finite() && at.1.is_finite(),
            Shape::Text(label) => label.at.0.is_finite(),
        };
        assert!(finite, "{name}: {shape:?}");
    }
}

#[test]
fn labels_stay_inside_and_apart_at_all_sizes() {
    for (name, size) in [("small", Size::SMALL), ("large", Size::LARGE)] {
        let (mut trace, analysis) = sim::run(size);
        sim::with_panic(&mut trace);
        for kind in Kind::ALL {
            for width in WIDTHS {
                let style = Style {
                    width,
                    ..Style::default()
                };
                let scene = scene(kind, &trace.runs[0], &analysis, style);
                check(&scene, &format!("{name} {} {width}", kind.as_str()));
            }
        }
    }
}

#[test]
fn memory_has_room_for_its_labels() {
    for (name, size) in [("small", Size::SMALL), ("large", Size::LARGE)] {
        let (mut trace, analysis) = sim::run(size);
        sim::with_memory(&mut trace, &analysis);
        let run = &trace.runs[0];
        let cards = run
            .config
            .gpus
            .iter()
            .filter_map(|gpu| Memory::recorded(run, *gpu));
        let mut cards: Vec<Memory> = cards.collect();
        assert_eq!(cards.len(), run.config.gpus.len());
        assert_eq!(
            cards.iter().map(|card| card.failures.len()).sum::<usize>(),
            1
        );
        cards[0].name = "a card with a rather long name, 1234567890".to_owned();
        for width in WIDTHS {
            let style = Style {
                width,
                ..Style::default()
            };
            let scene = memory_scene(&cards, (0.0, 1e6), style);
            check(&scene, &format!("{name} memory {width}"));
            assert!(
                scene.summary.contains("at most 12.0 GiB"),
                "{}",
                scene.summary
            );
        }
    }
}

#[test]
fn a_large_run_stays_a_small_file() {
    let (trace, analysis) = sim::run(Size::LARGE);
    for kind in Kind::ALL {
        let svg = svg(kind, &trace.runs[0], &analysis, Style::default()).unwrap();
        assert!(
            svg.len() < 1_000_000,
            "{}: {} bytes",
            kind.as_str(),
            svg.len()
        );
    }
}

#[test]
fn job_ids_are_escaped_in_svg() {
    let (trace, analysis) = sim::run(Size::SMALL);
    let svg = svg(Kind::Waterfall, &trace.runs[0], &analysis, Style::default()).unwrap();
    assert!(!svg.contains(ODD_ID));
    assert!(!svg.contains("</script>"));
    assert!(svg.contains("wd&lt;post&gt;&amp;&quot;x&quot;-&#39;1&#39;-[3 5]%2C"));
    assert!(!svg.contains("NaN") && !svg.contains("inf\""));
}

#[test]
fn pictures_are_the_same_each_time_and_differ_by_theme() {
    let (trace, analysis) = sim::run(Size::SMALL);
    let draw = |theme| {
        let style = Style {
            theme,
            width: 600,
            ..Style::default()
        };
        png(Kind::Utilisation, (&trace.runs[0], &analysis), style, 1).unwrap()
    };
    assert_eq!(draw(Theme::Light), draw(Theme::Light));
    assert_eq!(draw(Theme::Light), draw(Theme::Auto));
    assert_ne!(draw(Theme::Light), draw(Theme::Dark));
}

#[test]
fn an_empty_run_says_so() {
    let (mut trace, mut analysis) = sim::run(Size::SMALL);
    trace.runs[0].tasks.clear();
    analysis.regions.clear();
    analysis.gpus.clear();
    analysis.phases.clear();
    for kind in Kind::ALL {
        let scene = scene(kind, &trace.runs[0], &analysis, Style::default());
        check(&scene, kind.as_str());
        assert!(
            scene.summary.contains("The log"),
            "{}: {}",
            kind.as_str(),
            scene.summary
        );
    }
}

/// Writes all pictures where a person can look at them.
#[test]
fn all_pictures_can_be_written() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("plots");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, size) in [("small", Size::SMALL), ("large", Size::LARGE)] {
        let (mut trace, analysis) = sim::run(size);
        sim::with_panic(&mut trace);
        for kind in Kind::ALL {
            let stem = format!("{name}-{}", kind.as_str());
            let drawn = svg(kind, &trace.runs[0], &analysis, Style::default()).unwrap();
            assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"));
            std::fs::write(folder.join(format!("{stem}.svg")), drawn).unwrap();
            // Twice as large takes seconds in a debug build.
            let scale = if std::env::var_os("CUZK_PICTURES").is_some() {
                2
            } else {
                1
            };
            for (theme, suffix) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
                let style = Style {
                    theme,
                    ..Style::default()
                };
                let file = png(kind, (&trace.runs[0], &analysis), style, scale).unwrap();
                assert!(file.starts_with(b"\x89PNG\r\n"));
                std::fs::write(folder.join(format!("{stem}-{suffix}.png")), file).unwrap();
            }
        }
    }
}

#[test]
fn memory_of_a_replay_fits_at_all_widths_with_time_and_with_steps() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../replay/testdata/scenarios");
    for case in [
        "vram.late_free/d_bc_after_unlock",
        "vram.swallowed_oom/h_msm_beside_d_bc",
        "host.over_budget/thirty_proofs_twenty_at_once",
    ] {
        let text = std::fs::read(format!("{corpus}/{case}/sick.jsonl")).unwrap();
        let schedule = tracefmt::ops::Schedule::read(text.as_slice()).unwrap();
        let times: Vec<f64> = (0..schedule.steps.len())
            .map(|at| at as f64 * 700.0)
            .collect();
        for times in [None, Some(times.as_slice())] {
            let change = Some("workers=1");
            let lanes = analyze::vram::lanes(&schedule, times, replay::vram::H200_580, change);
            assert!(lanes.len() > 1 && lanes.iter().any(|lane| !lane.failures.is_empty()));
            for width in WIDTHS {
                let style = Style {
                    width,
                    ..Style::default()
                };
                let scene = vram_scene(&lanes, style);
                check(&scene, &format!("{case} {width}"));
                assert!(scene.summary.contains("fails") || scene.summary.contains("fail"));
                assert!(!scene.zones.is_empty(), "a word on each failure");
            }
        }
    }
    let none = vram_scene(&[], Style::default());
    check(&none, "nothing");
}
