//! What this crate and replay print fits the schemas of `docs/schemas`.

use crate::schema_check::{load, misfits};

#[test]
fn analysis_and_comparison_of_a_log_fit_theirs() {
    let read = |name: &str| {
        let path = format!("{}/../docs/examples/{name}", env!("CARGO_MANIFEST_DIR"));
        tracefmt::read(&[tracefmt::Source::Path(path.into())])
            .unwrap()
            .0
    };
    let (a, b) = (read("two-workers.log"), read("killed.log"));
    let analysis = crate::analyze(&a, &crate::Options::default());
    assert!(!analysis.gpus.is_empty() && !analysis.regions.is_empty());
    let comparison = crate::compare::compare(&a, &b);
    assert!(!comparison.settings.is_empty());
    for (name, json) in [
        (&analysis.schema, serde_json::to_value(&analysis).unwrap()),
        (
            &comparison.schema,
            serde_json::to_value(&comparison).unwrap(),
        ),
    ] {
        assert_eq!(misfits(&load(name), &json), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn replays_fit_theirs() {
    use replay::explore::{Bounds, explore};
    use replay::report::{Changed, Request, SCHEMA, replay};

    let sizes = [(1 << 30, 0), (17 << 30, 1), (9 << 30, 2)];
    for (bytes, way) in sizes {
        let on_error = if way == 2 {
            r#","on_error":"ignore""#
        } else {
            ""
        };
        let text = format!(
            "{{\"schema\":\"cuzk.ops/1\",\"capacity\":17179869184,\"workers\":2}}\n\
             {{\"op\":\"malloc\",\"id\":1,\"bytes\":{bytes},\"worker\":0,\"job\":\"j\",\
             \"partition\":0,\"buf\":\"d_a\"{on_error}}}\n\
             {{\"op\":\"malloc\",\"id\":2,\"bytes\":9000000000,\"worker\":1,\
             \"rc\":0{on_error}}}\n"
        );
        let schedule = tracefmt::ops::Schedule::read(text.as_bytes()).unwrap();
        assert_eq!(schedule.errors, []);
        let mut report = replay(&schedule, &Request::events("a.jsonl")).unwrap();
        let driver = replay::vram::H200_580;
        let bounds = Bounds {
            states_max: 1 + way,
            ..Bounds::default()
        };
        report.add_explored(explore(&schedule, driver, bounds));
        let change = "workers=1".parse().unwrap();
        report
            .what_if
            .push(Changed::run(&[change], &schedule, driver));
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(misfits(&load(SCHEMA), &json), Vec::<String>::new());
    }
}

#[test]
fn the_schemas_are_where_their_names_say() {
    for name in [
        "diagnosis",
        "analysis",
        "trace_stat",
        "comparison",
        "replay",
    ] {
        assert!(load(&format!("cuzk.{name}/1"))["properties"]["schema"]["const"].is_string());
    }
}
