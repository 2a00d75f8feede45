//! Curves as a figure.

mod axis;
mod legend;
mod mark;

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use axis::Axis;
use mark::Mark;

/// Several curves over one horizontal axis.
///
/// ```
/// use punctual_report::{LineFigure, Series};
/// let figure = LineFigure {
///     title: "Throughput with lanes".into(),
///     caption: "The 75 Hz client keeps its rate as the work grows.".into(),
///     x_label: "work per call".into(),
///     y_label: "calls per second (Hz)".into(),
///     series: vec![Series { name: "high, 75 Hz".into(), points: vec![(30.0, 75.0), (50.0, 74.9)] }],
/// };
/// assert!(figure.to_svg()?.starts_with("<svg"));
/// # Ok::<(), punctual_report::svg::FigureError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LineFigure {
    /// Stands above it.
    pub title: String,
    /// Stands below it on a page: what is to be seen.
    pub caption: String,
    /// The quantity along the horizontal axis, with its unit.
    pub x_label: String,
    /// The quantity along the vertical axis, with its unit. The axis begins at 0.
    pub y_label: String,
    /// The curves. They differ in colour, dashes and marks: eight ways, then these repeat.
    pub series: Vec<Series>,
}

/// One curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// For the legend.
    pub name: String,
    /// Its points, joined in the given order. Those that are not finite are left out.
    pub points: Vec<(f64, f64)>,
}

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// There is nothing to draw.
    #[error("the figure `{0}` has no point to draw: was its measurement skipped?")]
    NoData(String),
    /// The drawing library failed.
    #[error("the figure `{title}` could not be drawn: {reason}")]
    Drawing {
        /// The figure's title.
        title: String,
        /// What the library says.
        reason: String,
    },
}

impl LineFigure {
    /// Draws it. Text is text, in a sans-serif font; lines of the axes and text take the colour of the surrounding text
    /// and the background is transparent, so that it suits light and dark pages.
    ///
    /// # Errors
    /// [`FigureError`].
    pub fn to_svg(&self) -> Result<String, FigureError> {
        let finite = |series: &Series| Series {
            name: series.name.clone(),
            points: series
                .points
                .iter()
                .copied()
                .filter(|(x, y)| x.is_finite() && y.is_finite())
                .collect(),
        };
        let series: Vec<Series> = self
            .series
            .iter()
            .map(finite)
            .filter(|series| !series.points.is_empty())
            .collect();
        let points = || series.iter().flat_map(|series| &series.points);
        let (Some(x), Some(y)) = (
            Axis::around(points().map(|p| p.0)),
            Axis::from_zero(points().map(|p| p.1)),
        ) else {
            return Err(FigureError::NoData(self.title.clone()));
        };
        let mut svg = String::new();
        self.draw(&mut svg, &series, &x, &y)
            .map_err(|error| FigureError::Drawing {
                title: self.title.clone(),
                reason: error.to_string(),
            })?;
        Ok(finished(&svg, &self.title))
    }

    fn draw(
        &self,
        svg: &mut String,
        series: &[Series],
        x: &Axis,
        y: &Axis,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let names: Vec<&str> = series.iter().map(|series| series.name.as_str()).collect();
        let legend = legend::arranged(&names, WIDTH);
        let top = TITLE_HEIGHT + legend.height;
        let height = top + PLOT_HEIGHT;
        let root = SVGBackend::with_string(svg, (pixels(WIDTH), pixels(height))).into_drawing_area();
        let title = text(TITLE_SIZE).pos(Pos::new(HPos::Left, VPos::Top));
        root.draw(&Text::new(self.title.as_str(), (LEFT, 10), title))?;
        for (entry, style) in legend.entries.iter().zip(mark::styles()) {
            let middle = (entry.x + legend::SAMPLE / 2, TITLE_HEIGHT + entry.y);
            root.draw(&PathElement::new(
                vec![(entry.x, middle.1), (entry.x + legend::SAMPLE, middle.1)],
                style.line(),
            ))?;
            mark::draw(&root, style.mark, middle, style.color)?;
            let beside = (entry.x + legend::SAMPLE + 14, middle.1);
            let style = text(TEXT_SIZE).pos(Pos::new(HPos::Left, VPos::Center));
            root.draw(&Text::new(entry.name, beside, style))?;
        }
        let mut chart = ChartBuilder::on(&root)
            .margin_top(top)
            .margin_left(MARGIN)
            .margin_right(40)
            .margin_bottom(8)
            .x_label_area_size(92)
            .y_label_area_size(LEFT - MARGIN)
            .build_cartesian_2d(x.range(), y.range())?;
        grid(&mut chart, self, x, y)?;
        for (series, style) in series.iter().zip(mark::styles()) {
            let points: Vec<_> = series
                .points
                .iter()
                .map(|point| chart.backend_coord(point))
                .collect();
            root.draw(&PathElement::new(points.clone(), style.line()))?;
            for point in points {
                mark::draw(&root, style.mark, point, style.color)?;
            }
        }
        root.present()?;
        Ok(())
    }
}

/// Drawn in twice the size in which it is shown, for the library rounds to whole units.
const WIDTH: i32 = 1440;
const PLOT_HEIGHT: i32 = 760;
const TITLE_HEIGHT: i32 = 76;
/// Where the plot begins.
const LEFT: i32 = 140;
const MARGIN: i32 = 14;
const TITLE_SIZE: f64 = 40.0;
const TEXT_SIZE: f64 = 32.0;
/// Replaced by the colour of the surrounding text.
const INK: RGBColor = RGBColor(1, 2, 3);
const INK_WRITTEN: &str = "#010203";

fn text(size: f64) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

fn grid<DB: DrawingBackend<ErrorType: 'static>>(
    chart: &mut ChartContext<DB, Cartesian2d<RangedCoordf64, RangedCoordf64>>,
    figure: &LineFigure,
    x: &Axis,
    y: &Axis,
) -> Result<(), Box<dyn std::error::Error>> {
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

/// Takes the fixed size off (the view box stays), puts the name in for those who do not see it, and the dashes, which
/// the library would draw as lines of their own.
fn finished(svg: &str, title: &str) -> String {
    let (tag, body) = svg.split_once('>').unwrap_or((svg, ""));
    let view_box = tag
        .split_once("viewBox=\"")
        .and_then(|(_, rest)| rest.split_once('"'));
    let view_box = view_box.map_or("", |(view_box, _)| view_box);
    let name = crate::html::escaped(title);
    let mut body = body.replace(INK_WRITTEN, "currentColor");
    for style in mark::STYLES.iter().filter(|style| !style.dashes.is_empty()) {
        let Mark {
            color: RGBColor(r, g, b),
            dashes,
            ..
        } = style;
        let line = format!("<polyline fill=\"none\" opacity=\"1\" stroke=\"#{r:02X}{g:02X}{b:02X}\"");
        body = body.replace(&line, &format!("{line} stroke-dasharray=\"{dashes}\""));
    }
    format!(
        "<svg viewBox=\"{view_box}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{name}\">\n\
         <title>{name}</title>{body}"
    )
}

#[cfg(test)]
mod tests;
