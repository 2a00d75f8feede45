use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
    time::Duration,
};

use punctual_cdr::{CdrError, CdrErrorKind, Decode, Decoder, Encode, FromIor, HasIor, Ior};
use punctual_types::{CORBA_OBJECT, Minor, SystemException, SystemExceptionKind};

use crate::{Call, Interface, OperationError, OrbContext, Phase, Response, Target};

/// A reference to an object, here or anywhere: `CORBA::Object`. Never nil; nil is `None`.
///
/// Cloning shares it. Calls go out on the calling thread's own connection, so threads share a reference freely.
#[derive(Clone)]
pub struct ObjectRef {
    target: Arc<dyn Target>,
}

impl ObjectRef {
    /// A reference that leads to `target`.
    pub fn new(target: Arc<dyn Target>) -> Self {
        Self { target }
    }

    /// The reference as it stands on the wire.
    pub fn ior(&self) -> &Ior {
        self.target.ior()
    }

    /// The reference as text, `IOR:` and hexadecimal digits, for any ORB to read.
    pub fn to_ior(&self) -> String {
        punctual_giop::ior_to_string(self.ior())
    }

    /// The ORB the reference belongs to.
    pub fn orb(&self) -> &OrbContext {
        self.target.orb()
    }

    /// Whether the object supports the interface of this repository id. Asks the object unless the reference says so itself.
    pub fn is_a(&self, repository_id: &str) -> Result<bool, SystemException> {
        if repository_id == CORBA_OBJECT || repository_id == self.ior().type_id {
            return Ok(true);
        }
        let mut answer = false;
        self.call::<SystemException>("_is_a", |phase| match phase {
            Phase::Arguments(encoder) => repository_id.encode(encoder),
            Phase::Results(decoder) => answer.decode_into(decoder),
        })?;
        Ok(answer)
    }

    /// Whether the object is known not to exist (any more). Asks the object.
    pub fn non_existent(&self) -> Result<bool, SystemException> {
        let mut answer = false;
        let result = self.call::<SystemException>("_non_existent", |phase| match phase {
            Phase::Arguments(_) => Ok(()),
            Phase::Results(decoder) => answer.decode_into(decoder),
        });
        match result {
            Err(exception) if exception.kind == SystemExceptionKind::ObjectNotExist => Ok(true),
            result => result.map(|()| answer),
        }
    }

    /// The reference as an `R`, if the object supports that interface: asks it unless the reference's own type says so.
    pub fn narrow<R: Interface>(&self) -> Result<Option<R>, SystemException> {
        Ok(self.is_a(R::REPOSITORY_ID)?.then(|| self.unchecked()))
    }

    /// The reference as an `R`, without asking; calls fail with BAD_OPERATION where it does not support the interface.
    pub fn unchecked<R: Interface>(&self) -> R {
        R::from_object(self.clone())
    }

    /// Whether both references are known to lead to the same object. `false` does not mean that they do not.
    pub fn is_equivalent(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.target, &other.target) || self.ior().profiles == other.ior().profiles
    }

    /// A number that is the same for equivalent references, below `maximum` (0: any).
    pub fn hash(&self, maximum: u32) -> u32 {
        let mut hasher = DefaultHasher::new();
        self.ior().profiles.hash(&mut hasher);
        let hash = hasher.finish() as u32;
        if maximum == 0 { hash } else { hash % maximum }
    }

    /// Asks where the object is and opens the connection for this thread's priority, so that the first call does not have to.
    ///
    /// Fails with OBJECT_NOT_EXIST where it does not exist.
    pub fn validate_connection(&self) -> Result<(), SystemException> {
        if self.target.locate()? {
            return Ok(());
        }
        let completed = punctual_types::Completion::No;
        Err(SystemException::new(
            SystemExceptionKind::ObjectNotExist,
            Minor::TARGET_KEY_UNKNOWN,
            completed,
        ))
    }

    /// The same object with a deadline for each call, counted from its start: TIMEOUT when it passes.
    ///
    /// From 50 ms on, waiting costs nothing extra and ends up to two kernel ticks late; below, one system call more.
    pub fn with_timeout(&self, timeout: impl Into<Option<Duration>>) -> Self {
        Self::new(self.target.with_timeout(timeout.into()))
    }

    /// A two-way call; `perform` writes the arguments, perhaps more than once, and reads the results.
    pub fn call<E: OperationError>(
        &self,
        operation: &str,
        mut perform: impl FnMut(Phase<'_, '_>) -> Result<(), CdrError>,
    ) -> Result<(), E> {
        let mut raised = None;
        self.target.invoke(&mut Call {
            operation,
            response: Response::WithTarget,
            perform: &mut perform,
            raised: &mut |repository_id, decoder| {
                raised = E::decode(repository_id, decoder)?;
                Ok(raised.is_some())
            },
        })?;
        raised.map_or(Ok(()), Err)
    }

    /// A oneway call: returns when the transport has the request.
    pub fn oneway(
        &self,
        operation: &str,
        mut perform: impl FnMut(Phase<'_, '_>) -> Result<(), CdrError>,
    ) -> Result<(), SystemException> {
        self.target.invoke(&mut Call {
            operation,
            response: Response::None,
            perform: &mut perform,
            raised: &mut |_, _| Ok(false),
        })
    }
}

impl fmt::Debug for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectRef")
            .field("type_id", &self.ior().type_id)
            .finish_non_exhaustive()
    }
}

/// As [`ObjectRef::is_equivalent`].
impl PartialEq for ObjectRef {
    fn eq(&self, other: &Self) -> bool {
        self.is_equivalent(other)
    }
}

impl HasIor for ObjectRef {
    fn ior(&self) -> &Ior {
        self.target.ior()
    }
}

impl FromIor for ObjectRef {
    fn from_ior(ior: Ior, decoder: &Decoder<'_>) -> Result<Self, CdrError> {
        let orb = decoder
            .context()
            .and_then(|context| context.downcast_ref::<OrbContext>());
        let orb = orb.ok_or_else(|| decoder.error(CdrErrorKind::DecoderIncomplete))?;
        let target = orb
            .0
            .bind(ior)
            .map_err(|_| decoder.error(CdrErrorKind::ReferenceMalformed))?;
        Ok(Self::new(target))
    }
}
