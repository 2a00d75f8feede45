//! Compiles IDL from `build.rs`.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), punctual_build::Error> {
//!     punctual_build::compile("idl/track.idl")
//! }
//! ```
//! `punctual::include_idl!("track");` then includes the generated code. [`configure`] has the settings.

mod compiler;
mod error;
mod excerpt;
mod render;

pub use compiler::{Builder, Compiled, compile, configure};
pub use error::{Error, Failed};
pub use punctual_codegen::is_within;
pub use punctual_idl::{Code, Diagnostic, SourceFile};
pub use render::{Style, render};
