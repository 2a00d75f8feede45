//! A client of a naming context.

use std::{
    thread,
    time::{Duration, Instant},
};

use punctual::{
    Interface, Minor, ObjectRef, Orb,
    naming::{self, Name, NameNotFound},
};

use crate::{
    Listing, NamingError,
    idl::cos_naming::{NamingContextRef, naming_context},
    refusal::{Refusal, wire},
};

/// A naming context of any server, with names as text.
///
/// Each operation takes a name as text or as [`Name`], and ends after a timeout, [`Self::TIMEOUT`] by
/// default. If a server cannot proceed at a context of another one, the operation continues there
/// (CannotProceed); if too many changes wait for the disk of a server of Punctual, it tries again. The
/// timeout is that of all these calls together.
///
/// ```
/// use punctual::Orb;
/// use punctual_naming::{NamingContext, NamingService, idl::cos_naming::NamingContextExtRef};
///
/// // Or: NamingContext::find(&orb, "corbaname::names.example")?
/// let service = NamingService::builder().build(&Orb::builder().build()?)?;
/// let naming = NamingContext::new(service.root());
///
/// naming.create("radar")?;
/// naming.bind("radar/track.1", service.root())?;
/// let track: NamingContextExtRef = naming.resolve("radar/track.1")?;
/// let names: Vec<_> = naming.list("radar")?.map(|bound| bound.map(|bound| bound.to_string())).collect();
/// assert_eq!(names.into_iter().collect::<Result<Vec<_>, _>>()?, ["track.1"]);
/// naming.unbind("radar/track.1")?;
/// assert!(naming.resolve_object("radar/track.1").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct NamingContext {
    context: NamingContextRef,
    timeout: Duration,
}

/// A name, or its string form.
pub trait IntoName {
    /// Returns the name.
    ///
    /// # Errors
    /// [`NamingError::Name`].
    fn into_name(self) -> Result<Name, NamingError>;
}

impl IntoName for Name {
    fn into_name(self) -> Result<Name, NamingError> {
        Ok(self)
    }
}

impl IntoName for &Name {
    fn into_name(self) -> Result<Name, NamingError> {
        Ok(self.clone())
    }
}

impl IntoName for &str {
    fn into_name(self) -> Result<Name, NamingError> {
        self.parse()
            .map_err(|error| NamingError::Name(self.to_owned(), error))
    }
}

impl IntoName for &String {
    fn into_name(self) -> Result<Name, NamingError> {
        self.as_str().into_name()
    }
}

/// How many contexts of other servers an operation tries.
const MAX_CONTEXTS: usize = 16;

/// Time after which an operation is tried again if too many changes wait for the disk of the server.
const PAUSE: Duration = Duration::from_millis(10);

impl NamingContext {
    /// Default timeout of each operation.
    pub const TIMEOUT: Duration = Duration::from_secs(5);

    /// Returns a client of this context, a `NamingContextRef` or `NamingContextExtRef`.
    pub fn new(context: &impl Interface) -> Self {
        Self {
            context: NamingContextRef::from_object(context.as_object().clone()),
            timeout: Self::TIMEOUT,
        }
    }

    /// Finds a naming context at a URL, such as `corbaname::localhost`, `corbaname::host:2809#radar`,
    /// `corbaloc:rir:/NameService`, or an `IOR:`.
    ///
    /// # Errors
    /// [`NamingError::Context`], also if the object is not a naming context.
    pub fn find(orb: &Orb, url: &str) -> Result<Self, NamingError> {
        Ok(Self::new(&orb.resolve::<NamingContextRef>(url)?))
    }

    /// Sets the timeout of each operation. Asking an object for its interface
    /// ([`resolve`](Self::resolve)) has another one of this length.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Returns the reference to the context.
    pub fn reference(&self) -> &NamingContextRef {
        &self.context
    }

    /// Binds an object to a name that is not bound yet.
    ///
    /// # Errors
    /// [`NamingError::AlreadyBound`], [`NamingError::NotFound`] if a context on the way is missing, and
    /// others.
    pub fn bind(&self, name: impl IntoName, object: &impl Interface) -> Result<(), NamingError> {
        self.at(name, |context, rest| {
            context.bind(&wire(rest), Some(object.as_object()))
        })
    }

    /// Binds an object to a name, instead of the object that may be bound to it.
    ///
    /// # Errors
    /// [`NamingError::NotFound`] if a context on the way is missing, or the name is bound to a context.
    pub fn rebind(&self, name: impl IntoName, object: &impl Interface) -> Result<(), NamingError> {
        self.at(name, |context, rest| {
            context.rebind(&wire(rest), Some(object.as_object()))
        })
    }

    /// Binds a context, of this or another server, to a name that is not bound yet: names below it are then
    /// searched there.
    ///
    /// # Errors
    /// As for [`Self::bind`].
    pub fn bind_context(&self, name: impl IntoName, context: &Self) -> Result<(), NamingError> {
        self.at(name, |at, rest| {
            at.bind_context(&wire(rest), Some(&context.context))
        })
    }

    /// Binds a context to a name, instead of the context that may be bound to it.
    ///
    /// # Errors
    /// [`NamingError::NotFound`] if a context on the way is missing, or the name is bound to an object.
    pub fn rebind_context(&self, name: impl IntoName, context: &Self) -> Result<(), NamingError> {
        self.at(name, |at, rest| {
            at.rebind_context(&wire(rest), Some(&context.context))
        })
    }

