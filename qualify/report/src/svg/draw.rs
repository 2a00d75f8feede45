//! Drawing of figures.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::{Axis, Scale};
use super::layout::{LEFT, TEXT_SIZE, WIDTH};
use super::mark::Mark;
use super::{Figure, FigureError, Kind, Layer, legend, mark, thin};

type Reason = Box<dyn std::error::Error>;
type Area<'s> = DrawingArea<SVGBackend<'s>, Shift>;
type Chart<'s> = ChartContext<'s, SVGBackend<'s>, Cartesian2d<Axis, Axis>>;

pub(super) fn to_svg(figure: &Figure) -> Result<String, FigureError> {
    let layers: Vec<Layer> = figure
        .layers
        .iter()
        .map(|layer| shown(figure, layer))
        .filter(|layer| !layer.points.is_empty())
        .collect();
    let points = || layers.iter().flat_map(|layer| &layer.points);
    let limits = figure.limits.iter().map(|(_, at)| *at);
    let limits = limits.filter(|at| figure.y_scale.shows(*at));
    let axes = (
        Axis::along(&figure.x_scale, points().map(|point| point.0)),
        Axis::upwards(&figure.y_scale, points().map(|point| point.1).chain(limits)),
    );
    let (Some(x), Some(y), true) = (axes.0, axes.1, layers.iter().any(|layer| !layer.published)) else {
        return Err(FigureError::NoData(figure.title.clone()));
    };
    let mut svg = String::new();
    draw(figure, &mut svg, &layers, &x, &y).map_err(|error| FigureError::Drawing {
        title: figure.title.clone(),
        reason: error.to_string(),
    })?;
    Ok(finished(&svg, &figure.title))
}

/// Returns the visible points of a layer.
fn shown(figure: &Figure, layer: &Layer) -> Layer {
    let visible = |point: &&(f64, f64)| figure.x_scale.shows(point.0) && figure.y_scale.shows(point.1);
    let points: Vec<_> = layer.points.iter().filter(visible).copied().collect();
    let points = match layer.kind {
        // Points come in pairs, so none may be dropped.
        Kind::Spans => points,
        Kind::Line | Kind::Samples | Kind::Bars => thin::thinned(&points, MOST_POINTS),
    };
    Layer {
        name: layer.name.clone(),
        points,
        ..*layer
    }
}

fn draw(figure: &Figure, svg: &mut String, layers: &[Layer], x: &Axis, y: &Axis) -> Result<(), Reason> {
    let names: Vec<&str> = layers.iter().map(|layer| layer.name.as_str()).collect();
    let legend = legend::arranged(&names, WIDTH);
    let top = TITLE_HEIGHT + legend.height;
    let height = top + PLOT_HEIGHT;
    let root = SVGBackend::with_string(svg, (pixels(WIDTH), pixels(height))).into_drawing_area();
    let title = text(TITLE_SIZE).pos(Pos::new(HPos::Left, VPos::Top));
    root.draw(&Text::new(figure.title.as_str(), (LEFT, 10), title))?;
    let mut spans = 0;
    for ((entry, style), layer) in legend.entries.iter().zip(mark::styles()).zip(layers) {
        entry_of_legend(&root, entry, style, layer, spans)?;
        spans += usize::from(layer.kind == Kind::Spans);
    }
    let mut chart = ChartBuilder::on(&root)
        .margin_top(top)
        .margin_left(MARGIN)
        .margin_right(40)
        .margin_bottom(8)
        .x_label_area_size(92)
        .y_label_area_size(room_for_rows(figure))
        .build_cartesian_2d(x.clone(), y.clone())?;
    grid(&mut chart, figure, x, y)?;
    let groups = layers.iter().filter(|layer| layer.kind == Kind::Bars).count();
    let (mut group, mut rows) = (0, 0);
    for (layer, style) in layers.iter().zip(mark::styles()) {
        let at = |point: &(f64, f64)| chart.backend_coord(point);
        match layer.kind {
            Kind::Line => curve(
                &root,
                layer,
                style,
                &layer.points.iter().map(at).collect::<Vec<_>>(),
            )?,
            Kind::Samples => {
                // Small enough for thousands, and visible if there are few.
                let radius = if layer.points.len() > 500 { 3 } else { 8 };
                for point in &layer.points {
                    root.draw(&Circle::new(at(point), radius, style.color.mix(0.6).filled()))?;
                }
            }
            Kind::Bars => {
                for (name, value) in &layer.points {
                    let from = name - 0.4 + 0.8 * group as f64 / groups as f64;
                    let to = from + 0.8 / groups as f64;
                    let [(left, top), (right, bottom)] = [at(&(from, *value)), at(&(to, y.floor()))];
                    // A gap between neighbours, and a minimum height for 0.
                    bar(
                        &root,
                        layer,
                        style,
                        [(left + 3, top.min(bottom - 2)), (right - 3, bottom)],
                    )?;
                }
                group += 1;
            }
            Kind::Spans => {
                for ends in layer.points.chunks_exact(2) {
                    let (from, to, row) = (ends[0].0, ends[1].0, ends[0].1);
                    let [(left, top), (right, bottom)] = [at(&(from, row + 0.38)), at(&(to, row - 0.38))];
                    // A minimum width for very short spans.
                    span(&root, style, rows, [(left, top), (right.max(left + 2), bottom)])?;
                }
                rows += 1;
            }
        }
    }
    limits(&root, &chart, figure, x)?;
    root.present()?;
    Ok(())
}

