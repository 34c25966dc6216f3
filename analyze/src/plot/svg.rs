//! A scene as SVG. The backend writes the light colours; here they become CSS variables with
//! the light colour as fallback, so that one picture follows the theme of the page it is in.

use std::fmt::Write as _;

use plotters::backend::SVGBackend;

use super::paint::{Paint, whole};
use super::palette::{Role, Theme, css};
use super::scene::{Scene, Zone};
use crate::error::AnalyzeError;

/// A self-contained document.
pub(super) fn render(scene: &Scene, theme: Theme) -> Result<String, AnalyzeError> {
    let style = match theme {
        Theme::Light => String::new(),
        Theme::Dark => format!("<style>:root{{{}}}</style>", css(Theme::Dark)),
        Theme::Auto => format!(
            "<style>:root{{{}}}@media(prefers-color-scheme:dark){{:root{{{}}}}}</style>",
            css(Theme::Light),
            css(Theme::Dark)
        ),
    };
    fragment(scene, &style)
}

/// The `svg` element alone, for a page that declares the colours.
pub(super) fn embed(scene: &Scene) -> Result<String, AnalyzeError> {
    fragment(scene, "")
}

fn fragment(scene: &Scene, style: &str) -> Result<String, AnalyzeError> {
    let size = (
        whole(scene.width).unsigned_abs(),
        whole(scene.height).unsigned_abs(),
    );
    let mut drawn = String::new();
    let paint = Paint {
        theme: Theme::Light,
        scale: 1.0,
    };
    let mut backend = SVGBackend::with_string(&mut drawn, size);
    let painted = paint.scene(scene, &mut backend);
    drop(backend);
    painted.map_err(|error| AnalyzeError::Draw {
        what: "svg",
        width: size.0,
        height: size.1,
        why: error.to_string(),
    })?;
    let body = drawn.split_once(">\n").map_or("", |(_, body)| body);
    let body = body.trim_end().strip_suffix("</svg>").unwrap_or(body);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" \
         viewBox=\"0 0 {w} {h}\" role=\"img\" aria-label=\"{label}\">\n{style}",
        w = size.0,
        h = size.1,
        label = escape(&scene.summary),
    );
    out.push_str(&themed(body));
    for zone in &scene.zones {
        push_zone(&mut out, zone);
    }
    out.push_str("</svg>\n");
    Ok(out)
}

fn push_zone(out: &mut String, zone: &Zone) {
    let [left, top, right, bottom] = zone.bounds;
    // Writing to a String cannot fail.
    let written = write!(
        out,
        "<rect class=\"zone\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
         fill=\"none\" pointer-events=\"all\"><title>{}</title></rect>",
        left,
        top,
        (right - left).max(0.0),
        (bottom - top).max(0.0),
        escape(&zone.text),
    );
    debug_assert!(written.is_ok(), "a String takes all that is written");
    out.push('\n');
}

/// Light colours to variables; attributes that say what is the default anyway are dropped.
fn themed(body: &str) -> String {
    let mut out = body
        .replace(" opacity=\"1\"", "")
        .replace(" stroke=\"none\"", "")
        .replace("\n</text>", "</text>");
    for role in Role::ALL {
        let colour = format!("\"#{:06X}\"", role.light());
        let variable = format!("\"var(--{},#{:06x})\"", role.css(), role.light());
        out = out.replace(&colour, &variable);
    }
    out
}

/// Text made safe for element content and attributes; control characters that XML forbids
/// become the replacement character.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::scene::{Anchor, Ink};
    use super::*;

    fn small() -> Scene {
        let mut scene = Scene::new(400.0);
        scene.title("a < b & \"c\"");
        scene.rect([10.0, 40.0, 50.0, 60.0], Role::Kernel, 0.5);
        scene.text((10.0, 70.0), Anchor::Start, "fill=\"#FFFFFF\"", Ink::name());
        scene.zone([10.0, 40.0, 50.0, 60.0], "<script>&'\u{1}".to_owned());
        scene.height = 100.0;
        scene
    }

    #[test]
    fn texts_are_escaped_and_colours_become_variables() {
        let svg = render(&small(), Theme::Auto).unwrap();
        assert!(svg.contains("a &lt; b &amp; &quot;c&quot;"), "{svg}");
        assert!(svg.contains("fill=\"var(--kernel,#0072b2)\""), "{svg}");
        assert!(
            svg.contains("<title>&lt;script&gt;&amp;&#39;\u{fffd}</title>"),
            "{svg}"
        );
        assert!(
            svg.contains("fill=&quot;#FFFFFF&quot;"),
            "a text is no colour: {svg}"
        );
        assert!(svg.contains("prefers-color-scheme:dark"));
    }

    #[test]
    fn no_bare_colour_is_left() {
        let svg = embed(&small()).unwrap();
        assert!(!svg.contains("fill=\"#"), "{svg}");
        assert!(!svg.contains("<style>"));
    }
}
