//! Errors of clients of naming contexts.

use punctual::{
    ResolveError, SystemException,
    naming::{Name, NameError, NameNotFound},
};

/// An operation of a [`NamingContext`](crate::NamingContext) that failed.
///
/// ```
/// use punctual::{Orb, naming::NotFoundReason};
/// use punctual_naming::{NamingContext, NamingError, NamingService};
///
/// let service = NamingService::builder().build(&Orb::builder().build()?)?;
/// let naming = NamingContext::new(service.root());
/// naming.create("radar")?;
/// let error = naming.resolve_object("radar/track.1").unwrap_err();
/// assert!(error.to_string().starts_with(
///     "`radar/track.1` is not found: `radar` has no `track.1` (component 2 of 2)"
/// ));
/// let NamingError::NotFound(why) = error else { panic!("{error}") };
/// assert_eq!((why.reason, why.position), (NotFoundReason::MissingNode, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum NamingError {
    /// The text is not a name.
    #[error("`{0}` is not a name: {1}")]
    Name(String, #[source] NameError),
    /// The name leads to nothing, or to something of the wrong type.
    #[error(transparent)]
    NotFound(#[from] NameNotFound),
    /// The name is bound already.
    #[error("`{0}` is bound already; `rebind` replaces an object, and `unbind` makes the name free")]
    AlreadyBound(Name),
    /// The context that is to be destroyed still has bindings.
    #[error("the context has bindings; unbind all of them first (`punctual naming list NAME` shows them)")]
    NotEmpty,
    /// The server does not accept the name: it is too long, for example.
    #[error(
        "the naming context refuses the name `{0}` as invalid; names of fewer or other characters may pass"
    )]
    Refused(Name),
    /// The server cannot proceed at this component, and neither can the context that it names.
    #[error(
        "the search for `{name}` does not end: each naming context refers to another one, {contexts} times; is \
         one of them bound below itself?"
    )]
    Endless {
        /// The name.
        name: Name,
        /// Number of contexts that were called.
        contexts: usize,
    },
    /// The name is bound to nil, or the server returned nil instead of a context.
    #[error("`{0}` is bound to no object: the reference is nil")]
    Nil(String),
    /// The bound object has another interface.
    #[error(
        "`{name}` is bound to an object that does not support {wanted}; its reference states `{found}`: \
         resolve it as a reference of that interface, or bind the right object"
    )]
    WrongInterface {
        /// The name.
        name: Name,
        /// Requested repository id.
        wanted: &'static str,
        /// Repository id in the reference.
        found: String,
    },
    /// The naming context itself cannot be found.
    #[error("no naming context: {0}")]
    Context(#[from] ResolveError),
    /// The call to the naming context, or to the object that it has found, failed.
    #[error(transparent)]
    Call(#[from] SystemException),
}

punctual_types::debug_as_display!(NamingError);
