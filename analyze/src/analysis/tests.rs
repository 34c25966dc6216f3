//! The results fit their schemas.

use super::*;
use crate::model::SCHEMA;
use crate::schema_check::{load, misfits};

#[path = "../../tests/common/mod.rs"]
mod common;

use common::{Part, Shape, simulate};

#[test]
fn results_fit_their_schemas() {
    for shape in [Shape::Old, Shape::Registered, Shape::Locked, Shape::Own] {
        let parts: Vec<Part> = (0..24)
            .map(|at| Part {
                synth_start: at * 9_000_000,
                prep: 4_000_000,
                ..Part::default()
            })
            .collect();
        let (trace, _) = simulate(shape, &parts, 10, (1, 2));
        let analysis = analyze(&trace, &Options::default());
        assert!(!analysis.findings.is_empty() && !analysis.critical_path.is_empty());
        let json = serde_json::to_value(&analysis).unwrap();
        assert_eq!(misfits(&load(SCHEMA), &json), Vec::<String>::new());
        let back: Analysis = serde_json::from_value(json).unwrap();
        assert_eq!(back, analysis);
        let comparison = crate::compare(&trace, &trace);
        let json = serde_json::to_value(&comparison).unwrap();
        let schema = load(crate::compare::SCHEMA);
        assert_eq!(misfits(&schema, &json), Vec::<String>::new());
    }
}
