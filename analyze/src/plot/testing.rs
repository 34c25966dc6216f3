//! What holds for every picture.

use super::scene::Scene;

/// Labels that leave the picture or touch another one.
pub(super) fn misplaced(scene: &Scene) -> Vec<String> {
    let labels: Vec<_> = scene
        .labels()
        .map(|label| (label.bounds(), &label.text))
        .collect();
    let mut found = Vec::new();
    for (at, (a, text)) in labels.iter().enumerate() {
        if a[0] < 0.0 || a[1] < 0.0 || a[2] > scene.width || a[3] > scene.height {
            found.push(format!("{text} leaves the picture"));
        }
        for (b, other) in labels.iter().skip(at + 1) {
            if a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3] {
                found.push(format!("{text} lies on {other}"));
            }
        }
    }
    found
}
