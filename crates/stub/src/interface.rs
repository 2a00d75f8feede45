use std::{marker::PhantomData, sync::Arc};

use punctual_types::{CORBA_OBJECT, SystemException};

use crate::{ObjectRef, Upcall};

/// A generated reference type: an [`ObjectRef`] whose object is known, or believed, to support an interface.
///
/// ```
/// use punctual_stub::{Interface, ObjectRef};
///
/// struct TrackerRef(ObjectRef);
///
/// impl Interface for TrackerRef {
///     const REPOSITORY_ID: &'static str = "IDL:radar/Tracker:1.0";
///     // With the interfaces that it inherits from.
///     const SUPPORTED_IDS: &'static [&'static str] = &["IDL:radar/Tracker:1.0", "IDL:radar/Sensor:1.0"];
///
///     fn from_object(object: ObjectRef) -> Self {
///         Self(object)
///     }
///
///     fn as_object(&self) -> &ObjectRef {
///         &self.0
///     }
/// }
/// assert!(TrackerRef::SUPPORTED_IDS.contains(&TrackerRef::REPOSITORY_ID));
/// ```
pub trait Interface: Sized {
    /// The interface's name on the wire.
    const REPOSITORY_ID: &'static str;

    /// The ids of the interface and all its bases, `CORBA::Object` left out.
    const SUPPORTED_IDS: &'static [&'static str];

    /// Takes the reference at its word; nothing is asked of the object.
    fn from_object(object: ObjectRef) -> Self;

    /// The untyped reference.
    fn as_object(&self) -> &ObjectRef;
}

/// How requests for an interface reach a servant of type `S`; generated for every `S` that implements the interface's trait.
///
/// ```
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual_cdr::Encode;
/// use punctual_stub::{Interface, ObjectRef, Skeleton, Upcall};
/// use punctual_types::{SystemException, SystemExceptionKind};
///
/// struct Counting(i32);
///
/// impl Skeleton<Counting> for DoublerRef {
///     fn dispatch(servant: &Counting, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
///         match upcall.operation() {
///             "twice" => {
///                 let value: i32 = upcall.argument()?;
///                 upcall.reply(|reply| (value * 2 + servant.0).encode(reply))
///             }
///             _ => Err(upcall.unknown_operation()),
///         }
///     }
/// }
/// let odd: DoublerRef = local::activate(Counting(1));
/// assert_eq!(odd.twice(3)?, 7);
/// let unknown = odd.as_object().oneway("reset", |_| Ok(())).unwrap_err();
/// assert_eq!(unknown.kind, SystemExceptionKind::BadOperation);
/// # Ok::<(), punctual_types::SystemException>(())
/// ```
pub trait Skeleton<S>: Interface {
    /// Decodes the arguments, calls the servant, encodes what it returns.
    ///
    /// Fails with what the caller shall get as system exception: BAD_OPERATION for an operation the interface does not have.
    fn dispatch(servant: &S, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException>;
}

/// A servant whose type has been forgotten.
pub trait Servant: Send + Sync {
    /// The id of the most derived interface.
    fn repository_id(&self) -> &'static str;

    /// Whether it supports the interface of this id.
    fn is_a(&self, repository_id: &str) -> bool;

    /// See [`Skeleton::dispatch`].
    fn dispatch(&self, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException>;
}

/// Forgets the type of `servant`, which serves the interface of `R`.
pub fn servant<R, S>(servant: S) -> Arc<dyn Servant>
where
    R: Skeleton<S> + 'static,
    S: Send + Sync + 'static,
{
    Arc::new(Typed {
        servant,
        interface: PhantomData::<fn() -> R>,
    })
}

struct Typed<R, S> {
    servant: S,
    interface: PhantomData<fn() -> R>,
}

impl<R: Skeleton<S>, S: Send + Sync> Servant for Typed<R, S> {
    fn repository_id(&self) -> &'static str {
        R::REPOSITORY_ID
    }

    fn is_a(&self, repository_id: &str) -> bool {
        repository_id == CORBA_OBJECT || R::SUPPORTED_IDS.contains(&repository_id)
    }

    fn dispatch(&self, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        R::dispatch(&self.servant, upcall)
    }
}
