//! Self-contained HTML page, for light and dark displays and for printing.

use serde_json::Value;

use crate::chapter::Part;
use crate::escape::escaped;
use crate::svg::FigureError;
use crate::{Chapter, Figure, Picture, Table};

/// Page with its parts in the order in which they are added. It loads nothing from elsewhere.
///
/// ```
/// use punctual_report::{Page, Table, Tone};
/// let rows = [serde_json::json!({"pool": "lanes", "work": 50})];
/// let page = Page::new("Punctual demo")
///     .verdict("demo: PASS: 4 of 4 claims hold", Tone::Good)
///     .facts([("kernel", "6.18".to_owned()), ("pinned CPUs", "1".to_owned())])
///     .section("Deadlines")
///     .table(&Table::of(rows.iter().filter_map(|row| row.as_object())))
///     .data("demo.json", &serde_json::json!({"schema": 1}))
///     .to_html();
/// assert!(page.starts_with("<!DOCTYPE html>"));
/// ```
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    body: String,
    downloads: usize,
    headings: Vec<String>,
    /// Titles of the figures and pictures, extensions of their files' names, and contents.
    figures: Vec<(String, &'static str, Vec<u8>)>,
    /// Position of the table of contents in the body.
    contents: Option<usize>,
}

/// Length of the list of claims from which it is folded up.
const MANY: usize = 240;

/// Appearance of a verdict.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tone {
    /// All claims hold.
    Good,
    /// A claim does not hold.
    Bad,
    /// Limited validity: not real-time, or the machine was unfit.
    Doubtful,
}

