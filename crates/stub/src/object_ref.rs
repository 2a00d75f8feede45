use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
    time::Duration,
};

use punctual_cdr::{CdrError, CdrErrorKind, Decode, Decoder, Encode, FromIor, HasIor, Ior};
use punctual_types::{CORBA_OBJECT, Minor, SystemException, SystemExceptionKind};

use crate::{
    Call, Interface, OperationError, OrbContext, Phase, PoliciesInForce, PolicyConflict, PolicyOverrides,
    Response, Target,
};

/// A reference to an object, here or anywhere: `CORBA::Object`. Never nil; nil is `None`.
///
/// Cloning shares it. Calls go out on the calling thread's own connection, so threads share a reference freely.
///
/// ```
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual_stub::{Interface, ObjectRef};
///
/// # let doubler: DoublerRef = local::activate(Doubler);
/// let object: ObjectRef = doubler.as_object().clone();
/// assert!(object.is_a("IDL:omg.org/CORBA/Object:1.0")?);
/// let again: Option<DoublerRef> = object.narrow()?;
/// assert_eq!(again.expect("it is a Doubler").twice(21)?, 42);
/// # Ok::<(), punctual_types::SystemException>(())
/// ```
#[derive(Clone)]
pub struct ObjectRef {
    target: Arc<dyn Target>,
}

impl ObjectRef {
    /// A reference that leads to `target`.
    ///
    /// For runtimes; users get references from adapters, from the ORB and from calls.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use punctual_cdr::Ior;
    /// use punctual_stub::{
    ///     Call, ObjectRef, OrbContext, PoliciesInForce, PolicyConflict, PolicyOverrides, Target,
    /// };
    /// use punctual_types::{Completion, SystemException, SystemExceptionKind};
    ///
    /// struct Unreachable(Ior);
    ///
    /// impl Target for Unreachable {
    ///     fn ior(&self) -> &Ior {
    ///         &self.0
    ///     }
    ///     fn orb(&self) -> &OrbContext {
    ///         unreachable!("this example does not ask")
    ///     }
    ///     fn invoke(&self, _: &mut Call<'_>) -> Result<(), SystemException> {
    ///         Err(SystemException::new(SystemExceptionKind::Transient, 0, Completion::No))
    ///     }
    ///     fn locate(&self) -> Result<bool, SystemException> {
    ///         Ok(false)
    ///     }
    ///     fn with_policies(&self, _: PolicyOverrides) -> Arc<dyn Target> {
    ///         Arc::new(Self(self.0.clone()))
    ///     }
    ///     fn policies_in_force(&self) -> PoliciesInForce {
    ///         PoliciesInForce::default()
    ///     }
    ///     fn inconsistent_policies(&self) -> Vec<PolicyConflict> {
    ///         Vec::new()
    ///     }
    /// }
    /// let object = ObjectRef::new(Arc::new(Unreachable(Ior::default())));
    /// assert_eq!(object.non_existent().unwrap_err().kind, SystemExceptionKind::Transient);
    /// ```
    pub fn new(target: Arc<dyn Target>) -> Self {
        Self { target }
    }

    pub(crate) fn target(&self) -> &Arc<dyn Target> {
        &self.target
    }

    /// The reference as it stands on the wire.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// assert_eq!(doubler.as_object().ior().type_id, "IDL:Doubler:1.0");
    /// ```
    pub fn ior(&self) -> &Ior {
        self.target.ior()
    }

    /// The reference as text, `IOR:` and hexadecimal digits, for any ORB to read.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// let text = doubler.as_object().to_ior();
    /// assert!(text.starts_with("IOR:"));
    /// assert_eq!(&punctual_giop::ior_from_string(&text)?, doubler.as_object().ior());
    /// # Ok::<(), punctual_giop::UrlError>(())
    /// ```
    pub fn to_ior(&self) -> String {
        punctual_giop::ior_to_string(self.ior())
    }

    /// The ORB the reference belongs to.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// use punctual_cdr::Ior;
    ///
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// // Makes the references usable that a message contains; generated code does so while it decodes.
    /// assert!(doubler.as_object().orb().0.bind(Ior::default()).is_err(), "nil leads nowhere");
    /// ```
    pub fn orb(&self) -> &OrbContext {
        self.target.orb()
    }

    /// Whether the object supports the interface of this repository id. Asks the object unless the reference says so itself.
    ///
    /// Fails as any call does, with the system exception of the peer or of the way to it.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// assert!(doubler.as_object().is_a("IDL:Doubler:1.0")?);
    /// assert!(!doubler.as_object().is_a("IDL:Tracker:1.0")?);
    /// # Ok::<(), punctual_types::SystemException>(())
    /// ```
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
    ///
    /// Fails where nobody can be asked: that the server is away does not say that the object does not exist.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// assert!(!doubler.as_object().non_existent()?);
    /// # Ok::<(), punctual_types::SystemException>(())
    /// ```
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
    ///
    /// Fails as [`Self::is_a`].
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

