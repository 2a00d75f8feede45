//! Figures: curves, samples, bars and percentiles, with published data and limits for comparison.

mod axis;
mod draw;
mod layout;
mod legend;
mod mark;
mod thin;

use axis::Scale;

/// Figure. Published data are drawn differently from measured data; limits are horizontal lines.
///
/// ```
/// use punctual_report::Figure;
/// let figure = Figure::new("Thread switches")
///     .caption("Switch time is independent of the number of threads. [Fayyad-Kazan 2013] figure 2.")
///     .x("threads")
///     .x_log()
///     .y("p50 of a switch (µs)")
///     .line("here", [(2.0, 1.8), (10.0, 2.3), (1000.0, 2.6)])
///     .published("Linux on a Pentium II, [Fayyad-Kazan 2013]", [(2.0, 4.1), (128.0, 6.0)])
///     .limit("at most 3 µs", 3.0);
/// assert!(figure.to_svg()?.starts_with("<svg"));
///
/// let bars = Figure::new("Inversions")
///     .names(["none", "inheritance", "ceiling"])
///     .y("of 500")
///     .bars("here", [500.0, 0.0, 0.0]);
/// assert!(bars.to_svg()?.contains("inheritance"));
///
/// let tail = Figure::new("How long calls took")
///     .tail()
///     .y("latency (µs)")
///     .y_log()
///     .line("with lanes", [(50.0, 18.5), (99.0, 31.0), (99.9, 90.0)]);
/// assert!(tail.to_svg()?.contains("99.9"));
/// # Ok::<(), punctual_report::svg::FigureError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    pub(crate) title: String,
    pub(crate) caption: String,
    x_label: String,
    y_label: String,
    x_scale: Scale,
    y_scale: Scale,
    layers: Vec<Layer>,
    limits: Vec<(String, f64)>,
}

/// Points under one name.
#[derive(Clone, Debug, PartialEq)]
struct Layer {
    name: String,
    kind: Kind,
    published: bool,
    points: Vec<(f64, f64)>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Line,
    Samples,
    Bars,
    /// Pairs of points: start and end in a row.
    Spans,
}

/// Error of a figure.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// The figure has no points.
    #[error("the figure `{0}` has no points; its measurement may have been skipped")]
    NoData(String),
    /// The drawing library failed.
    #[error("the figure `{title}` could not be drawn: {reason}")]
    Drawing {
        /// Title of the figure.
        title: String,
        /// Error of the library.
        reason: String,
    },
}

