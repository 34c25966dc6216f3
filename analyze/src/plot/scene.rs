//! A picture before it has colours: shapes in pixels, y downwards, and zones with hover texts.

use super::font;
use super::palette::Role;

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels; grows as rows are added.
    pub height: f64,
    /// In the order of painting.
    pub shapes: Vec<Shape>,
    /// Hover texts; only SVG has them.
    pub zones: Vec<Zone>,
    /// What the picture says, in a sentence, for those who cannot see it.
    pub summary: String,
}

/// One shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A filled rectangle.
    Rect {
        /// Left, top, right, bottom.
        bounds: [f64; 4],
        /// Colour.
        role: Role,
        /// Opacity, 0 to 1.
        alpha: f64,
    },
    /// A line through points.
    Line {
        /// The points.
        points: Vec<(f64, f64)>,
        /// Colour.
        role: Role,
        /// Thickness in pixels.
        thick: u32,
    },
    /// A filled outline.
    Area {
        /// The corners.
        points: Vec<(f64, f64)>,
        /// Colour.
        role: Role,
        /// Opacity, 0 to 1.
        alpha: f64,
    },
    /// A filled circle.
    Dot {
        /// Centre.
        at: (f64, f64),
        /// Radius in pixels.
        radius: f64,
        /// Colour.
        role: Role,
        /// Opacity, 0 to 1.
        alpha: f64,
    },
    /// A line of text.
    Text(Label),
}

/// A line of text, centred on `y` vertically.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Where its anchor is.
    pub at: (f64, f64),
    /// Which point of the text stands there.
    pub anchor: Anchor,
    /// Pixels an em.
    pub size: f64,
    /// Bold.
    pub bold: bool,
    /// Colour.
    pub role: Role,
    /// What it says.
    pub text: String,
}

/// Horizontal anchor of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins there.
    Start,
    /// The text is centred there.
    Middle,
    /// The text ends there.
    End,
}

/// A rectangle with a hover text.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    /// Left, top, right, bottom.
    pub bounds: [f64; 4],
    /// What it says.
    pub text: String,
}

impl Label {
    /// Left, top, right, bottom of the ink, from the embedded font's widths.
    pub fn bounds(&self) -> [f64; 4] {
        let width = font::width(&self.text, self.size, self.bold);
        let left = match self.anchor {
            Anchor::Start => self.at.0,
            Anchor::Middle => self.at.0 - width / 2.0,
            Anchor::End => self.at.0 - width,
        };
        let half = self.size * 0.5;
        [left, self.at.1 - half, left + width, self.at.1 + half]
    }
}

impl Scene {
    /// An empty picture.
    pub const fn new(width: f64) -> Self {
        Self {
            width,
            height: 0.0,
            shapes: Vec::new(),
            zones: Vec::new(),
            summary: String::new(),
        }
    }

    /// Puts a title on top and moves what follows below it.
    pub fn title(&mut self, text: &str) {
        let text = font::fit(text, 15.0, true, self.width - 24.0);
        let at = (12.0, self.height + 20.0);
        self.text(at, Anchor::Start, &text, Ink::title());
        self.height += 36.0;
    }

    /// A filled rectangle; nothing when it is empty or not finite.
    pub fn rect(&mut self, bounds: [f64; 4], role: Role, alpha: f64) {
        let [left, top, right, bottom] = bounds;
        if bounds.iter().all(|n| n.is_finite()) && right > left && bottom > top {
            self.shapes.push(Shape::Rect {
                bounds,
                role,
                alpha,
            });
        }
    }

    /// A line; points that are not finite are left out.
    pub fn line(&mut self, points: Vec<(f64, f64)>, role: Role, thick: u32) {
        let points = finite(points);
        if points.len() > 1 {
            self.shapes.push(Shape::Line {
                points,
                role,
                thick,
            });
        }
    }

    /// A filled outline; points that are not finite are left out.
    pub fn area(&mut self, points: Vec<(f64, f64)>, role: Role, alpha: f64) {
        let points = finite(points);
        if points.len() > 2 {
            self.shapes.push(Shape::Area {
                points,
                role,
                alpha,
            });
        }
    }

    /// A dot; nothing when it is not finite.
    pub fn dot(&mut self, at: (f64, f64), radius: f64, role: Role, alpha: f64) {
        if at.0.is_finite() && at.1.is_finite() {
            self.shapes.push(Shape::Dot {
                at,
                radius,
                role,
                alpha,
            });
        }
    }

    /// A text; nothing when it is empty.
    pub fn text(&mut self, at: (f64, f64), anchor: Anchor, text: &str, ink: Ink) {
        if text.is_empty() || !at.0.is_finite() || !at.1.is_finite() {
            return;
        }
        self.shapes.push(Shape::Text(Label {
            at,
            anchor,
            size: ink.size,
            bold: ink.bold,
            role: ink.role,
            text: text.to_owned(),
        }));
    }

    /// A hover text; nothing when its rectangle is not finite.
    pub fn zone(&mut self, bounds: [f64; 4], text: String) {
        if bounds.iter().all(|n| n.is_finite()) {
            self.zones.push(Zone { bounds, text });
        }
    }

    /// All texts.
    pub fn labels(&self) -> impl Iterator<Item = &Label> {
        self.shapes.iter().filter_map(|shape| match shape {
            Shape::Text(label) => Some(label),
            _ => None,
        })
    }
}

/// Size, weight and colour of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ink {
    /// Pixels an em.
    pub size: f64,
    /// Bold.
    pub bold: bool,
    /// Colour.
    pub role: Role,
}

impl Ink {
    /// Of a title.
    pub const fn title() -> Self {
        Self {
            size: 15.0,
            bold: true,
            role: Role::Ink,
        }
    }

    /// Of a row's name.
    pub const fn name() -> Self {
        Self {
            size: 12.0,
            bold: false,
            role: Role::Ink,
        }
    }

    /// Of ticks and notes.
    pub const fn note() -> Self {
        Self {
            size: 11.0,
            bold: false,
            role: Role::Soft,
        }
    }

    /// Inside a bar.
    pub const fn on(role: Role) -> Self {
        Self {
            size: 9.5,
            bold: false,
            role,
        }
    }
}

fn finite(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.retain(|(x, y)| x.is_finite() && y.is_finite());
    points
}
