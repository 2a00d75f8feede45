//! The dynamic schedulers against examples with known answers, and against the plainest that could be.

mod cost;
mod machine;
mod oracle;
mod properties;
mod textbook;
mod translation;
mod utility;
