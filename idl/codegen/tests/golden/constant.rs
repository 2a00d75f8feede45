// Generated from IDL by Punctual; changes here are lost.

/// IDL `module m`.
#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
pub mod m {
    /// IDL `const m::LIMIT`.
    pub const LIMIT: i32 = 5;
    /// IDL `const m::NAME`.
    pub const NAME: &str = "punctual";
    /// IDL `const m::RATIO`.
    pub const RATIO: f64 = 0.5;
}