impl Page {
    /// Creates a page with a title.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            body: String::new(),
            downloads: 0,
            headings: Vec::new(),
            figures: Vec::new(),
            contents: None,
        }
    }

    /// Adds the verdict. Claims that do not hold, or what follows the first semicolon, are below it in small
    /// print; many of them are folded up, so that the figures are on the first screen.
    #[must_use]
    pub fn verdict(self, text: impl AsRef<str>, tone: Tone) -> Self {
        let (class, sign) = match tone {
            Tone::Good => ("good", "✓"),
            Tone::Bad => ("bad", "✗"),
            Tone::Doubtful => ("doubtful", "?"),
        };
        let text = text.as_ref();
        let lists = ["; not: ", "; explained: ", "; cannot tell: "];
        let begin = lists.iter().filter_map(|list| text.find(list)).min();
        let (head, details) = match begin.or_else(|| text.find("; ")) {
            Some(place) => (&text[..place], &text[place + 2..]),
            None => (text, ""),
        };
        let (head, small) = (escaped(head), format!("<small>{}</small>", escaped(details)));
        let details = match details.len() {
            0 => String::new(),
            1..MANY => small,
            _ => format!("<details><summary>Which claims do not hold</summary>{small}</details>"),
        };
        self.with(&format!(
            "<div class=\"verdict {class}\"><strong>{sign} {head}</strong>{details}</div>\n"
        ))
    }

    /// Adds names and values: facts about the machine, parameters.
    #[must_use]
    pub fn facts<N: AsRef<str>, V: AsRef<str>>(self, facts: impl IntoIterator<Item = (N, V)>) -> Self {
        let entry = |(name, value): (N, V)| {
            format!(
                "<div><dt>{}</dt><dd>{}</dd></div>\n",
                escaped(name.as_ref()),
                escaped(value.as_ref())
            )
        };
        let entries: String = facts.into_iter().map(entry).collect();
        self.with(&format!("<dl>\n{entries}</dl>\n"))
    }

    /// Adds the fields of a JSON object as facts: names with spaces for underscores, lists with commas,
    /// without empty and null fields.
    #[must_use]
    pub fn facts_of(self, object: &Value) -> Self {
        let fields = object.as_object().into_iter().flatten();
        let facts = fields.map(|(name, value)| (name.replace('_', " "), in_words(value)));
        self.facts(facts.filter(|(_, value)| !value.is_empty()))
    }

    /// Adds a heading.
    #[must_use]
    pub fn section(mut self, heading: impl AsRef<str>) -> Self {
        let heading = escaped(heading.as_ref());
        self.headings.push(heading.clone());
        let number = self.headings.len();
        self.with(&format!("<h2 id=\"section-{number}\">{heading}</h2>\n"))
    }

    /// Adds a table of contents with all headings of the page, later ones included.
    #[must_use]
    pub fn contents(mut self) -> Self {
        self.contents = Some(self.body.len());
        self
    }

    /// Adds the command that repeats the measurement.
    #[must_use]
    pub fn command(self, command: impl AsRef<str>) -> Self {
        let command = escaped(command.as_ref());
        self.with(&format!(
            "<p class=\"repeat\">To repeat: <code>{command}</code></p>\n"
        ))
    }

    /// Adds a paragraph of plain text.
    #[must_use]
    pub fn paragraph(self, text: impl AsRef<str>) -> Self {
        self.with(&format!("<p>{}</p>\n", escaped(text.as_ref())))
    }

    /// Adds plain text in small print.
    #[must_use]
    pub fn note(self, text: impl AsRef<str>) -> Self {
        self.with(&format!("<p class=\"note\">{}</p>\n", escaped(text.as_ref())))
    }

    /// Adds a table.
    #[must_use]
    pub fn table(self, table: &Table) -> Self {
        self.with(&table.to_html())
    }

    /// Adds a figure with its caption.
    ///
    /// # Errors
    /// It could not be drawn.
    pub fn figure(mut self, figure: &Figure) -> Result<Self, FigureError> {
        let (svg, caption) = (figure.to_svg()?, escaped(&figure.caption));
        let file = svg.replacen("</title>", &format!("</title>{FILE_STYLE}"), 1);
        self.figures
            .push((figure.title.clone(), "svg", file.into_bytes()));
        Ok(self.with(&format!(
            "<figure>\n<div class=\"scrolls\" tabindex=\"0\">{svg}</div><figcaption>{caption}</figcaption>\n</figure>\n"
        )))
    }

    /// Adds a picture with its title.
    ///
    /// # Errors
    /// It has no pixels.
    pub fn picture(self, picture: &Picture) -> Result<Self, FigureError> {
        let png = picture.to_png().map_err(|error| FigureError::Drawing {
            title: picture.title.clone(),
            reason: error.to_string(),
        })?;
        let mut page = self.with(&picture.to_html(&png));
        page.figures.push((picture.title.clone(), "png", png));
        Ok(page)
    }

    /// Adds a whole chapter. Figures without points are reported as missing.
    ///
    /// # Errors
    /// A figure could not be drawn.
    pub fn chapter(self, chapter: &Chapter) -> Result<Self, FigureError> {
        let page = self.section(&chapter.heading);
        let page = match &chapter.conclusion {
            Some(text) => page.paragraph(text),
            None => page,
        };
        let page = chapter.parts.iter().try_fold(page, |page, part| match part {
            Part::Paragraph(text) => Ok(page.paragraph(text)),
            Part::Table(table) => Ok(page.table(table)),
            Part::Note(text) => Ok(page.note(text)),
            Part::Figure(figure) => match figure.to_svg() {
                Err(error @ FigureError::NoData(_)) => Ok(page.paragraph(error.to_string())),
                _ => page.figure(figure),
            },
            Part::Picture(picture) => page.picture(picture),
        })?;
        Ok(match &chapter.command {
            Some(command) => page.command(command),
            None => page,
        })
    }

    /// Adds data that the reader can save under a name.
    #[must_use]
    pub fn data(mut self, file_name: &str, data: &Value) -> Self {
        self.downloads += 1;
        // Only `<` could end the script element; in JSON it occurs in strings only, where it can be escaped.
        let json = data.to_string().replace('<', "\\u003c");
        let (id, name) = (format!("data-{}", self.downloads), escaped(file_name));
        self.with(&format!(
            "<script type=\"application/json\" id=\"{id}\">{json}</script>\n\
             <p><button type=\"button\" data-of=\"{id}\" data-name=\"{name}\">Save {name}</button></p>\n"
        ))
    }

    /// Returns the figures as SVG files of their own, for light and dark pages, and the pictures as PNG
    /// files, with names that are made of their titles.
    ///
    /// ```
    /// use punctual_report::{Figure, Page};
    ///
    /// let figure = Figure::new("Latency (µs)").line("here", [(1.0, 18.5), (2.0, 19.0)]);
    /// let page = Page::new("Demo").figure(&figure)?.figure(&figure)?;
    /// let names: Vec<_> = page.figure_files().map(|(name, _)| name).collect();
    /// assert_eq!(names, ["1-latency-us.svg", "2-latency-us.svg"]);
    /// # Ok::<(), punctual_report::svg::FigureError>(())
    /// ```
    pub fn figure_files(&self) -> impl Iterator<Item = (String, &[u8])> {
        let figures = self.figures.iter().zip(1..);
        figures.map(|((title, extension, content), number)| {
            let name = format!("{number}-{}.{extension}", words_of(title).join("-"));
            (name, &content[..])
        })
    }

    /// Returns the page.
    pub fn to_html(&self) -> String {
        let title = escaped(&self.title);
        let script = if self.downloads > 0 {
            format!("<script>{SAVE}</script>\n")
        } else {
            String::new()
        };
        let (before, after) = self.body.split_at(self.contents.unwrap_or(0));
        let contents = self.contents.map(|_| list_of(&self.headings)).unwrap_or_default();
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
             {before}{contents}{after}{script}</body>\n</html>\n"
        )
    }

    fn with(mut self, html: &str) -> Self {
        self.body += html;
        self
    }
}

