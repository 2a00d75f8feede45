//! Two panels, a pool without lanes beside lanes: share of deadlines met by each client against the load.

use std::fmt::Write;

use super::measured::Demo;

/// Colours of a figure for one kind of page.
pub struct Theme {
    /// Part of the file's name.
    pub name: &'static str,
    text: &'static str,
    muted: &'static str,
    grid: &'static str,
    /// Curves of the high, medium and low priority client.
    curves: [&'static str; 3],
}

impl Theme {
    /// Dark text for light pages.
    pub const LIGHT: Self = Self {
        name: "light",
        text: "#1f2328",
        muted: "#59636e",
        grid: "#d1d9e0",
        curves: ["#0550ae", "#bc4c00", "#6e7781"],
    };
    /// Light text for dark pages.
    pub const DARK: Self = Self {
        name: "dark",
        text: "#f0f6fc",
        muted: "#9198a1",
        grid: "#3d444d",
        curves: ["#58a6ff", "#f0883e", "#8b949e"],
    };
}

/// Clients of the demo: priority and rate.
const CLIENTS: [(&str, u32); 3] = [("high", 75), ("medium", 50), ("low", 25)];
/// Dashes of their curves: one curve can cover another and leaves it visible.
const DASHES: [&str; 3] = ["none", "7 5", "none"];

const WIDTH: f64 = 880.0;
const HEIGHT: f64 = 372.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 296.0;
const PANEL_WIDTH: f64 = 270.0;
const PANEL_LEFT: [f64; 2] = [52.0, 486.0];
/// Least distance of two labels at the ends of curves.
const LABEL_HEIGHT: f64 = 15.0;

/// The whole figure.
pub fn svg(demo: &Demo, theme: &Theme) -> String {
    let mut svg = String::new();
    let title = "Deadlines met by each client while the load on one CPU grows";
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         font-family=\"system-ui, -apple-system, 'Segoe UI', Arial, sans-serif\" font-size=\"13\">\n\
         <title>{title}: a pool without lanes, and lanes</title>"
    );
    text(
        &mut svg,
        (10.0, 24.0),
        title,
        &format!("fill=\"{}\" font-size=\"16\" font-weight=\"600\"", theme.text),
    );
    for (lanes, left) in [false, true].into_iter().zip(PANEL_LEFT) {
        Panel {
            demo,
            theme,
            lanes,
            left,
        }
        .draw(&mut svg);
    }
    let machine = &demo.machine;
    let footer = format!(
        "punctual demo · one server, three clients, one CPU · {} · Linux {} · {} rights",
        machine.cpu_model,
        machine.kernel_version(),
        machine.scheduling_rights
    );
    text(
        &mut svg,
        (10.0, HEIGHT - 10.0),
        &escape(&footer),
        &format!("fill=\"{}\" font-size=\"11\"", theme.muted),
    );
    svg.push_str("</svg>\n");
    svg
}

/// One of the two pools.
struct Panel<'a> {
    demo: &'a Demo,
    theme: &'a Theme,
    lanes: bool,
    left: f64,
}

