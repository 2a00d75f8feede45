use super::*;

fn figure(series: Vec<Series>) -> LineFigure {
    LineFigure {
        title: "Lanes & <work>".into(),
        caption: String::new(),
        x_label: "work per call".into(),
        y_label: "achieved rate (Hz)".into(),
        series,
    }
}

fn series(name: &str, points: &[(f64, f64)]) -> Series {
    Series {
        name: name.into(),
        points: points.to_vec(),
    }
}

#[test]
fn everything_that_a_reader_needs_is_text() {
    let svg = figure(vec![
        series("high", &[(30.0, 75.0), (80.0, 70.0)]),
        series("low", &[(30.0, 25.0), (80.0, 1.0)]),
    ]);
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
    let svg = figure(names.map(|name| series(name, &[(0.0, 1.0), (1.0, 2.0)])).to_vec())
        .to_svg()
        .unwrap();
    // In the legend and in the plot: all but the first are dashed.
    assert_eq!(svg.matches("stroke-dasharray=").count(), 2 * 7);
    for style in mark::STYLES {
        let RGBColor(r, g, b) = style.color;
        assert!(svg.contains(&format!("#{r:02X}{g:02X}{b:02X}")));
    }
}

#[test]
fn it_takes_the_colours_and_the_size_of_the_page() {
    let svg = figure(vec![series("one", &[(1.0, 1.0)])]).to_svg().unwrap();
    assert!(svg.contains("currentColor") && !svg.contains(INK_WRITTEN) && !svg.contains("#000000"));
    let tag = svg.split_once('>').unwrap().0;
    assert!(
        tag.contains("viewBox=\"0 0 1440") && !tag.contains("width="),
        "{tag}"
    );
}

#[test]
fn nothing_to_draw_is_an_error_and_no_empty_plot() {
    for points in [&[][..], &[(f64::NAN, 1.0), (1.0, f64::INFINITY)]] {
        let error = figure(vec![series("none", points)]).to_svg().unwrap_err();
        assert!(
            error.to_string().contains("`Lanes & <work>` has no point"),
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
        assert!(figure(vec![series("one", points)]).to_svg().is_ok());
    }
}

#[test]
fn ticks_have_the_decimals_that_they_differ_in() {
    let labels = |values: [f64; 2], tick: f64| Axis::around(values.into_iter()).unwrap().label(tick);
    assert_eq!(labels([30.0, 80.0], 40.0), "40");
    assert_eq!(labels([0.0, 2.0], 0.5), "0.5");
    assert_eq!(labels([1.0, 1.02], 1.005), "1.005");
    assert_eq!(labels([-1.0, 1.0], -0.000_01), "0");
}
