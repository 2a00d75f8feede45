//! The naming service, `CosNaming`: objects by name, in contexts that contain each other.
//!
//! A [`NamingService`] serves naming contexts, in memory or, with a file, in a form that outlives its
//! process; clients of any ORB find its root at `corbaname::HOST:2809`. [`NamingContext`] is a client of a
//! context of this or any other naming service. Programs that only look objects up need neither:
//! `Orb::resolve` takes `corbaname:` URLs.
//!
//! | Task | Item |
//! |---|---|
//! | Serve contexts | [`NamingService`], [`NamingLimits`], [`ServiceError`] |
//! | Bind, resolve and list names | [`NamingContext`], [`Listing`], [`BoundName`], [`NamingError`] |
//! | Names | [`Name`](punctual::naming::Name), [`IntoName`] |
//! | Generated code | [`idl`] |
//!
//! Source: OMG Naming Service 1.3 (formal/04-10-03).

mod client;
mod client_error;
mod core;
mod iterators;
mod limits;
mod listing;
mod refusal;
mod servants;
mod service;
#[cfg(feature = "store")]
mod store;
#[cfg(not(feature = "store"))]
#[path = "no_store.rs"]
mod store;
mod tree;
mod walk;

pub use client::{IntoName, NamingContext};
pub use client_error::NamingError;
pub use limits::NamingLimits;
pub use listing::{BoundName, Listing};
pub use service::{NamingService, NamingServiceBuilder, NamingStatistics, ServiceError};

/// Generated from `idl/cos_naming.idl`.
#[allow(missing_docs, reason = "the IDL documents what needs it")]
pub mod idl {
    punctual::include_idl!("cos_naming");
}