    /// Creates a context, and binds it to a name that is not bound yet.
    ///
    /// # Errors
    /// As for [`Self::bind`].
    pub fn create(&self, name: impl IntoName) -> Result<Self, NamingError> {
        let name = name.into_name()?;
        let created = self.at(&name, |context, rest| context.bind_new_context(&wire(rest)))?;
        let created = created.ok_or_else(|| NamingError::Nil(name.to_string()))?;
        Ok(Self::new(&created).with_timeout(self.timeout))
    }

    /// Returns the object that is bound to a name, as a reference of this type. If the reference does not
    /// state the type, the object is queried.
    ///
    /// # Errors
    /// [`NamingError::NotFound`], [`NamingError::WrongInterface`], and others.
    pub fn resolve<R: Interface>(&self, name: impl IntoName) -> Result<R, NamingError> {
        let name = name.into_name()?;
        let object = self.resolve_object(&name)?;
        let timed = object.with_timeout(self.timeout).narrow::<R>()?;
        match timed {
            // Calls of the object have the timeout of their callers.
            Some(_) => Ok(R::from_object(object)),
            None => Err(NamingError::WrongInterface {
                name,
                wanted: R::REPOSITORY_ID,
                found: object.ior().type_id.clone(),
            }),
        }
    }

    /// Returns the object that is bound to a name, whatever its type.
    ///
    /// # Errors
    /// [`NamingError::NotFound`], [`NamingError::Nil`], and others.
    pub fn resolve_object(&self, name: impl IntoName) -> Result<ObjectRef, NamingError> {
        let name = name.into_name()?;
        let object = self.at(&name, |context, rest| context.resolve(&wire(rest)))?;
        object.ok_or_else(|| NamingError::Nil(name.to_string()))
    }

    /// Returns a client of the context that is bound to a name.
    ///
    /// # Errors
    /// As for [`Self::resolve`].
    pub fn context(&self, name: impl IntoName) -> Result<Self, NamingError> {
        let context: NamingContextRef = self.resolve(name)?;
        Ok(Self::new(&context).with_timeout(self.timeout))
    }

    /// Removes the binding of a name. The object or context that it was bound to remains.
    ///
    /// # Errors
    /// [`NamingError::NotFound`], and others.
    pub fn unbind(&self, name: impl IntoName) -> Result<(), NamingError> {
        self.at(name, |context, rest| context.unbind(&wire(rest)))
    }

    /// Destroys the context, which must have no bindings. Names that are bound to it remain bound, so unbind
    /// them.
    ///
    /// # Errors
    /// [`NamingError::NotEmpty`]; [`NamingError::Call`] for a root context.
    pub fn destroy(self) -> Result<(), NamingError> {
        match timed(&self.context, self.timeout).destroy() {
            Ok(()) => Ok(()),
            Err(naming_context::DestroyError::NotEmpty(_)) => Err(NamingError::NotEmpty),
            Err(naming_context::DestroyError::System(exception)) => Err(exception.into()),
        }
    }

    /// Returns the bindings of the context that is bound to a name, in batches.
    ///
    /// # Errors
    /// As for [`Self::resolve`].
    pub fn list(&self, name: impl IntoName) -> Result<Listing, NamingError> {
        self.context(name)?.list_here()
    }

    /// Returns the bindings of this context, in batches.
    ///
    /// # Errors
    /// [`NamingError::Call`].
    pub fn list_here(&self) -> Result<Listing, NamingError> {
        Listing::begin(&timed(&self.context, self.timeout), self.timeout)
    }

    /// Calls the context with the name, and continues at the contexts to which servers refer.
    fn at<R, E: Into<Refusal>>(
        &self,
        name: impl IntoName,
        call: impl Fn(&NamingContextRef, &[naming::NameComponent]) -> Result<R, E>,
    ) -> Result<R, NamingError> {
        let name = name.into_name()?;
        let end = Instant::now() + self.timeout;
        let left = || end.saturating_duration_since(Instant::now());
        let (mut context, mut rest) = (self.context.clone(), name.components().to_vec());
        let mut contexts = 1;
        while contexts <= MAX_CONTEXTS {
            let refusal = match call(&timed(&context, left()), &rest) {
                Ok(result) => return Ok(result),
                Err(error) => error.into(),
            };
            match refusal {
                Refusal::CannotProceed(other, remaining) if !remaining.is_empty() => {
                    (context, rest) = (other, remaining);
                    contexts += 1;
                }
                Refusal::System(busy) if busy.minor == Minor::NAMING_CHANGES_WAITING && left() > PAUSE => {
                    thread::sleep(PAUSE);
                }
                refusal => return Err(failed(refusal, &name)),
            }
        }
        let contexts = MAX_CONTEXTS;
        Err(NamingError::Endless { name, contexts })
    }
}

fn timed(context: &NamingContextRef, timeout: Duration) -> NamingContextRef {
    NamingContextRef::from_object(context.as_object().with_timeout(timeout))
}

fn failed(refusal: Refusal, name: &Name) -> NamingError {
    let name = || name.clone();
    match refusal {
        Refusal::NotFound(reason, rest) => {
            let reason = match reason {
                naming_context::NotFoundReason::MissingNode => naming::NotFoundReason::MissingNode,
                naming_context::NotFoundReason::NotContext => naming::NotFoundReason::NotContext,
                naming_context::NotFoundReason::NotObject => naming::NotFoundReason::NotObject,
            };
            NameNotFound::new(&name(), reason, rest.len()).into()
        }
        Refusal::AlreadyBound => NamingError::AlreadyBound(name()),
        Refusal::NotEmpty => NamingError::NotEmpty,
        Refusal::System(exception) => exception.into(),
        Refusal::InvalidName | Refusal::InvalidAddress | Refusal::CannotProceed(..) => {
            NamingError::Refused(name())
        }
    }
}
