//! A scene as PNG: plotters' bitmap backend, with texts set from the embedded font so that no
//! font library of the system is needed.

use ab_glyph::{Font, Glyph, PxScale, ScaleFont, point};
use plotters::backend::BitMapBackend;
use plotters_backend::text_anchor::HPos;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontStyle,
};

use super::font;
use super::paint::{LINE_PER_EM, Paint, whole};
use super::palette::Theme;
use super::scene::Scene;
use crate::error::AnalyzeError;

/// Larger pictures are refused: they would take a gigabyte.
const PIXELS_MAX: u64 = 1 << 28;

/// The file's bytes.
pub(super) fn render(scene: &Scene, theme: Theme, scale: u32) -> Result<Vec<u8>, AnalyzeError> {
    let scale = scale.clamp(1, 4);
    let width = whole(scene.width).unsigned_abs().saturating_mul(scale);
    let height = whole(scene.height).unsigned_abs().saturating_mul(scale);
    let failed = |why: String| AnalyzeError::Draw {
        what: "png",
        width,
        height,
        why,
    };
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 || pixels > PIXELS_MAX {
        return Err(failed(format!("expected 1 to {PIXELS_MAX} pixels")));
    }
    let bytes = usize::try_from(pixels * 3).map_err(|error| failed(error.to_string()))?;
    let mut buffer = vec![0; bytes];
    let paint = Paint {
        theme,
        scale: f64::from(scale),
    };
    {
        let mut canvas = Canvas(BitMapBackend::with_buffer(&mut buffer, (width, height)));
        let painted = paint.scene(scene, &mut canvas);
        painted.map_err(|error| failed(error.to_string()))?;
    }
    encode(&buffer, width, height).map_err(|error| failed(error.to_string()))
}

fn encode(buffer: &[u8], width: u32, height: u32) -> Result<Vec<u8>, png::EncodingError> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(buffer)?;
    Ok(out)
}

/// The bitmap backend with its own texts and areas.
struct Canvas<'a>(BitMapBackend<'a>);

type Outcome<'a> = Result<(), DrawingErrorKind<<BitMapBackend<'a> as DrawingBackend>::ErrorType>>;

impl<'a> DrawingBackend for Canvas<'a> {
    type ErrorType = <BitMapBackend<'a> as DrawingBackend>::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        self.0.get_size()
    }

    fn ensure_prepared(&mut self) -> Outcome<'a> {
        self.0.ensure_prepared()
    }

    fn present(&mut self) -> Outcome<'a> {
        self.0.present()
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Outcome<'a> {
        self.0.draw_pixel(at, color)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Outcome<'a> {
        self.0.draw_rect(from, to, style, fill)
    }

    /// Draws steps, which is what the plots are made of, as rectangles: sharp at any thickness.
    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Outcome<'a> {
        let points: Vec<BackendCoord> = path.into_iter().collect();
        let thick = i32::try_from(style.stroke_width()).unwrap_or(1).max(1);
        let (before, after) = (thick / 2, thick - thick / 2);
        let next = points.iter().skip(1);
        for ((x0, y0), (x1, y1)) in points.iter().zip(next) {
            if x0 != x1 && y0 != y1 {
                self.0.draw_line((*x0, *y0), (*x1, *y1), style)?;
                continue;
            }
            let from = (x0.min(x1) - before, y0.min(y1) - before);
            let to = (x0.max(x1) + after, y0.max(y1) + after);
            self.0.draw_rect(from, to, &style.color(), true)?;
        }
        Ok(())
    }

    /// Fills the area column by column: what the plots fill are bands over time, for which this
    /// is exact, and neighbouring bands meet without a seam.
    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Outcome<'a> {
        let corners: Vec<BackendCoord> = corners.into_iter().collect();
        for (x, top, bottom) in columns(&corners) {
            self.0.draw_rect((x, top), (x + 1, bottom), style, true)?;
        }
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        at: BackendCoord,
    ) -> Outcome<'a> {
        let bold = matches!(style.style(), FontStyle::Bold);
        let em = style.size() / LINE_PER_EM;
        let width = font::width(text, em, bold);
        let left = f64::from(at.0)
            - match style.anchor().h_pos {
                HPos::Left => 0.0,
                HPos::Center => width / 2.0,
                HPos::Right => width,
            };
        // Capitals of the embedded font are 0.73 em high; half of that is below the middle.
        let baseline = f64::from(at.1) + 0.365 * em;
        self.glyphs(text, (left, baseline.round()), (em, bold), style.color())
    }
}

