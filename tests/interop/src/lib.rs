//! The Rust side of the interoperability contract in `idl/interop.idl`: a server of `Interop::Peer`, a client
//! that checks every operation of such a server, and the programs of other ORBs that stand on the other side.
//! The tests put them together.

pub mod checks;
pub mod context_properties;
pub mod custom_values;
pub mod exchange;
pub mod jacorb;
pub mod naming;
pub mod omniorb;
pub mod omniorbpy;
pub mod process;
pub mod quad;
pub mod relay;
pub mod rustorb;
pub mod sample;
pub mod server;

punctual::include_idl!("interop");

/// Code generated from `idl/dynamics.idl`.
mod generated_dynamics {
    punctual::include_idl!("dynamics");
}

/// Code generated from `idl/quad.idl`.
mod generated_quad {
    punctual::include_idl!("quad");
}

pub use generated_dynamics::dynamics;
