//! Punctual: tables, plots and HTML pages of measurements.
//!
//! Knows no benchmark: rows are flat JSON objects, figures are lists of points.
//!
//! | What | Module |
//! |---|---|
//! | Rows as a table, on the terminal and in a page | [`table`] |
//! | Figures: curves, samples, bars, percentiles (SVG) | [`svg`] |
//! | What belongs together, in reading order | [`chapter`] |
//! | All of it on one page that opens offline | [`html`] |
#![forbid(unsafe_code)]

pub mod chapter;
mod escape;
pub mod html;
pub mod svg;
pub mod table;

pub use chapter::Chapter;
pub use html::{Page, Tone};
pub use svg::{Figure, LineFigure, Series};
pub use table::Table;
