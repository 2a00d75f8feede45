//! Compiles and runs the snippets of the guide as documentation tests.

/// Code generated for the snippets.
#[allow(missing_docs, reason = "the IDL documents it")]
mod generated {
    punctual::include_idl!("hello");
}

pub use generated::hello;

#[cfg(doctest)]
mod pages {
    #[doc = include_str!(concat!(env!("OUT_DIR"), "/docs-configuration.md"))]
    mod configuration {}
    #[doc = include_str!(concat!(env!("OUT_DIR"), "/docs-events.md"))]
    mod all_about_events {}
    #[doc = include_str!(concat!(env!("OUT_DIR"), "/docs-guide-calling-any-object.md"))]
    mod calling_any_object {}
    #[doc = include_str!(concat!(env!("OUT_DIR"), "/docs-guide-events.md"))]
    mod events {}
    #[doc = include_str!(concat!(env!("OUT_DIR"), "/docs-guide-first-call.md"))]
    mod first_call {}
    #[doc = include_str!(concat!(env!("OUT_DIR"), "/docs-inspection.md"))]
    mod inspection {}
    #[doc = include_str!(concat!(env!("OUT_DIR"), "/docs-guide-lanes.md"))]
    mod lanes {}
    #[doc = include_str!(concat!(env!("OUT_DIR"), "/docs-naming.md"))]
    mod naming {}
    #[doc = include_str!(concat!(env!("OUT_DIR"), "/docs-scheduler.md"))]
    mod scheduler {}
    #[doc = include_str!(concat!(env!("OUT_DIR"), "/docs-guide-stable-references.md"))]
    mod stable_references {}
    #[doc = include_str!(concat!(env!("OUT_DIR"), "/docs-tls.md"))]
    mod tls {}
    #[doc = include_str!(concat!(env!("OUT_DIR"), "/docs-guide-transports.md"))]
    mod transports {}
}

#[cfg(test)]
mod tests;
