//! The dynamic schedulers against examples with known answers, and against the plainest that could be.

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
