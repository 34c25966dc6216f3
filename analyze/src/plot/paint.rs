//! The one painter: a scene on any plotters backend.

use plotters::style::{Color, IntoFont, RGBColor, ShapeStyle, TextStyle};
use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{BackendCoord, DrawingBackend, DrawingErrorKind};

use super::palette::{Role, Theme};
use super::scene::{Anchor, Label, Scene, Shape};

/// plotters takes the height of a line for a font's size; an em is this much smaller.
pub(super) const LINE_PER_EM: f64 = 1.24;

/// Colours and size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    /// Colours.
    pub(super) theme: Theme,
    /// Pixels of the backend for a pixel of the scene.
    pub(super) scale: f64,
}

type Painted<DB> = Result<(), DrawingErrorKind<<DB as DrawingBackend>::ErrorType>>;

impl Paint {
    /// Paints the background and all shapes in order.
    pub(super) fn scene<DB: DrawingBackend>(&self, scene: &Scene, to: &mut DB) -> Painted<DB> {
        to.ensure_prepared()?;
        self.rect(
            [0.0, 0.0, scene.width, scene.height],
            self.fill(Role::Paper, 1.0),
            to,
        )?;
        for shape in &scene.shapes {
            self.shape(shape, to)?;
        }
        to.present()
    }

    fn shape<DB: DrawingBackend>(&self, shape: &Shape, to: &mut DB) -> Painted<DB> {
        match shape {
            Shape::Rect {
                bounds,
                role,
                alpha,
            } => self.rect(*bounds, self.fill(*role, *alpha), to),
            Shape::Line {
                points,
                role,
                thick,
            } => {
                let style = self.stroke(*role, *thick);
                to.draw_path(points.iter().map(|p| self.point(*p)), &style)
            }
            Shape::Area {
                points,
                role,
                alpha,
            } => {
                let style = self.fill(*role, *alpha);
                to.fill_polygon(points.iter().map(|p| self.point(*p)), &style)
            }
            Shape::Dot {
                at,
                radius,
                role,
                alpha,
            } => {
                let radius = whole(radius * self.scale).unsigned_abs().max(1);
                to.draw_circle(self.point(*at), radius, &self.fill(*role, *alpha), true)
            }
            Shape::Text(label) => self.text(label, to),
        }
    }

    fn rect<DB: DrawingBackend>(
        &self,
        [left, top, right, bottom]: [f64; 4],
        style: ShapeStyle,
        to: &mut DB,
    ) -> Painted<DB> {
        let (x0, y0) = self.point((left, top));
        let (x1, y1) = self.point((right, bottom));
        let (x1, y1) = (x1.max(x0 + 1), y1.max(y0 + 1));
        to.draw_rect((x0, y0), (x1, y1), &style, true)
    }

    fn text<DB: DrawingBackend>(&self, label: &Label, to: &mut DB) -> Painted<DB> {
        let size = label.size * LINE_PER_EM * self.scale;
        let font = ("sans-serif", size).into_font();
        let bold = plotters::style::FontStyle::Bold;
        let font = if label.bold { font.style(bold) } else { font };
        let h_pos = match label.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let colour = self.colour(label.role);
        let pos = Pos::new(h_pos, VPos::Center);
        let style = TextStyle::from(font).color(&colour).pos(pos);
        to.draw_text(&label.text, &style, self.point(label.at))
    }

    fn colour(&self, role: Role) -> RGBColor {
        let (red, green, blue) = role.rgb(self.theme);
        RGBColor(red, green, blue)
    }

    fn fill(&self, role: Role, alpha: f64) -> ShapeStyle {
        self.colour(role).mix(alpha).filled()
    }

    fn stroke(&self, role: Role, thick: u32) -> ShapeStyle {
        let thick = whole(f64::from(thick) * self.scale).unsigned_abs();
        self.colour(role).stroke_width(thick.max(1))
    }

    fn point(&self, (x, y): (f64, f64)) -> BackendCoord {
        (whole(x * self.scale), whole(y * self.scale))
    }
}

/// The nearest whole pixel; what lies beyond a picture's largest size is moved there.
#[expect(
    clippy::cast_possible_truncation,
    reason = "clamped to a million pixels, and the scene holds finite numbers only"
)]
pub(super) fn whole(pixels: f64) -> i32 {
    pixels.clamp(-1e6, 1e6).round() as i32
}
