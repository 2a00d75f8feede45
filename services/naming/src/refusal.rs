//! Reasons for refusing a request, and the corresponding exception of each operation.

use punctual::{Completion, Minor, SystemException, SystemExceptionKind, naming};

use crate::idl::cos_naming::{self, NamingContextRef, naming_context::*, naming_context_ext::*};

/// Reason of a refusal.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// With the rest of the name, from the component where the search ended.
    NotFound(NotFoundReason, Vec<naming::NameComponent>),
    /// With the context at which the caller may continue, and the rest of the name there.
    CannotProceed(NamingContextRef, Vec<naming::NameComponent>),
    InvalidName,
    AlreadyBound,
    NotEmpty,
    InvalidAddress,
    System(SystemException),
}

impl Refusal {
    pub(crate) fn system(kind: SystemExceptionKind) -> Self {
        Self::System(SystemException::new(kind, Minor::NONE, Completion::No))
    }

    /// One of Punctual's minor codes, in an exception of its kind.
    pub(crate) fn minor(minor: Minor) -> Self {
        let kind = minor.kind().unwrap_or(SystemExceptionKind::Internal);
        Self::System(SystemException::new(kind, minor, Completion::No))
    }

    /// The context or iterator no longer exists.
    pub(crate) fn gone() -> Self {
        Self::minor(Minor::NAMING_GONE)
    }
}

impl From<SystemException> for Refusal {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl From<Refusal> for SystemException {
    /// Operations raise what they declare; other refusals were not foreseen.
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::System(exception) => exception,
            _ => Self::new(SystemExceptionKind::Internal, 0, Completion::No),
        }
    }
}

/// Components as the generated code has them.
pub(crate) fn wire(name: &[naming::NameComponent]) -> cos_naming::Name {
    let components = name.iter().map(|component| cos_naming::NameComponent {
        id: component.id.clone(),
        kind: component.kind.clone(),
    });
    components.collect()
}

/// Components from the generated code.
pub(crate) fn unwired(name: cos_naming::Name) -> Vec<naming::NameComponent> {
    let components = name.into_iter();
    components
        .map(|component| naming::NameComponent::new(component.id, component.kind))
        .collect()
}

/// Converts refusals to errors of servants and, where contexts of other servers are called, back.
macro_rules! raises {
    ($($error:ident: $($refusal:ident)*;)*) => {$(
        impl From<Refusal> for $error {
            fn from(refusal: Refusal) -> Self {
                match refusal {
                    Refusal::NotFound(why, rest) => NotFound { why, rest_of_name: wire(&rest) }.into(),
                    Refusal::CannotProceed(context, rest) => {
                        CannotProceed { cxt: Some(context), rest_of_name: wire(&rest) }.into()
                    }
                    Refusal::InvalidName => InvalidName {}.into(),
                    $(Refusal::$refusal => $refusal {}.into(),)*
                    other => SystemException::from(other).into(),
                }
            }
        }

        impl From<$error> for Refusal {
            fn from(error: $error) -> Self {
                match error {
                    $error::NotFound(NotFound { why, rest_of_name }) => {
                        Self::NotFound(why, unwired(rest_of_name))
                    }
                    $error::CannotProceed(CannotProceed { cxt: Some(context), rest_of_name }) => {
                        Self::CannotProceed(context, unwired(rest_of_name))
                    }
                    $error::CannotProceed(_) => Self::system(SystemExceptionKind::Transient),
                    $error::InvalidName(_) => Self::InvalidName,
                    $($error::$refusal(_) => Self::$refusal,)*
                    $error::System(exception) => Self::System(exception),
                }
            }
        }
    )*};
}

raises! {
    BindError: AlreadyBound;
    RebindError:;
    BindContextError: AlreadyBound;
    RebindContextError:;
    ResolveError:;
    ResolveStrError:;
    UnbindError:;
    BindNewContextError: AlreadyBound;
}

/// The same for operations that raise one exception.
macro_rules! raises_one {
    ($($error:ident: $($refusal:ident)*;)*) => {$(
        impl From<Refusal> for $error {
            fn from(refusal: Refusal) -> Self {
                match refusal {
                    $(Refusal::$refusal => $refusal {}.into(),)*
                    other => SystemException::from(other).into(),
                }
            }
        }

        impl From<$error> for Refusal {
            fn from(error: $error) -> Self {
                match error {
                    $($error::$refusal(_) => Self::$refusal,)*
                    $error::System(exception) => Self::System(exception),
                }
            }
        }
    )*};
}

raises_one! {
    DestroyError: NotEmpty;
    ToStringError: InvalidName;
    ToNameError: InvalidName;
    ToUrlError: InvalidAddress InvalidName;
}