impl Panel<'_> {
    fn draw(&self, svg: &mut String) {
        let heading = if self.lanes { "Lanes" } else { "Pool without lanes" };
        let style = format!("fill=\"{}\" font-weight=\"600\"", self.theme.text);
        text(svg, (self.left, 60.0), heading, &style);
        self.axes(svg);
        let curves = CLIENTS.map(|(priority, _)| self.demo.curve(self.lanes, priority));
        // The most important curve is drawn last, above the others.
        for ((curve, colour), dashes) in curves.iter().zip(self.theme.curves).zip(DASHES).rev() {
            self.curve(svg, curve, colour, dashes);
        }
        let ends = curves
            .each_ref()
            .map(|curve| curve.last().map_or(0.0, |&(_, made)| made));
        for (((priority, rate), colour), y) in CLIENTS.iter().zip(self.theme.curves).zip(labels(ends)) {
            let at = (self.left + PANEL_WIDTH + 8.0, y + 4.0);
            text(
                svg,
                at,
                &format!("{priority}, {rate} Hz"),
                &format!("fill=\"{colour}\" font-weight=\"600\""),
            );
        }
    }

    fn axes(&self, svg: &mut String) {
        let Theme { muted, grid, .. } = self.theme;
        let (left, right) = (self.left, self.left + PANEL_WIDTH);
        for made in [0.0, 25.0, 50.0, 75.0, 100.0] {
            let y = height_of(made);
            let _ = writeln!(
                svg,
                "<line x1=\"{left}\" y1=\"{y}\" x2=\"{right}\" y2=\"{y}\" stroke=\"{grid}\"/>"
            );
            let style = format!("fill=\"{muted}\" text-anchor=\"end\" font-size=\"11\"");
            text(svg, (left - 6.0, y + 4.0), &format!("{made} %"), &style);
        }
        let (from, to) = self.loads();
        let step = 0.5;
        let mut load = (from / step).ceil() * step;
        while load <= to {
            let style = format!("fill=\"{muted}\" text-anchor=\"middle\" font-size=\"11\"");
            text(
                svg,
                (self.place_of(load), BOTTOM + 18.0),
                &format!("{:.0} %", load * 100.0),
                &style,
            );
            load += step;
        }
        let middle = f64::midpoint(left, right);
        let style = format!("fill=\"{muted}\" text-anchor=\"middle\" font-size=\"12\"");
        text(
            svg,
            (middle, BOTTOM + 38.0),
            "CPU demand (100 %: the whole CPU)",
            &style,
        );
    }

    fn curve(&self, svg: &mut String, points: &[(f64, f64)], colour: &str, dashes: &str) {
        let places: Vec<_> = points
            .iter()
            .map(|&(load, made)| (self.place_of(load), height_of(made)))
            .collect();
        let joined: Vec<_> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\" \
             stroke-dasharray=\"{dashes}\"/>",
            joined.join(" ")
        );
        for (x, y) in places {
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>"
            );
        }
    }

    /// Least and greatest load of all clients.
    fn loads(&self) -> (f64, f64) {
        let curve = self.demo.curve(self.lanes, CLIENTS[0].0);
        let (first, last) = (curve.first(), curve.last());
        (
            first.map_or(0.0, |point| point.0),
            last.map_or(1.0, |point| point.0),
        )
    }

    fn place_of(&self, load: f64) -> f64 {
        let (from, to) = self.loads();
        self.left + (load - from) / (to - from).max(f64::EPSILON) * PANEL_WIDTH
    }
}

fn height_of(made: f64) -> f64 {
    BOTTOM - made / 100.0 * (BOTTOM - TOP)
}

/// Heights of the labels of curves that end at these values: beside the ends, without overlaps.
fn labels(ends: [f64; 3]) -> [f64; 3] {
    let mut order = [0, 1, 2];
    // From the bottom up; equal ends keep the more important client above.
    order.sort_by(|&one, &other| ends[one].total_cmp(&ends[other]).then(other.cmp(&one)));
    let mut heights = ends.map(height_of);
    for pair in order.windows(2) {
        let highest = heights[pair[0]] - LABEL_HEIGHT;
        heights[pair[1]] = heights[pair[1]].min(highest);
    }
    heights
}

fn text(svg: &mut String, (x, y): (f64, f64), words: &str, style: &str) {
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{words}</text>");
}

fn escape(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::{LABEL_HEIGHT, height_of, labels};

    #[test]
    fn labels_of_equal_ends_do_not_overlap() {
        let [high, medium, low] = labels([76.0, 0.0, 0.0]);
        assert_eq!((high, low), (height_of(76.0), height_of(0.0)));
        assert_eq!(medium, low - LABEL_HEIGHT);
    }
}
