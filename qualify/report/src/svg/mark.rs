//! Distinction of curves by colour, dashes and marks, so that no reader depends on only one of them.

use plotters::coord::Shift;
use plotters::prelude::*;

#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub(super) color: RGBColor,
    /// Width of measured lines and half of the size of marks. Every other curve is wide, and earlier ones are
    /// wider, so that a curve is visible below later ones where they coincide.
    pub(super) width: u32,
    pub(super) reach: i32,
    /// Lengths of dashes and gaps; empty for a solid line.
    pub(super) dashes: &'static str,
    pub(super) mark: Shape,
}

#[derive(Clone, Copy)]
pub(super) enum Shape {
    Disc,
    Square,
    Triangle,
    Diamond,
    Ring,
    Cross,
    TriangleDown,
    Plus,
}

/// Colours that can be distinguished with any colour vision; without yellow, which is invisible on light
/// pages, and with grey instead of black, which is invisible on dark pages.
pub(super) const STYLES: [Mark; 8] = [
    Mark {
        color: RGBColor(0x00, 0x72, 0xB2),
        width: 10,
        reach: 14,
        dashes: "",
        mark: Shape::Disc,
    },
    Mark {
        color: RGBColor(0xD5, 0x5E, 0x00),
        width: 5,
        reach: 9,
        dashes: "18 8",
        mark: Shape::Square,
    },
    Mark {
        color: RGBColor(0x00, 0x9E, 0x73),
        width: 9,
        reach: 13,
        dashes: "4 8",
        mark: Shape::Triangle,
    },
    Mark {
        color: RGBColor(0xCC, 0x79, 0xA7),
        width: 4,
        reach: 8,
        dashes: "18 8 4 8",
        mark: Shape::Diamond,
    },
    Mark {
        color: RGBColor(0xE6, 0x9F, 0x00),
        width: 8,
        reach: 12,
        dashes: "30 8",
        mark: Shape::Ring,
    },
    Mark {
        color: RGBColor(0x56, 0xB4, 0xE9),
        width: 4,
        reach: 8,
        dashes: "10 6",
        mark: Shape::Cross,
    },
    Mark {
        color: RGBColor(0x88, 0x88, 0x88),
        width: 7,
        reach: 11,
        dashes: "30 8 4 8",
        mark: Shape::TriangleDown,
    },
    Mark {
        color: RGBColor(0x99, 0x4F, 0x00),
        width: 4,
        reach: 7,
        dashes: "4 4",
        mark: Shape::Plus,
    },
];

pub(super) fn styles() -> impl Iterator<Item = Mark> {
    STYLES.into_iter().cycle()
}

/// Opacity marks the lines that [`dashed`] makes dashed, because the library cannot draw a dashed line as one
/// element.
const PUBLISHED_OPACITY: f64 = 0.75;
pub(super) const LIMIT_OPACITY: f64 = 0.9;

impl Mark {
    /// Returns the style of a line: thick if measured, thin if published.
    pub(super) fn line(self, published: bool) -> ShapeStyle {
        if published {
            self.color.mix(PUBLISHED_OPACITY).stroke_width(3)
        } else {
            self.color.stroke_width(self.width)
        }
    }

    /// Returns the style of a published bar, which is not dashed.
    pub(super) fn outline(self) -> ShapeStyle {
        self.color.mix(OPAQUE).stroke_width(4)
    }
}

/// Adds dashes to the drawing: by colour for measured lines, dots for published ones, long dashes for limits.
pub(super) fn dashed(svg: &str, ink: &str) -> String {
    let dashes = |svg: String, opacity: f64, color: &str, dashes: &str| {
        let line = format!("<polyline fill=\"none\" opacity=\"{opacity}\" stroke=\"{color}\"");
        svg.replace(&line, &format!("{line} stroke-dasharray=\"{dashes}\""))
    };
    let mut svg = dashes(svg.to_owned(), LIMIT_OPACITY, ink, "24 12");
    for style in &STYLES {
        let RGBColor(r, g, b) = style.color;
        let color = format!("#{r:02X}{g:02X}{b:02X}");
        svg = dashes(svg, PUBLISHED_OPACITY, &color, "3 7");
        if !style.dashes.is_empty() {
            svg = dashes(svg, 1.0, &color, style.dashes);
        }
    }
    svg
}

/// Draws a hollow mark.
pub(super) fn draw_hollow<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    mark: Mark,
    (x, y): (i32, i32),
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let color = mark.color;
    let Some(corners) = corners(mark) else {
        return match mark.mark {
            Shape::Disc | Shape::Ring => area.draw(&Circle::new((x, y), mark.reach, color.stroke_width(3))),
            _ => draw(area, mark, (x, y)),
        };
    };
    let outline: Vec<_> = corners
        .iter()
        .chain(corners.first())
        .map(|(dx, dy)| (x + dx, y + dy))
        .collect();
    area.draw(&PathElement::new(outline, color.mix(OPAQUE).stroke_width(3)))
}

pub(super) fn draw<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    mark: Mark,
    (x, y): (i32, i32),
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let (color, reach) = (mark.color, mark.reach);
    if let Some(corners) = corners(mark) {
        let corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        return area.draw(&Polygon::new(corners, color.filled()));
    }
    let stroke = |from: (i32, i32), to: (i32, i32)| {
        let ends = vec![(x + from.0, y + from.1), (x + to.0, y + to.1)];
        area.draw(&PathElement::new(ends, color.mix(OPAQUE).stroke_width(6)))
    };
    match mark.mark {
        Shape::Ring => area.draw(&Circle::new((x, y), reach, color.stroke_width(5))),
        Shape::Cross => {
            stroke((-reach, -reach), (reach, reach)).and_then(|()| stroke((-reach, reach), (reach, -reach)))
        }
        Shape::Plus => stroke((-reach, 0), (reach, 0)).and_then(|()| stroke((0, -reach), (0, reach))),
        _ => area.draw(&Circle::new((x, y), reach, color.filled())),
    }
}

/// Slightly less than opaque, so that `dashed` does not take a mark for a curve.
const OPAQUE: f64 = 0.99;

fn corners(mark: Mark) -> Option<Vec<(i32, i32)>> {
    let r = mark.reach;
    match mark.mark {
        Shape::Square => Some(vec![(-r, -r), (r, -r), (r, r), (-r, r)]),
        Shape::Triangle => Some(vec![(0, -r - 3), (r + 2, r - 1), (-r - 2, r - 1)]),
        Shape::TriangleDown => Some(vec![(0, r + 3), (r + 2, 1 - r), (-r - 2, 1 - r)]),
        Shape::Diamond => Some(vec![(0, -r - 4), (r + 4, 0), (0, r + 4), (-r - 4, 0)]),
        Shape::Disc | Shape::Ring | Shape::Cross | Shape::Plus => None,
    }
}