/// Returns the width of the labels to the left of the plot: numbers, or names of rows.
fn room_for_rows(figure: &Figure) -> i32 {
    let longest = match &figure.y_scale {
        Scale::Names(names) => names.iter().map(|name| name.chars().count()).max(),
        _ => None,
    };
    let letters = i32::try_from(longest.unwrap_or(0)).unwrap_or(i32::MAX);
    letters
        .saturating_mul(LETTER)
        .saturating_add(2 * MARGIN)
        .clamp(LEFT - MARGIN, WIDTH / 3)
}

fn entry_of_legend(
    root: &Area<'_>,
    entry: &legend::Entry<'_>,
    style: Mark,
    layer: &Layer,
    number: usize,
) -> Result<(), Reason> {
    let y = TITLE_HEIGHT + entry.y;
    let middle = (entry.x + legend::SAMPLE / 2, y);
    match layer.kind {
        Kind::Line => curve_sample(
            root,
            style,
            layer.published,
            (entry.x, entry.x + legend::SAMPLE),
            y,
        )?,
        Kind::Samples => root.draw(&Circle::new(middle, 6, style.color.filled()))?,
        Kind::Bars => {
            let corners = [(middle.0 - 22, y - 14), (middle.0 + 22, y + 14)];
            bar(root, layer, style, corners)?;
        }
        Kind::Spans => {
            let corners = [(middle.0 - 22, y - 14), (middle.0 + 22, y + 14)];
            span(root, style, number, corners)?;
        }
    }
    let beside = (entry.x + legend::SAMPLE + 14, y);
    let style = text(TEXT_SIZE).pos(Pos::new(HPos::Left, VPos::Center));
    root.draw(&Text::new(entry.name, beside, style))?;
    Ok(())
}

/// Draws a bar: filled if measured, an outline if published.
fn bar(root: &Area<'_>, layer: &Layer, style: Mark, corners: [(i32, i32); 2]) -> Result<(), Reason> {
    if !layer.published {
        root.draw(&Rectangle::new(corners, style.color.filled()))?;
        return Ok(());
    }
    let [(left, top), (right, bottom)] = corners;
    let outline = vec![
        (left, bottom),
        (left, top),
        (right, top),
        (right, bottom),
        (left, bottom),
    ];
    root.draw(&PathElement::new(outline, style.outline()))?;
    Ok(())
}

/// Draws a span of the layer with this number: each of eight layers has a pattern of its own, so that layers
/// are not distinguished by colour alone.
fn span(root: &Area<'_>, style: Mark, number: usize, corners: [(i32, i32); 2]) -> Result<(), Reason> {
    let [(left, top), (right, bottom)] = corners;
    let line = |from, to| root.draw(&PathElement::new(vec![from, to], style.outline()));
    let across = |y| line((left, y), (right, y));
    let strokes = |slant: i32| {
        let places = (left + STRIPE..right - slant.max(0)).step_by(STRIPE as usize);
        places
            .into_iter()
            .try_for_each(|x| line((x, bottom), (x + slant, top)))
    };
    let slant = (bottom - top) / 2;
    let pattern = number % 8;
    if pattern > 0 {
        root.draw(&Rectangle::new(corners, style.color.mix(0.2).filled()))?;
        root.draw(&Rectangle::new(corners, style.outline()))?;
    }
    match pattern {
        0 => root.draw(&Rectangle::new(corners, style.color.filled()))?,
        1 => strokes(0)?,
        2 => across(i32::midpoint(top, bottom))?,
        3 => strokes(slant)?,
        4 => {}
        5 => {
            let lower = [(left, i32::midpoint(top, bottom)), (right, bottom)];
            root.draw(&Rectangle::new(lower, style.color.filled()))?;
        }
        6 => {
            strokes(0)?;
            across(i32::midpoint(top, bottom))?;
        }
        _ => {
            across(top + (bottom - top) / 3)?;
            across(bottom - (bottom - top) / 3)?;
        }
    }
    Ok(())
}

