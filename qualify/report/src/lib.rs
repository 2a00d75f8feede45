//! Punctual: tables, figures and HTML pages of measurements.
//!
//! It knows no benchmark: rows are flat JSON objects, figures are lists of points.
//!
//! | Content | Module |
//! |---|---|
//! | Tables of rows, for terminals and pages | [`table`] |
//! | Text that fits the terminal | [`terminal`] |
//! | Figures: curves, samples, bars, percentiles (SVG) | [`svg`] |
//! | Pictures of pixels (PNG) | [`picture`] |
//! | Chapters: text, tables and figures of one measurement | [`chapter`] |
//! | Self-contained HTML pages | [`html`] |
#![forbid(unsafe_code)]

pub mod chapter;
mod escape;
pub mod html;
pub mod picture;
pub mod svg;
pub mod table;
pub mod terminal;

pub use chapter::Chapter;
pub use html::{Page, Tone};
pub use picture::Picture;
pub use svg::Figure;
pub use table::Table;
