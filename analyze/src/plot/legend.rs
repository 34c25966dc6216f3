//! Legend: swatches with words, wrapped to the width of the picture.

use super::font;
use super::palette::Role;
use super::scene::{Anchor, Ink, Scene};

const ROW: f64 = 18.0;
const SWATCH: f64 = 11.0;

/// Draws the entries from left to right in as many rows as they need, and moves the scene on.
pub(super) fn draw(scene: &mut Scene, entries: &[(Role, &str)]) {
    if entries.is_empty() {
        return;
    }
    let ink = Ink::note();
    let (left, right) = (12.0, scene.width - 8.0);
    let (mut x, mut y) = (left, scene.height + ROW / 2.0 + 2.0);
    for (role, words) in entries {
        let words = font::fit(words, ink.size, false, right - left - SWATCH - 5.0);
        let width = SWATCH + 5.0 + font::width(&words, ink.size, false);
        if x > left && x + width > right {
            x = left;
            y += ROW;
        }
        let half = SWATCH / 2.0;
        scene.rect([x, y - half, x + SWATCH, y + half], *role, 1.0);
        scene.text((x + SWATCH + 5.0, y), Anchor::Start, &words, ink);
        x += width + 16.0;
    }
    scene.height = y + ROW / 2.0 + 4.0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_wrap_and_stay_inside() {
        let mut scene = Scene::new(320.0);
        let words = "a rather long entry of the legend";
        draw(
            &mut scene,
            &[
                (Role::Kernel, words),
                (Role::Hold, words),
                (Role::Call, words),
            ],
        );
        let labels: Vec<_> = scene
            .labels()
            .map(super::super::scene::Label::bounds)
            .collect();
        assert_eq!(labels.len(), 3);
        assert!(labels.iter().all(|b| b[2] <= 320.0));
        assert!(labels[2][1] > labels[0][1], "wrapped");
        assert!(scene.height >= labels[2][3]);
    }
}