fn curve_sample(
    root: &Area<'_>,
    style: Mark,
    published: bool,
    (from, to): (i32, i32),
    y: i32,
) -> Result<(), Reason> {
    root.draw(&PathElement::new(vec![(from, y), (to, y)], style.line(published)))?;
    draw_mark(root, style, published, (i32::midpoint(from, to), y))
}

fn curve(root: &Area<'_>, layer: &Layer, style: Mark, points: &[(i32, i32)]) -> Result<(), Reason> {
    root.draw(&PathElement::new(points.to_vec(), style.line(layer.published)))?;
    let every = if points.len() <= MOST_MARKS {
        1
    } else {
        points.len().div_ceil(12)
    };
    for point in points.iter().step_by(every) {
        draw_mark(root, style, layer.published, *point)?;
    }
    Ok(())
}

fn draw_mark(root: &Area<'_>, style: Mark, published: bool, at: (i32, i32)) -> Result<(), Reason> {
    if published {
        mark::draw_hollow(root, style, at)?;
    } else {
        mark::draw(root, style, at)?;
    }
    Ok(())
}

fn limits(root: &Area<'_>, chart: &Chart<'_>, figure: &Figure, x: &Axis) -> Result<(), Reason> {
    use plotters::coord::ranged1d::Ranged;
    let range = x.range();
    for (name, at) in &figure.limits {
        if !figure.y_scale.shows(*at) {
            continue;
        }
        let [from, to] = [range.start, range.end].map(|x| chart.backend_coord(&(x, *at)));
        let line = INK.mix(mark::LIMIT_OPACITY).stroke_width(4);
        root.draw(&PathElement::new(vec![from, to], line))?;
        let above = text(TEXT_SIZE * 0.85).pos(Pos::new(HPos::Right, VPos::Bottom));
        root.draw(&Text::new(name.as_str(), (to.0 - 8, to.1 - 6), above))?;
    }
    Ok(())
}

/// Points per curve; more cannot be distinguished.
const MOST_POINTS: usize = 3000;
/// Marks per curve; with more points, only some have marks.
const MOST_MARKS: usize = 40;
/// Distance of stripes.
const STRIPE: i32 = 12;
const PLOT_HEIGHT: i32 = 760;
const TITLE_HEIGHT: i32 = 76;
const MARGIN: i32 = 14;
/// Approximate width of a letter.
const LETTER: i32 = 18;
const TITLE_SIZE: f64 = 40.0;
/// Placeholder for the colour of the surrounding text.
const INK: RGBColor = RGBColor(1, 2, 3);
pub(super) const INK_WRITTEN: &str = "#010203";

fn text(size: f64) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

fn grid(chart: &mut Chart<'_>, figure: &Figure, x: &Axis, y: &Axis) -> Result<(), Reason> {
    chart
        .configure_mesh()
        .x_desc(&figure.x_label)
        .y_desc(&figure.y_label)
        .x_labels(10)
        .y_labels(8)
        .x_label_formatter(&|value| x.label(*value))
        .y_label_formatter(&|value| y.label(*value))
        .max_light_lines(0)
        .light_line_style(TRANSPARENT)
        .bold_line_style(INK.mix(0.15).stroke_width(2))
        .axis_style(INK.stroke_width(2))
        .label_style(text(TEXT_SIZE))
        .axis_desc_style(text(TEXT_SIZE))
        .draw()?;
    Ok(())
}

fn pixels(length: i32) -> u32 {
    u32::try_from(length).expect("lengths are sums of positive constants")
}

/// Removes the fixed size but not the view box, adds the accessible name, and the dashes.
fn finished(svg: &str, title: &str) -> String {
    let (tag, body) = svg.split_once('>').unwrap_or((svg, ""));
    let view_box = tag
        .split_once("viewBox=\"")
        .and_then(|(_, rest)| rest.split_once('"'));
    let view_box = view_box.map_or("", |(view_box, _)| view_box);
    let name = crate::escape::escaped(title);
    let body = mark::dashed(body, INK_WRITTEN).replace(INK_WRITTEN, "currentColor");
    format!(
        "<svg viewBox=\"{view_box}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{name}\">\n\
         <title>{name}</title>{body}"
    )
}
