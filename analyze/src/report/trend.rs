//! A page about a history: what changed, when and with what, and the pictures.

use golden::history::{Cause, Trend};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Figure, figures, page};
use crate::error::AnalyzeError;
use crate::plot::trend::{History, before_and_after, cause_of, panels, single};

/// Phases that get a large picture of their own; the rest is in the small ones.
const LARGE_MAX: usize = 24;

/// The page of a history.
///
/// # Errors
/// [`AnalyzeError::Draw`] when a picture cannot be drawn.
pub fn history_html(history: &History<'_>, title: &str) -> Result<String, AnalyzeError> {
    let small = Figure::drawn("All phases", ALL, |style| panels(history, style))?;
    let sides = Figure::drawn("Before and after", SIDES, |style| {
        before_and_after(history, style)
    })?;
    let mut large = Vec::new();
    for trend in history.trends.iter().take(LARGE_MAX) {
        large.push(Figure::drawn(&trend.phase, "", |style| {
            single(history, trend, style)
        })?);
    }
    let (phases, points) = (history.trends.len(), history.points.len());
    let body = html! {
        header class="unsure" {
            p class="eyebrow" { span class="path" { (title) } }
            h1 { span class="word" { "timings over their history" } }
            p class="sentence" { (phases) " phases over " (points) " points." }
        }
        section { h2 { "Changes of level" } (changes(history)) }
        section {
            (figures::show(&small))
            (figures::show(&sides))
            @for figure in &large { (figures::show(figure)) }
        }
    };
    Ok(whole(title, &body).into_string())
}

const ALL: &str = "Each phase as a ratio to its first level. A line is a level with its 95 % \
                   interval; a band is a change of level, as wide as the data leave it open. It is \
                   laid to a commit only if one changed within the band. Where the shape of the \
                   work changes, ratios begin anew.";
const SIDES: &str = "The points of the level before the last change and of the one after it.";

pub(super) fn whole(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (page::about(&format!("golden: {title}")))
            body {
                main { (body) }
                footer { "Made by cuzk." }
                script { (PreEscaped(page::SCRIPT)) }
            }
        }
    }
}

fn changes(history: &History<'_>) -> Markup {
    let place = |trend: &Trend, at: usize| {
        let point = trend.points.get(at).and_then(|at| history.points.get(*at));
        point.map_or_else(String::new, |point| {
            format!("{} {}", point.commit, point.time).trim().to_owned()
        })
    };
    let rows: Vec<_> = history
        .trends
        .iter()
        .flat_map(|trend| trend.changes.iter().map(move |found| (trend, found)))
        .collect();
    if rows.is_empty() {
        return html! { p { "None." } };
    }
    html! {
        div class="scroll" { table class="grid" {
            thead { tr {
                th { "phase" } th class="n" { "change" } th { "at" } th { "not before" }
                th { "not after" } th { "came with" }
            } }
            tbody { @for (trend, found) in rows { tr {
                td { (trend.phase) }
                td class="n" {
                    @if found.cause == Cause::Key { "other work" }
                    @else { (format!("{:+.1} %", found.change.shift.exp_m1() * 100.0)) }
                }
                td { (place(trend, found.change.at)) }
                td { (place(trend, found.change.low)) }
                td { (place(trend, found.change.high)) }
                td {
                    (cause_of(&found.cause))
                    @if !found.change.confirmed { ", not confirmed yet" }
                }
            } } }
        } }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use golden::history::{Level, Point, trends};
    use golden::stats::ChangeOptions;

    use super::*;
    use crate::plot::trend::By;

    #[test]
    fn the_page_lists_what_changed() {
        let point = |at: usize| Point {
            commit: if at < 20 { "old" } else { "new<b>" }.to_owned(),
            time: "2025-01-01".to_owned(),
            runs: 1,
            phases: BTreeMap::from([(
                "p<script>".to_owned(),
                Level {
                    ln_ms: if at < 20 { 4.0 } else { 4.1 } + [0.0, 0.004, -0.003][at % 3],
                    error: 0.0,
                },
            )]),
            ..Point::default()
        };
        let points: Vec<Point> = (0..40).map(point).collect();
        let trends = trends(&points, &ChangeOptions::default());
        let history = History {
            points: &points,
            trends: &trends,
            by: By::Dates,
        };
        let page = history_html(&history, "a history").unwrap();
        assert!(
            page.contains("+10.5 %") && page.contains("new&lt;b&gt;"),
            "{page}"
        );
        assert!(!page.contains("p<script>"));
        assert!(
            page.matches("<svg").count() >= 9,
            "three pictures at three widths"
        );
        let none = History {
            trends: &[],
            ..history
        };
        assert!(history_html(&none, "").unwrap().contains("None."));
    }
}
