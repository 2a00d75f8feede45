//! How curves differ: by colour, dashes and marks, so that no reader depends on one of them.

use plotters::coord::Shift;
use plotters::prelude::*;

#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub(super) color: RGBColor,
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

/// Colours that readers with any kind of colour vision can tell apart, without the yellow that no light page shows and
/// with a grey in place of the black that no dark page shows.
pub(super) const STYLES: [Mark; 8] = [
    Mark {
        color: RGBColor(0x00, 0x72, 0xB2),
        dashes: "",
        mark: Shape::Disc,
    },
    Mark {
        color: RGBColor(0xD5, 0x5E, 0x00),
        dashes: "18 8",
        mark: Shape::Square,
    },
    Mark {
        color: RGBColor(0x00, 0x9E, 0x73),
        dashes: "4 8",
        mark: Shape::Triangle,
    },
    Mark {
        color: RGBColor(0xCC, 0x79, 0xA7),
        dashes: "18 8 4 8",
        mark: Shape::Diamond,
    },
    Mark {
        color: RGBColor(0xE6, 0x9F, 0x00),
        dashes: "30 8",
        mark: Shape::Ring,
    },
    Mark {
        color: RGBColor(0x56, 0xB4, 0xE9),
        dashes: "10 6",
        mark: Shape::Cross,
    },
    Mark {
        color: RGBColor(0x88, 0x88, 0x88),
        dashes: "30 8 4 8",
        mark: Shape::TriangleDown,
    },
    Mark {
        color: RGBColor(0x99, 0x4F, 0x00),
        dashes: "4 4",
        mark: Shape::Plus,
    },
];

pub(super) fn styles() -> impl Iterator<Item = Mark> {
    STYLES.into_iter().cycle()
}

impl Mark {
    pub(super) fn line(self) -> ShapeStyle {
        self.color.stroke_width(5)
    }
}

pub(super) fn draw<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    shape: Shape,
    (x, y): (i32, i32),
    color: RGBColor,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    const R: i32 = 10;
    let polygon = |corners: &[(i32, i32)]| {
        let corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        area.draw(&Polygon::new(corners, color.filled()))
    };
    let stroke = |from: (i32, i32), to: (i32, i32)| {
        let ends = vec![(x + from.0, y + from.1), (x + to.0, y + to.1)];
        // Opaque by a hair's breadth less, so that it is not taken for a curve and dashed.
        area.draw(&PathElement::new(ends, color.mix(0.99).stroke_width(6)))
    };
    match shape {
        Shape::Disc => area.draw(&Circle::new((x, y), R, color.filled())),
        Shape::Ring => area.draw(&Circle::new((x, y), R, color.stroke_width(5))),
        Shape::Square => polygon(&[(-R, -R), (R, -R), (R, R), (-R, R)]),
        Shape::Triangle => polygon(&[(0, -R - 3), (R + 2, R - 1), (-R - 2, R - 1)]),
        Shape::TriangleDown => polygon(&[(0, R + 3), (R + 2, 1 - R), (-R - 2, 1 - R)]),
        Shape::Diamond => polygon(&[(0, -R - 4), (R + 4, 0), (0, R + 4), (-R - 4, 0)]),
        Shape::Cross => stroke((-R, -R), (R, R)).and_then(|()| stroke((-R, R), (R, -R))),
        Shape::Plus => stroke((-R, 0), (R, 0)).and_then(|()| stroke((0, -R), (0, R))),
    }
}
