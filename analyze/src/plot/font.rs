//! Widths of labels, from the font that PNGs are drawn with. A browser may choose another font
//! for an SVG; this one is wider than the usual ones, so a label that fits here fits there.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef};

static REGULAR: LazyLock<Option<FontRef<'static>>> =
    LazyLock::new(|| load(include_bytes!("../../assets/labels-regular.ttf")));
static BOLD: LazyLock<Option<FontRef<'static>>> =
    LazyLock::new(|| load(include_bytes!("../../assets/labels-bold.ttf")));

fn load(bytes: &'static [u8]) -> Option<FontRef<'static>> {
    FontRef::try_from_slice(bytes).ok()
}

/// The embedded font; `None` only if its file in this repository is broken.
pub(super) fn face(bold: bool) -> Option<&'static FontRef<'static>> {
    if bold {
        BOLD.as_ref()
    } else {
        REGULAR.as_ref()
    }
}

/// Width of a text in pixels at `size` pixels an em.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let guess = || 0.65 * size * text.chars().count() as f64;
    face(bold).map_or_else(guess, |font| {
        let units = f64::from(font.units_per_em().unwrap_or(2048.0));
        let advance = |c| f64::from(font.h_advance_unscaled(font.glyph_id(c)));
        text.chars().map(advance).sum::<f64>() / units * size
    })
}

/// The text, cut with an ellipsis to at most `room` pixels; empty when not even that fits.
pub(super) fn fit(text: &str, size: f64, bold: bool, room: f64) -> String {
    if width(text, size, bold) <= room {
        return text.to_owned();
    }
    let mut out = String::new();
    let dots = width("…", size, bold);
    for c in text.chars() {
        out.push(c);
        if width(&out, size, bold) + dots > room {
            out.pop();
            break;
        }
    }
    if out.is_empty() {
        return out;
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_fonts_load_and_hold_the_signs_that_labels_use() {
        for bold in [false, true] {
            let font = face(bold).unwrap();
            for c in "AZaz09 %·…–×µ≥→".chars() {
                assert_ne!(font.glyph_id(c).0, 0, "{c:?} is missing, bold: {bold}");
            }
        }
    }

    #[test]
    fn texts_are_cut_to_the_room_they_have() {
        let all = width("synthesis", 12.0, false);
        assert!((40.0..80.0).contains(&all), "{all}");
        assert_eq!(fit("synthesis", 12.0, false, all + 0.1), "synthesis");
        let cut = fit("synthesis", 12.0, false, all / 2.0);
        assert!(
            cut.ends_with('…') && width(&cut, 12.0, false) <= all / 2.0,
            "{cut}"
        );
        assert_eq!(fit("synthesis", 12.0, false, 3.0), "");
    }
}