impl Figure {
    /// Returns whether it shows nothing that was measured here: no points, except published ones.
    ///
    /// ```
    /// use punctual_report::Figure;
    ///
    /// let figure = Figure::new("Latency").published("a paper", [(1.0, 2.0)]);
    /// assert!(figure.is_empty());
    /// assert!(!figure.line("here", [(1.0, 3.0)]).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        let here = self.layers.iter().filter(|layer| !layer.published);
        here.flat_map(|layer| &layer.points).next().is_none()
    }

    /// Creates an empty figure. Both axes are linear; the vertical one starts at 0.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// Sets the caption on a page: what the figure shows, and which published figure it reproduces.
    #[must_use]
    pub fn caption(self, caption: impl Into<String>) -> Self {
        Self {
            caption: caption.into(),
            ..self
        }
    }

    /// Sets the quantity of the horizontal axis, with its unit.
    #[must_use]
    pub fn x(self, label: impl Into<String>) -> Self {
        Self {
            x_label: label.into(),
            ..self
        }
    }

    /// Sets the quantity of the vertical axis, with its unit.
    #[must_use]
    pub fn y(self, label: impl Into<String>) -> Self {
        Self {
            y_label: label.into(),
            ..self
        }
    }

    /// Makes the horizontal axis logarithmic; non-positive points are omitted.
    #[must_use]
    pub fn x_log(self) -> Self {
        Self {
            x_scale: Scale::Log,
            ..self
        }
    }

    /// Makes the vertical axis logarithmic; non-positive points are omitted.
    #[must_use]
    pub fn y_log(self) -> Self {
        Self {
            y_scale: Scale::Log,
            ..self
        }
    }

    /// Makes the horizontal axis one of percentiles, from 0 to below 100, on which each nine takes the same
    /// space.
    #[must_use]
    pub fn tail(self) -> Self {
        Self {
            x_scale: Scale::Tail,
            ..self
        }
        .x("share of the calls that were faster (%)")
    }

    /// Labels 0, 1, 2, … of the horizontal axis with names, for [`bars`](Self::bars).
    #[must_use]
    pub fn names<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        Self {
            x_scale: Scale::Names(names.into_iter().map(Into::into).collect()),
            ..self
        }
    }

    /// Adds a curve: points joined in the given order, non-finite ones omitted. Above 40 points, only some
    /// have marks; above 3000, not all are drawn, but the minimum and maximum of each section are.
    #[must_use]
    pub fn line(self, name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.layer(name, Kind::Line, false, points)
    }

    /// Adds a published curve: thin, dotted and with hollow marks. The name should contain the source.
    #[must_use]
    pub fn published(self, name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.layer(name, Kind::Line, true, points)
    }

    /// Adds samples: a dot for each, not joined. Above 3000, not all are drawn, but the minimum and maximum
    /// of each section are.
    #[must_use]
    pub fn samples(self, name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.layer(name, Kind::Samples, false, points)
    }

    /// Adds a bar at each of the [`names`](Self::names), beside those of other calls. Non-finite values have
    /// no bar.
    #[must_use]
    pub fn bars(self, name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        self.layer(name, Kind::Bars, false, at_names(values))
    }

    /// Adds published bars: outlines. The name should contain the source.
    #[must_use]
    pub fn published_bars(self, name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        self.layer(name, Kind::Bars, true, at_names(values))
    }

    /// Labels rows with names, the first one at the top, for [`spans`](Self::spans).
    #[must_use]
    pub fn rows<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
        names.reverse();
        Self {
            y_scale: Scale::Names(names),
            ..self
        }
    }

    /// Adds bars in the [`rows`](Self::rows): index of the row, start, end. Bars outside the rows are
    /// omitted.
    ///
    /// ```
    /// use punctual_report::Figure;
    /// let figure = Figure::new("Who runs where")
    ///     .x("time (s)")
    ///     .rows(["DT1", "DT2"])
    ///     .spans("host 1", [(0, 0.0, 3.0), (1, 3.0, 6.0)])
    ///     .spans("host 2", [(0, 3.0, 6.0)]);
    /// assert!(figure.to_svg()?.contains("DT2"));
    /// # Ok::<(), punctual_report::svg::FigureError>(())
    /// ```
    #[must_use]
    pub fn spans(self, name: impl Into<String>, spans: impl IntoIterator<Item = (usize, f64, f64)>) -> Self {
        let rows = match &self.y_scale {
            Scale::Names(names) => names.len(),
            _ => 0,
        };
        let spans = spans
            .into_iter()
            .filter(|(row, from, to)| *row < rows && from.is_finite() && to.is_finite());
        let points: Vec<_> = spans
            .flat_map(|(row, from, to)| {
                let height = (rows - 1 - row) as f64;
                [(from, height), (to, height)]
            })
            .collect();
        self.layer(name, Kind::Spans, false, points)
    }

    /// Adds a horizontal line with a text.
    #[must_use]
    pub fn limit(mut self, text: impl Into<String>, at: f64) -> Self {
        self.limits.push((text.into(), at));
        self
    }

    fn layer(
        mut self,
        name: impl Into<String>,
        kind: Kind,
        published: bool,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.layers.push(Layer {
            name: name.into(),
            kind,
            published,
            points: points.into_iter().collect(),
        });
        self
    }

    /// Draws the figure. Text remains text, in a sans-serif font; axes and text take the colour of the
    /// surrounding text and the background is transparent, to suit light and dark pages.
    ///
    /// # Errors
    /// [`FigureError`], also if it has only limits and published data.
    pub fn to_svg(&self) -> Result<String, FigureError> {
        draw::to_svg(self)
    }
}

fn at_names(values: impl IntoIterator<Item = f64>) -> impl Iterator<Item = (f64, f64)> {
    let values = values.into_iter().enumerate();
    values.map(|(place, value)| (place as f64, value))
}

#[cfg(test)]
mod tests;
