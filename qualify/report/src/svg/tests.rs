//! Content of the drawings.

use plotters::style::RGBColor;

use super::draw::INK_WRITTEN;
use super::*;

fn figure() -> Figure {
    Figure::new("Lanes & <work>")
        .x("work per call")
        .y("achieved rate (Hz)")
}

#[test]
fn titles_labels_and_names_are_text() {
    let svg = figure()
        .line("high", [(30.0, 75.0), (80.0, 70.0)])
        .line("low", [(30.0, 25.0), (80.0, 1.0)]);
    let svg = svg.to_svg().unwrap();
    for text in [
        "work per call",
        "achieved rate (Hz)",
        "\nhigh\n",
        "\nlow\n",
        "Lanes &amp; &lt;work&gt;",
        "\n30\n",
        "\n80\n",
    ] {
        assert!(svg.contains(text), "{text:?} is missing in {svg}");
    }
    assert!(svg.contains("font-family=\"sans-serif\""));
}

#[test]
fn curves_differ_in_colour_and_dashes() {
    let names = ["1", "2", "3", "4", "5", "6", "7", "8"];
    let lines = |figure: Figure, name| figure.line(name, [(0.0, 1.0), (1.0, 2.0)]);
    let svg = names.into_iter().fold(figure(), lines).to_svg().unwrap();
    // In the legend and in the plot: all but the first are dashed.
    assert_eq!(svg.matches("stroke-dasharray=").count(), 2 * 7);
    for style in mark::STYLES {
        let RGBColor(r, g, b) = style.color;
        assert!(svg.contains(&format!("#{r:02X}{g:02X}{b:02X}")));
    }
}

#[test]
fn a_figure_takes_colours_and_size_from_the_page() {
    let svg = figure().line("one", [(1.0, 1.0)]).to_svg().unwrap();
    assert!(svg.contains("currentColor") && !svg.contains(INK_WRITTEN) && !svg.contains("#000000"));
    let tag = svg.split_once('>').unwrap().0;
    assert!(
        tag.contains("viewBox=\"0 0 1440") && !tag.contains("width="),
        "{tag}"
    );
}

#[test]
fn a_figure_without_points_is_an_error() {
    for points in [&[][..], &[(f64::NAN, 1.0), (1.0, f64::INFINITY)]] {
        let error = figure().line("none", points.to_vec()).to_svg().unwrap_err();
        assert!(
            error.to_string().contains("`Lanes & <work>` has no points"),
            "{error}"
        );
    }
}

#[test]
fn a_single_point_and_equal_values_have_an_axis() {
    for points in [
        &[(0.0, 0.0)][..],
        &[(5.0, 3.0), (5.0, 3.0)],
        &[(1.0, -2.0), (2.0, 4.0)],
    ] {
        assert!(figure().line("one", points.to_vec()).to_svg().is_ok());
    }
}

#[test]
fn published_data_and_limits_are_drawn_differently() {
    let figure = || Figure::new("x").line("here", [(1.0, 2.0), (2.0, 3.0)]);
    let dotted = |svg: &str| svg.matches("stroke-dasharray=\"3 7\"").count();
    let plain = figure().to_svg().unwrap();
    assert_eq!(dotted(&plain), 0);
    let published = figure()
        .published("[Schmidt 2002]", [(1.0, 4.0), (2.0, 5.0)])
        .to_svg()
        .unwrap();
    assert_eq!(dotted(&published), 2, "in the legend and in the plot");
    let limited = figure().limit("at most 9", 9.0).to_svg().unwrap();
    assert!(limited.contains("\nat most 9\n") && limited.contains("stroke-dasharray=\"24 12\""));
    assert!(limited.contains("\n8\n"), "the axis reaches the limit: {limited}");
}

#[test]
fn published_data_alone_are_an_error() {
    let figure = Figure::new("x")
        .published("[Schmidt 2002]", [(1.0, 1.0)])
        .limit("9", 9.0);
    assert!(matches!(figure.to_svg(), Err(FigureError::NoData(_))));
}

#[test]
fn bars_are_side_by_side_at_their_names() {
    let figure = Figure::new("x")
        .names(["none", "inheritance"])
        .bars("here", [500.0, 0.0])
        .published_bars("[Fayyad-Kazan 2013]", [f64::NAN, 3.0]);
    let svg = figure.to_svg().unwrap();
    assert!(svg.contains("\nnone\n") && svg.contains("\ninheritance\n"));
    // Two measured bars and one published one (the other is unknown), and one each in the legend.
    let of = |element: &str, style: usize| {
        let RGBColor(r, g, b) = mark::STYLES[style].color;
        let color = format!("#{r:02X}{g:02X}{b:02X}");
        let lines = svg
            .lines()
            .filter(|line| line.starts_with(element) && line.contains(&color));
        lines.count()
    };
    assert_eq!((of("<rect", 0), of("<rect", 1)), (3, 0), "{svg}");
    assert_eq!((of("<polyline", 0), of("<polyline", 1)), (0, 2), "{svg}");
}

#[test]
fn samples_are_separate_dots() {
    let points = (0..10_000).map(|x| (f64::from(x), 1.0));
    let svg = Figure::new("x").samples("switches", points).to_svg().unwrap();
    let dots = svg.matches("<circle").count();
    assert!((100..=3010).contains(&dots), "{dots}");
    let RGBColor(r, g, b) = mark::STYLES[0].color;
    assert!(!svg.contains(&format!(
        "<polyline fill=\"none\" opacity=\"1\" stroke=\"#{r:02X}{g:02X}{b:02X}\""
    )));
}

#[test]
fn non_positive_points_are_omitted_from_logarithmic_axes() {
    let figure = Figure::new("x").y_log().x_log();
    let svg = figure
        .clone()
        .line("a", [(0.0, 5.0), (10.0, 0.0), (10.0, 100.0)])
        .to_svg();
    assert!(svg.unwrap().contains("\n100\n"));
    assert!(figure.line("a", [(0.0, 5.0)]).to_svg().is_err());
}

#[test]
fn a_long_curve_has_few_marks() {
    let svg = Figure::new("x")
        .tail()
        .line("a", (0..200).map(|x| (f64::from(x) / 2.1, 1.0)))
        .to_svg()
        .unwrap();
    let marks = svg.matches("<circle").count();
    assert!((5..=20).contains(&marks), "{marks}");
}

#[test]
fn rows_are_labelled_from_the_top_and_contain_spans() {
    let figure = Figure::new("Who runs where")
        .x("time (s)")
        .rows(["first", "second"]);
    let svg = figure
        .clone()
        .spans("host 1", [(0, 0.0, 3.0), (1, 3.0, 6.0), (7, 0.0, 1.0)])
        .to_svg()
        .unwrap();
    // The sample in the legend, and the two that are in rows.
    let bars = svg.matches("fill=\"#0072B2\"").count();
    assert_eq!(bars, 3, "{svg}");
    let height = |name: &str| {
        let before = svg.split(&format!("\n{name}\n")).next().unwrap();
        let at = before.rsplit(" y=\"").next().unwrap().split('"').next().unwrap();
        at.parse::<f64>().unwrap()
    };
    assert!(height("first") < height("second"));
    assert!(figure.spans("none", [(2, 0.0, 1.0)]).to_svg().is_err());
}
