//! Real-time event service.

#[allow(missing_docs)]
pub mod rtec {
    //! Rust generated from `idl/rtec.idl`.
    punctual::include_idl!("rtec");
}
