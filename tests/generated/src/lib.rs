//! Generated code under the strictest lints, and an ORB in memory to run it on.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs)]

mod memory_orb;
mod value_types;

pub use memory_orb::MemoryOrb;

/// From `idl/abstract.idl`.
pub mod abstracts {
    include!(concat!(env!("OUT_DIR"), "/abstract.rs"));
}

/// From `idl/any.idl`.
pub mod any {
    include!(concat!(env!("OUT_DIR"), "/any.rs"));
}

/// From `idl/included/base.idl`.
pub mod base {
    include!(concat!(env!("OUT_DIR"), "/base.rs"));
}

/// From `idl/station.idl`, for clients only.
pub mod client {
    include!(concat!(env!("OUT_DIR"), "/client/station.rs"));
}

/// From `idl/cubit.idl`.
pub mod cubit {
    include!(concat!(env!("OUT_DIR"), "/cubit.rs"));
}

/// From `idl/features.idl`.
pub mod features {
    include!(concat!(env!("OUT_DIR"), "/features.rs"));
}

/// From `idl/idl4.idl`.
pub mod idl4 {
    include!(concat!(env!("OUT_DIR"), "/idl4.rs"));
}

/// From `idl/large_arrays.idl`.
pub mod large_arrays {
    include!(concat!(env!("OUT_DIR"), "/large_arrays.rs"));
}

/// From `idl/local.idl`.
pub mod local {
    include!(concat!(env!("OUT_DIR"), "/local.rs"));
}

/// From `idl/names.idl`.
pub mod names {
    include!(concat!(env!("OUT_DIR"), "/names.rs"));
}

/// From `idl/scopes.idl`.
pub mod scopes {
    include!(concat!(env!("OUT_DIR"), "/scopes.rs"));
}

/// From `idl/station.idl`, for servers only.
pub mod server {
    include!(concat!(env!("OUT_DIR"), "/server/station.rs"));
}

/// From `idl/station.idl`, without what [`base`] has.
pub mod station {
    include!(concat!(env!("OUT_DIR"), "/station.rs"));
}

/// From `idl/station.idl` and `idl/display.idl`.
pub mod together {
    include!(concat!(env!("OUT_DIR"), "/together.rs"));
}

/// From `idl/type_codes.idl`.
pub mod type_codes {
    include!(concat!(env!("OUT_DIR"), "/type_codes.rs"));
}

/// From `idl/values.idl`.
pub mod values {
    include!(concat!(env!("OUT_DIR"), "/values.rs"));
}

/// From `idl/wide.idl`.
pub mod wide {
    include!(concat!(env!("OUT_DIR"), "/wide.rs"));
}
