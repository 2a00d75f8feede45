//! Dynamic schedulers, compared with known examples and with minimal reference implementations.

mod attributes;
mod checked;
mod cost;
mod machine;
mod oracle;
mod properties;
mod resources;
mod textbook;
mod translation;
mod utility;
mod utility_oracle;
