//! Repository ids.

use alloc::string::String;

/// The repository id of `CORBA::Object`, which every object supports.
pub const CORBA_OBJECT: &str = "IDL:omg.org/CORBA/Object:1.0";

/// The name of an IDL type across languages and vendors, such as `IDL:omg.org/CosNaming/NamingContext:1.0`.
///
/// A plain string: ids in formats other than `IDL:` (`RMI:`, `DCE:`, `LOCAL:`) are legal and are compared
/// verbatim.
pub type RepositoryId = String;
