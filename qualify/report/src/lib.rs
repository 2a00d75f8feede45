//! Punctual: tables, plots and HTML pages of measurements.
