//! The experiments of [S2].
