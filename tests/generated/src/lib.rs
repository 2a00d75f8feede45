//! Generated code under the strictest lints, and an ORB in memory to run it on.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs)]

mod memory_orb;
mod octets;
mod value_types;

pub use memory_orb::MemoryOrb;

/// Code generated from `idl/abstract.idl`.
pub mod abstracts {
    include!(concat!(env!("OUT_DIR"), "/abstract.rs"));
}

/// Code generated from `idl/any.idl`.
pub mod any {
    include!(concat!(env!("OUT_DIR"), "/any.rs"));
}

/// Code generated from `idl/included/base.idl`.
pub mod base {
    include!(concat!(env!("OUT_DIR"), "/base.rs"));
}

/// Code generated from `idl/station.idl`, for clients only.
pub mod client {
    include!(concat!(env!("OUT_DIR"), "/client/station.rs"));
}

/// Code generated from `idl/cubit.idl`.
pub mod cubit {
    include!(concat!(env!("OUT_DIR"), "/cubit.rs"));
}

/// Code generated from `idl/circular.idl`.
pub mod circular {
    include!(concat!(env!("OUT_DIR"), "/circular.rs"));
}

/// Code generated from `idl/features.idl`.
pub mod features {
    include!(concat!(env!("OUT_DIR"), "/features.rs"));
}

/// Code generated from `idl/idl4.idl`.
pub mod idl4 {
    include!(concat!(env!("OUT_DIR"), "/idl4.rs"));
}

/// Code generated from `idl/large_arrays.idl`.
pub mod large_arrays {
    include!(concat!(env!("OUT_DIR"), "/large_arrays.rs"));
}

/// Code generated from `idl/large_scalars.idl`.
pub mod large_scalars {
    include!(concat!(env!("OUT_DIR"), "/large_scalars.rs"));
}

/// Code generated from `idl/many_members.idl`.
pub mod many_members {
    include!(concat!(env!("OUT_DIR"), "/many_members.rs"));
}

/// Code generated from `idl/local.idl`.
pub mod local {
    include!(concat!(env!("OUT_DIR"), "/local.rs"));
}

/// Code generated from `idl/names.idl`.
pub mod names {
    include!(concat!(env!("OUT_DIR"), "/names.rs"));
}

/// Code generated from `idl/scopes.idl`.
pub mod scopes {
    include!(concat!(env!("OUT_DIR"), "/scopes.rs"));
}

/// Code generated from `idl/station.idl`, for servers only.
pub mod server {
    include!(concat!(env!("OUT_DIR"), "/server/station.rs"));
}

/// Code generated from `idl/station.idl`, without what [`base`] has.
pub mod station {
    include!(concat!(env!("OUT_DIR"), "/station.rs"));
}

/// Code generated from `idl/station.idl` and `idl/display.idl`.
pub mod together {
    include!(concat!(env!("OUT_DIR"), "/together.rs"));
}

/// Code generated from `idl/type_codes.idl`.
pub mod type_codes {
    include!(concat!(env!("OUT_DIR"), "/type_codes.rs"));
}

/// Code generated from the IDL in which every construct has the names of Rust's prelude and keywords.
pub mod names_of_rust {
    include!(concat!(env!("OUT_DIR"), "/names_of_rust.rs"));
}

/// Code generated from `idl/records.idl`.
pub mod records {
    include!(concat!(env!("OUT_DIR"), "/records.rs"));
}

/// Code generated from `idl/value_base.idl`.
pub mod value_base {
    include!(concat!(env!("OUT_DIR"), "/value_base.rs"));
}

/// Code generated from `idl/values.idl`.
pub mod values {
    include!(concat!(env!("OUT_DIR"), "/values.rs"));
}

/// Code generated from `idl/wide.idl`.
pub mod wide {
    include!(concat!(env!("OUT_DIR"), "/wide.rs"));
}