impl<'a> Canvas<'a> {
    fn glyphs(
        &mut self,
        text: &str,
        (left, baseline): (f64, f64),
        (em, bold): (f64, bool),
        color: BackendColor,
    ) -> Outcome<'a> {
        let Some(face) = font::face(bold) else {
            return Ok(());
        };
        let per_em = face.units_per_em().unwrap_or(2048.0);
        let scale = PxScale::from(narrow(em) * face.height_unscaled() / per_em);
        let scaled = face.as_scaled(scale);
        let mut pen = narrow(left);
        let mut dots: Vec<(BackendCoord, f64)> = Vec::new();
        for c in text.chars() {
            let id = scaled.glyph_id(c);
            let position = point(pen, narrow(baseline));
            pen += scaled.h_advance(id);
            let Some(outline) = face.outline_glyph(Glyph {
                id,
                scale,
                position,
            }) else {
                continue;
            };
            let corner = outline.px_bounds().min;
            outline.draw(|x, y, cover| {
                let x = whole(f64::from(corner.x)).saturating_add_unsigned(x);
                let y = whole(f64::from(corner.y)).saturating_add_unsigned(y);
                dots.push(((x, y), f64::from(cover.clamp(0.0, 1.0))));
            });
        }
        let (width, height) = self.get_size();
        for ((x, y), cover) in dots {
            let inside = |n: i32, max: u32| u32::try_from(n).is_ok_and(|n| n < max);
            if inside(x, width) && inside(y, height) {
                self.0.draw_pixel((x, y), color.mix(cover))?;
            }
        }
        Ok(())
    }
}

/// For each column of an outline its topmost and bottommost filled pixel.
fn columns(corners: &[BackendCoord]) -> Vec<(i32, i32, i32)> {
    let left = corners.iter().map(|p| p.0).min().unwrap_or_default();
    let right = corners.iter().map(|p| p.0).max().unwrap_or_default();
    let next = corners.iter().skip(1).chain(corners.first());
    let edges: Vec<_> = corners.iter().zip(next).collect();
    let mut out = Vec::new();
    for x in left..right {
        let middle = f64::from(x) + 0.5;
        let hits = edges.iter().filter_map(|((x0, y0), (x1, y1))| {
            let (a, b) = (f64::from(*x0), f64::from(*x1));
            let crossed = (a <= middle) != (b <= middle);
            crossed.then(|| {
                f64::from(*y0) + (middle - a) / (b - a) * (f64::from(*y1) - f64::from(*y0))
            })
        });
        let bounds = hits.fold(None, |seen: Option<(f64, f64)>, y| {
            let (top, bottom) = seen.unwrap_or((y, y));
            Some((top.min(y), bottom.max(y)))
        });
        if let Some((top, bottom)) = bounds {
            let (top, bottom) = (whole(top), whole(bottom));
            if bottom > top {
                out.push((x, top, bottom));
            }
        }
    }
    out
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "pixel positions are far inside what an f32 holds exactly enough"
)]
const fn narrow(pixels: f64) -> f32 {
    pixels as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_filled_column_by_column() {
        let band = [(0, 10), (0, 4), (3, 4), (3, 8), (5, 8), (5, 10)];
        let expected = [(0, 4, 10), (1, 4, 10), (2, 4, 10), (3, 8, 10), (4, 8, 10)];
        assert_eq!(columns(&band), expected);
    }

    #[test]
    fn too_large_a_picture_is_refused() {
        let mut scene = Scene::new(20_000.0);
        scene.height = 20_000.0;
        let error = render(&scene, Theme::Light, 4).unwrap_err();
        assert!(error.to_string().contains("80000x80000"), "{error}");
    }
}