/// Returns links to the sections; the headings are already escaped.
fn list_of(headings: &[String]) -> String {
    let entry = |(place, heading): (usize, &String)| {
        format!("<li><a href=\"#section-{}\">{heading}</a></li>\n", place + 1)
    };
    let entries: String = headings.iter().enumerate().map(entry).collect();
    format!("<nav aria-label=\"Contents\"><ol>\n{entries}</ol></nav>\n")
}

fn in_words(value: &Value) -> String {
    match value {
        Value::Array(values) => values.iter().map(in_words).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let field =
                |(name, value): (&String, &Value)| format!("{} {}", name.replace('_', " "), in_words(value));
            fields.iter().map(field).collect::<Vec<_>>().join(", ")
        }
        other => crate::table::shown(other),
    }
}

/// The words of a title in lower-case letters and digits of ASCII.
fn words_of(title: &str) -> Vec<String> {
    let title = title.to_lowercase().replace('µ', "u");
    let words = title.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).map(String::from).collect()
}

/// Colours, which a page defines for all its figures; a file stands alone.
const FILE_STYLE: &str = "<style>svg{color:#1f2328;background:#fff}\
                          @media(prefers-color-scheme:dark){svg{color:#e6edf3;background:#0d1117}}</style>";
const STYLE: &str = include_str!("html/page.css");
const SAVE: &str = include_str!("html/save.js");

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    #[test]
    fn the_page_loads_nothing_from_elsewhere() {
        let page = Page::new("Demo")
            .contents()
            .section("Throughput")
            .figure(&Figure::new("Throughput").line("high", [(30.0, 75.0), (50.0, 74.0)]))
            .unwrap()
            .data("demo.json", &json!({"schema": 1}))
            .to_html();
        let within = page.replace("href=\"#section-1\"", "");
        for reference in ["src=", "href=", "@import", "url("] {
            assert!(!within.contains(reference), "{reference}");
        }
        let namespace = "http://www.w3.org/2000/svg";
        assert!(
            !page.replace(namespace, "").contains("//"),
            "no address but the name of the format"
        );
    }

    #[test]
    fn text_cannot_become_markup() {
        let nasty = "</script><img src=x onerror=alert(1)>\" & '";
        let page = Page::new(nasty)
            .verdict(nasty, Tone::Bad)
            .facts([(nasty, nasty)])
            .contents()
            .section(nasty)
            .paragraph(nasty)
            .chapter(&Chapter::new(nasty).note(nasty).command(nasty))
            .unwrap()
            .data(nasty, &json!({ "a": nasty }))
            .to_html();
        assert!(!page.contains("<img"), "{page}");
        assert_eq!(page.matches("</script>").count(), 2);
    }

    #[test]
    fn a_long_verdict_has_its_details_below() {
        let page = Page::new("x")
            .verdict("FAIL: 1 of 3 hold; not: a, b; c", Tone::Bad)
            .to_html();
        let verdict = "<strong>✗ FAIL: 1 of 3 hold</strong><small>not: a, b; c</small>";
        assert!(page.contains(verdict), "{page}");

        let many = format!("UNFIT: busy; 1 of 60 hold; not: {}", "a, ".repeat(100));
        let page = Page::new("x").verdict(many, Tone::Doubtful).to_html();
        let verdict = "<strong>? UNFIT: busy; 1 of 60 hold</strong><details>";
        assert!(page.contains(verdict), "{page}");
    }

    #[test]
    fn data_are_embedded_unchanged() {
        let data = json!({"text": "a < b & \"c\" </script>", "n": [1, 2.5, null]});
        let page = Page::new("x").data("x.json", &data).to_html();
        let start = page.split_once("id=\"data-1\">").unwrap().1;
        let json = start.split_once("</script>").unwrap().0;
        assert_eq!(serde_json::from_str::<Value>(json).unwrap(), data);
    }

    #[test]
    fn facts_of_an_object_are_readable() {
        let machine =
            json!({"kernel": "6.1", "pinned_cpus": [0, 1], "missing": [], "memory_lock": true, "x": null});
        let page = Page::new("x").facts_of(&machine).to_html();
        assert!(page.contains("<dt>pinned cpus</dt><dd>0, 1</dd>"), "{page}");
        assert!(page.contains("<dt>memory lock</dt><dd>yes</dd>"));
        assert!(!page.contains("missing") && !page.contains("<dt>x</dt>"));
    }

    #[test]
    fn contents_include_later_headings() {
        let page = Page::new("x")
            .paragraph("before")
            .contents()
            .section("One")
            .section("Two")
            .to_html();
        let (before, after) = page.split_once("<nav").unwrap();
        assert!(before.contains("before") && after.contains("<h2 id=\"section-2\">Two</h2>"));
        assert!(after.contains("<li><a href=\"#section-2\">Two</a></li>"));
    }

    #[test]
    fn a_figure_without_data_is_an_error() {
        assert!(Page::new("x").figure(&Figure::new("Throughput")).is_err());
    }
}
