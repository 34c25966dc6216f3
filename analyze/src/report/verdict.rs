//! A page about a candidate and its golden: the verdict, its picture and its table.

use golden::render::{headline, text};
use maud::html;

use super::{Figure, figures, trend};
use crate::error::AnalyzeError;
use crate::plot::{Checked, verdict};

const CAPTION: &str = "Each dot is a run: above of the golden, below of the candidate. The bar is \
                       the change with its 95 % interval, without what all phases did together; \
                       the dashed line is what a pass excludes.";

/// The page of a check; `title` names the candidate.
///
/// # Errors
/// [`AnalyzeError::Draw`] when the picture cannot be drawn.
pub fn verdict_html(checked: &Checked<'_>, title: &str) -> Result<String, AnalyzeError> {
    let draw = |style| verdict(checked, style);
    let figure = Figure::drawn("Runs of the golden and of the candidate", CAPTION, draw)?;
    let body = html! {
        header class="unsure" {
            p class="eyebrow" { span class="path" { (title) } }
            h1 { span class="word" { (checked.verdict.outcome.as_str().replace('_', " ")) } }
            p class="sentence" { (headline(checked.verdict)) "." }
        }
        section { (figures::show(&figure)) }
        section {
            h2 { "All that the gate says" }
            div class="scroll" { pre { (text(checked.verdict)) } }
        }
    };
    Ok(trend::whole(title, &body).into_string())
}

#[cfg(test)]
mod tests {
    use golden::evidence::Evidence;
    use golden::gate::{Options, judge};
    use golden::snapshot::Snapshot;

    use super::*;

    #[test]
    fn the_page_says_the_verdict_and_escapes_what_it_quotes() {
        let verdict = judge(None, &Evidence::default(), &Options::default());
        let checked = Checked {
            golden: &Snapshot::default(),
            candidate: &Snapshot::default(),
            verdict: &verdict,
        };
        let page = verdict_html(&checked, "a<b>.golden.new").unwrap();
        assert!(page.contains("not comparable") && page.contains("NOT COMPARABLE"));
        assert!(page.contains("a&lt;b&gt;") && !page.contains("a<b>"));
        assert_eq!(page.matches("<svg").count(), 3);
    }
}