    /// The reference as an `R`, without asking; calls fail with BAD_OPERATION where it does not support the interface.
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

    /// Whether both references are known to lead to the same object. `false` does not mean that they do not.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// let object = doubler.as_object();
    /// assert!(object.is_equivalent(&object.clone()));
    /// assert_eq!(object, &object.clone(), "`==` says the same");
    /// ```
    pub fn is_equivalent(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.target, &other.target) || self.ior().profiles == other.ior().profiles
    }

    /// A number that is the same for equivalent references, below `maximum` (0: any).
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// let object = doubler.as_object();
    /// assert_eq!(object.hash(100), object.clone().hash(100));
    /// assert!(object.hash(100) < 100);
    /// ```
    pub fn hash(&self, maximum: u32) -> u32 {
        let mut hasher = DefaultHasher::new();
        self.ior().profiles.hash(&mut hasher);
        let hash = hasher.finish() as u32;
        if maximum == 0 { hash } else { hash % maximum }
    }

    /// Explicit binding, `_validate_connection`: asks where the object is and opens what this thread's calls at its present
    /// priority need, so that the first one does not have to.
    ///
    /// Connections belong to the calling thread: each thread, and each priority that leads to another lane or band, is bound by
    /// itself. Fails with OBJECT_NOT_EXIST where the object does not exist, and with INV_POLICY where the policies in force let
    /// no call through; [`Self::inconsistent_policies`] then says which.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// doubler.as_object().validate_connection()?;
    /// assert_eq!(doubler.twice(4)?, 8, "on a connection that was open before");
    /// # Ok::<(), punctual_types::SystemException>(())
    /// ```
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

    /// Every policy that lets no call of this thread through, with the rule it breaks; empty where all agree.
    ///
    /// It asks nobody: policies of a place that the object is forwarded to are known after the first call or
    /// [`Self::validate_connection`].
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// for conflict in doubler.as_object().inconsistent_policies() {
    ///     eprintln!("{conflict}");
    /// }
    /// ```
    pub fn inconsistent_policies(&self) -> Vec<PolicyConflict> {
        self.target.inconsistent_policies()
    }

    /// The same object, called under these policies, `_set_policy_overrides`; where they say nothing, this reference's stay.
    ///
    /// The result is a reference of its own: with a private connection it has another one than `self`.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// use punctual_stub::PolicyOverrides;
    ///
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// let own = PolicyOverrides::new().private_connection(true);
    /// let doubler: DoublerRef = doubler.as_object().with_policies(own).unchecked();
    /// assert_eq!(doubler.twice(4)?, 8);
    /// # Ok::<(), punctual_types::SystemException>(())
    /// ```
    pub fn with_policies(&self, overrides: PolicyOverrides) -> Self {
        Self::new(self.target.with_policies(overrides))
    }

    /// Where the object has said that it is now, if anywhere else than the reference says: where the next call goes first.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// assert_eq!(doubler.as_object().forwarded(), None);
    /// ```
    pub fn forwarded(&self) -> Option<Ior> {
        self.target.forwarded()
    }

    /// The policies that a call of this thread would be under, `_get_client_policy`.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// assert!(!doubler.as_object().policies_in_force().private_connection);
    /// ```
    pub fn policies_in_force(&self) -> PoliciesInForce {
        self.target.policies_in_force()
    }

    /// The same object with a deadline for each call, counted from its start: [`PolicyOverrides::roundtrip_timeout`].
    ///
    /// `None` takes the deadline away.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// use std::time::Duration;
    ///
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// let prompt: DoublerRef = doubler.as_object().with_timeout(Duration::from_millis(50)).unchecked();
    /// assert_eq!(prompt.twice(4)?, 8);
    /// let patient = prompt.as_object().with_timeout(None);
    /// assert!(patient.is_equivalent(doubler.as_object()));
    /// # Ok::<(), punctual_types::SystemException>(())
    /// ```
    pub fn with_timeout(&self, timeout: impl Into<Option<Duration>>) -> Self {
        self.with_policies(PolicyOverrides::new().roundtrip_timeout(timeout))
    }

    /// A two-way call; `perform` writes the arguments, perhaps more than once, and reads the results.
    ///
    /// For generated code.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::{Interface, Phase};
    /// # use punctual_cdr::{Decode, Encode};
    /// # use punctual_types::SystemException;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// let mut result = 0_i32;
    /// doubler.as_object().call::<SystemException>("twice", |phase| match phase {
    ///     Phase::Arguments(encoder) => 21_i32.encode(encoder),
    ///     Phase::Results(decoder) => result.decode_into(decoder),
    /// })?;
    /// assert_eq!(result, 42);
    /// # Ok::<(), punctual_types::SystemException>(())
    /// ```
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
    ///
    /// For generated code.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// doubler.as_object().oneway("wake", |_| Ok(()))?;
    /// # Ok::<(), punctual_types::SystemException>(())
    /// ```
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
