//! The table of regions: fixed columns, then one a phase, null where a region has no such line.

use std::collections::BTreeSet;

use polars::prelude::Column;

use super::columns::{column, sureness};
use crate::model::Region;

/// The columns.
pub(super) fn columns(regions: &[Region]) -> Vec<Column> {
    let all = || regions.iter();
    let kernel = |region: &Region| {
        region
            .kernels
            .iter()
            .map(|[from, to]| to - from)
            .sum::<f64>()
    };
    let mut out = vec![
        column("run", all().map(|region| region.run)),
        column("job", all().map(|region| &*region.job)),
        column("partition", all().map(|region| region.partition)),
        column("worker", all().map(|region| region.worker)),
        column("gpu", all().map(|region| region.gpu)),
        column("start_ms", all().map(|region| region.start_ms)),
        column("end_ms", all().map(|region| region.end_ms)),
        column("kernel_ms", all().map(kernel)),
        column(
            "confidence",
            all().map(|region| sureness(region.confidence)),
        ),
        column(
            "candidates",
            all().map(|region| region.candidates.len() as u64),
        ),
        column(
            "line",
            all().map(|region| region.lines.first().map(|line| u64::from(*line))),
        ),
    ];
    let names = all().flat_map(|region| region.phases.iter().map(|(name, _)| name));
    let names: BTreeSet<&str> = names.collect();
    for name in names {
        // Apart from the columns above, which no phase of a trace may replace.
        let title = format!("phase.{name}");
        out.push(column(&title, all().map(|region| region.phases.get(name))));
    }
    out
}
