//! Typed references and skeletons.

use std::{borrow::Cow, marker::PhantomData, sync::Arc};

use punctual_types::{CORBA_OBJECT, SystemException};

use crate::{ObjectRef, Reset, Upcall};

/// A generated reference type: an [`ObjectRef`] whose object is known, or assumed, to support an interface.
///
/// ```
/// # use punctual_stub as punctual;
/// use punctual::{Interface, ObjectRef};
///
/// struct TrackerRef(ObjectRef);
///
/// impl Interface for TrackerRef {
///     const REPOSITORY_ID: &'static str = "IDL:radar/Tracker:1.0";
///     // Including inherited interfaces.
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
    /// Repository id of the interface.
    const REPOSITORY_ID: &'static str;

    /// Ids of the interface and all its bases, except `CORBA::Object`.
    const SUPPORTED_IDS: &'static [&'static str];

    /// Converts a reference without a check.
    fn from_object(object: ObjectRef) -> Self;

    /// Returns the untyped reference.
    fn as_object(&self) -> &ObjectRef;
}

/// Any object, without a check.
impl Interface for ObjectRef {
    const REPOSITORY_ID: &'static str = CORBA_OBJECT;
    const SUPPORTED_IDS: &'static [&'static str] = &[];

    fn from_object(object: ObjectRef) -> Self {
        object
    }

    fn as_object(&self) -> &ObjectRef {
        self
    }
}

impl<T: Interface> Reset for Option<T> {
    fn reset(&mut self) {
        *self = None;
    }
}

impl ObjectRef {
    /// Returns the reference as an `R` if the object supports that interface: queries the object unless the
    /// reference's own type suffices.
    ///
    /// Fails like [`Self::is_a`].
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::{Interface, ObjectRef};
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// # let object: ObjectRef = doubler.as_object().clone();
    /// match object.narrow::<DoublerRef>()? {
    ///     Some(doubler) => assert_eq!(doubler.twice(4)?, 8),
    ///     None => unreachable!("the object has another interface"),
    /// }
    /// # Ok::<(), punctual_types::SystemException>(())
    /// ```
    pub fn narrow<R: Interface>(&self) -> Result<Option<R>, SystemException> {
        Ok(self.is_a(R::REPOSITORY_ID)?.then(|| self.unchecked()))
    }

    /// Returns the reference as an `R` without a check. Calls fail with BAD_OPERATION if the object does not
    /// support the interface.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// let same: DoublerRef = doubler.as_object().unchecked();
    /// assert_eq!(same.twice(4)?, 8);
    /// # Ok::<(), punctual_types::SystemException>(())
    /// ```
    pub fn unchecked<R: Interface>(&self) -> R {
        R::from_object(self.clone())
    }
}

/// Dispatches requests for an interface to a servant of type `S`; generated for every `S` that implements the
/// interface's trait.
///
/// ```
/// # mod punctual { pub use {punctual_stub::*, punctual_types::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::{Interface, ObjectRef, Skeleton, SystemException, SystemExceptionKind};
/// use punctual::rt::{Encode, Upcall};
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
#[diagnostic::on_unimplemented(message = "state a reference type whose servant is `{S}`")]
pub trait Skeleton<S>: Interface {
    /// Octets of the largest set of values that one operation has on the stack at the same time, with one
    /// copy for each function that takes part in decoding. An ORB refuses to activate a servant on threads
    /// whose stacks are too small for it.
    ///
    /// Long arrays and the boxed members of large structs are not on the stack, nor is what a lane keeps.
    /// Default: as little as any stack has room for.
    const VALUES_ON_STACK: usize = 0;

    /// Decodes the arguments, calls the servant, encodes the results.
    ///
    /// Fails with the system exception for the caller: BAD_OPERATION for an unknown operation.
    fn dispatch(servant: &S, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException>;

    /// Returns the id of the servant's most derived interface, which may be known at run time only.
    fn repository_id(_servant: &S) -> Cow<'static, str> {
        Self::REPOSITORY_ID.into()
    }

    /// Returns whether the servant supports the interface with this id, other than its own and
    /// `CORBA::Object`.
    fn supports(_servant: &S, repository_id: &str) -> bool {
        Self::SUPPORTED_IDS.contains(&repository_id)
    }

    /// Returns the description of the servant's interface in an interface repository.
    fn interface(_servant: &S) -> Option<ObjectRef> {
        None
    }
}

/// Returns the largest of these sizes, for generated code.
#[doc(hidden)]
pub const fn largest(sizes: &[usize]) -> usize {
    let (mut largest, mut index) = (0, 0);
    while index < sizes.len() {
        if sizes[index] > largest {
            largest = sizes[index];
        }
        index += 1;
    }
    largest
}

/// A servant of any type.
///
/// ```
/// # use punctual_stub as punctual;
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use std::sync::Arc;
///
/// use punctual::rt::Servant;
///
/// fn serves(servants: &[Arc<dyn Servant>], id: &str) -> bool {
///     servants.iter().any(|servant| servant.is_a(id))
/// }
/// # let servants = [punctual_stub::servant::<DoublerRef, _>(Doubler)];
/// assert!(serves(&servants, "IDL:Doubler:1.0"));
/// assert!(serves(&servants, "IDL:omg.org/CORBA/Object:1.0"));
/// assert!(!serves(&servants, "IDL:Halver:1.0"));
/// ```
pub trait Servant: Send + Sync {
    /// Returns the id of the most derived interface.
    fn repository_id(&self) -> &str;

    /// Returns whether the servant supports the interface with this id.
    fn is_a(&self, repository_id: &str) -> bool;

    /// Returns the description of its interface in an interface repository: `_get_interface`.
    fn interface(&self) -> Option<ObjectRef>;

    /// Returns whether it executes the operations of `CORBA::Object` itself, instead of the ORB.
    fn executes_object_operations(&self) -> bool {
        false
    }

    /// Executes a request: see [`Skeleton::dispatch`].
    fn dispatch(&self, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException>;
}

/// Erases the type of `servant`, which implements the interface of `R`.
pub fn servant<R, S>(servant: S) -> Arc<dyn Servant>
where
    R: Skeleton<S> + 'static,
    S: Send + Sync + 'static,
{
    Arc::new(Typed {
        repository_id: R::repository_id(&servant),
        servant,
        interface: PhantomData::<fn() -> R>,
    })
}

struct Typed<R, S> {
    repository_id: Cow<'static, str>,
    servant: S,
    interface: PhantomData<fn() -> R>,
}

impl<R: Skeleton<S>, S: Send + Sync> Servant for Typed<R, S> {
    fn repository_id(&self) -> &str {
        &self.repository_id
    }

    fn is_a(&self, repository_id: &str) -> bool {
        repository_id == CORBA_OBJECT
            || repository_id == self.repository_id
            || R::supports(&self.servant, repository_id)
    }

    fn interface(&self) -> Option<ObjectRef> {
        R::interface(&self.servant)
    }

    fn dispatch(&self, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        R::dispatch(&self.servant, upcall)
    }
}
