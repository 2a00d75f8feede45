//! Object references.

use std::{
    fmt,
    hash::{DefaultHasher, Hasher},
    sync::Arc,
    time::Duration,
};

use punctual_cdr::{CdrError, CdrErrorKind, Decode, Decoder, Encode, FromIor, HasIor, Ior};
use punctual_types::{CORBA_OBJECT, Minor, SystemException, SystemExceptionKind};

use crate::{
    Call, ExposedPolicies, OperationError, OrbContext, Phase, PoliciesInForce, PolicyConflict,
    PolicyOverrides, Response, Target,
};

/// A reference to a local or remote object: `CORBA::Object`. Never nil; nil is `None`.
///
/// Clones are the same reference. Each thread uses its own connection, so that threads can share a reference
/// freely.
///
/// ```
/// # use punctual_stub as punctual;
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::{Interface, ObjectRef};
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
    /// Creates a reference to `target`.
    ///
    /// For runtimes; applications obtain references from adapters, from the ORB and from calls.
    /// [`Target`] has an example.
    pub fn new(target: Arc<dyn Target>) -> Self {
        Self { target }
    }

    pub(crate) fn target(&self) -> &Arc<dyn Target> {
        &self.target
    }

    /// Returns the wire form of the reference.
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

    /// Returns the reference as text that any ORB can read: `IOR:` and hexadecimal digits.
    ///
    /// ```
    /// # use punctual_giop as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// let text = doubler.as_object().to_ior();
    /// assert!(text.starts_with("IOR:"));
    /// assert_eq!(&punctual::ior_from_string(&text)?, doubler.as_object().ior());
    /// # Ok::<(), punctual_giop::UrlError>(())
    /// ```
    pub fn to_ior(&self) -> String {
        punctual_giop::ior_to_string(self.ior())
    }

    /// Returns the ORB of the reference.
    ///
    /// ```
    /// # use punctual_cdr as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// use punctual::Ior;
    ///
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// // Binds the references in a message; generated code uses it while decoding.
    /// assert!(doubler.as_object().orb().0.bind(Ior::default()).is_err(), "nil cannot be bound");
    /// ```
    pub fn orb(&self) -> &OrbContext {
        self.target.orb()
    }

    /// Returns whether the object supports the interface with this repository id. Queries the object unless
    /// the reference's own type suffices.
    ///
    /// Fails like any call.
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
        let mut result = false;
        self.call::<SystemException>("_is_a", |phase| match phase {
            Phase::Arguments(encoder) => repository_id.encode(encoder),
            Phase::Results(decoder) => result.decode_into(decoder),
        })?;
        Ok(result)
    }

    /// Returns whether the object is known not to exist. Queries the object.
    ///
    /// Fails if the server cannot be reached: that does not mean that the object does not exist.
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
        let mut non_existent = false;
        let result = self.call::<SystemException>("_non_existent", |phase| match phase {
            Phase::Arguments(_) => Ok(()),
            Phase::Results(decoder) => non_existent.decode_into(decoder),
        });
        match result {
            Err(exception) if exception.kind == SystemExceptionKind::ObjectNotExist => Ok(true),
            result => result.map(|()| non_existent),
        }
    }

    /// Returns whether both references are known to identify the same object. They may do so even if it
    /// returns `false`.
    ///
    /// Compares addresses and object keys. Padding, byte order and components of profiles do not count.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// let object = doubler.as_object();
    /// assert!(object.is_equivalent(&object.clone()));
    /// assert_eq!(object, &object.clone(), "`==` is the same");
    /// ```
    pub fn is_equivalent(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.target, &other.target)
            || self.ior().profiles == other.ior().profiles
            || self.target.is_equivalent(other.ior())
    }

    /// Returns a number that is equal for equivalent references, below `maximum` (0: unlimited).
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
        self.target.hash_object(&mut hasher);
        let hash = hasher.finish() as u32;
        if maximum == 0 { hash } else { hash % maximum }
    }

    /// Explicit binding, `_validate_connection`: locates the object and opens the connection for this
    /// thread's calls at its current priority, so that the first call does not have to.
    ///
    /// Connections belong to the calling thread: bind each thread, and each priority that selects another
    /// lane or band, separately. Fails with OBJECT_NOT_EXIST if the object does not exist, and with
    /// INV_POLICY if the policies in force permit no call; [`Self::inconsistent_policies`] returns these
    /// policies.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// doubler.as_object().validate_connection()?;
    /// assert_eq!(doubler.twice(4)?, 8, "on the open connection");
    /// # Ok::<(), punctual_types::SystemException>(())
    /// ```
    pub fn validate_connection(&self) -> Result<(), SystemException> {
        if self.target.locate().map_err(SystemException::of_call)? {
            return Ok(());
        }
        let completed = punctual_types::Completion::No;
        let (kind, minor) = (SystemExceptionKind::ObjectNotExist, Minor::TARGET_KEY_UNKNOWN);
        Err(SystemException::new(kind, minor, completed).of_call())
    }

    /// Returns every policy that permits no call of this thread, with the violated rule; empty if all are
    /// consistent.
    ///
    /// Purely local: policies of a location to which the object is forwarded are known after the first call
    /// or [`Self::validate_connection`].
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

    /// Returns a reference to the same object with these policies, `_set_policy_overrides`; policies that are
    /// not set remain those of this reference.
    ///
    /// The result is a separate reference: with a private connection it does not share that of `self`.
    ///
    /// ```
    /// # use punctual_stub as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// use punctual::PolicyOverrides;
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

    /// Returns the reference to which the object has been forwarded, if any: the next call goes there first.
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

    /// Returns the policies that the reference exposes, `_get_policy`: priority model with the server's
    /// priority, bands and protocols.
    ///
    /// Purely local: policies of a location to which the object is forwarded are known after the first call
    /// or [`Self::validate_connection`].
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
    /// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// # let doubler: DoublerRef = local::activate(Doubler);
    /// assert_eq!(doubler.as_object().exposed_policies().priority_model, None);
    /// ```
    pub fn exposed_policies(&self) -> ExposedPolicies {
        self.target.exposed_policies()
    }

    /// Returns the policies for calls of this thread, `_get_client_policy`.
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

    /// Returns a reference to the same object with a timeout for each call:
    /// [`PolicyOverrides::roundtrip_timeout`].
    ///
    /// `None` removes the timeout.
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

    /// Makes a two-way call; `perform` encodes the arguments, possibly several times, and decodes the
    /// results.
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
        let called = self.target.invoke(&mut Call {
            operation,
            response: Response::WithTarget,
            perform: &mut perform,
            raised: &mut |repository_id, decoder| {
                raised = E::decode(repository_id, decoder)?;
                Ok(raised.is_some())
            },
        });
        called.map_err(SystemException::of_call)?;
        raised.map_or(Ok(()), Err)
    }

    /// Makes a oneway call: returns when the transport has accepted the request, or as the
    /// [`SyncScope`](crate::SyncScope) in force demands.
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
        let called = self.target.invoke(&mut Call {
            operation,
            response: Response::None,
            perform: &mut perform,
            raised: &mut |_, _| Ok(false),
        });
        called.map_err(SystemException::of_call)
    }
}

impl fmt::Debug for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectRef")
            .field("type_id", &self.ior().type_id)
            .finish_non_exhaustive()
    }
}

/// The same as [`ObjectRef::is_equivalent`].
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
        let context = decoder.context();
        let orb = context.and_then(|context| (context as &dyn std::any::Any).downcast_ref::<OrbContext>());
        let orb = orb.ok_or_else(|| decoder.error(CdrErrorKind::DecoderIncomplete))?;
        let target = orb
            .0
            .bind(ior)
            .map_err(|_| decoder.error(CdrErrorKind::ReferenceMalformed))?;
        Ok(Self::new(target))
    }
}

impl punctual_any::TypedReference for ObjectRef {
    fn type_code() -> punctual_any::TypeCode {
        punctual_any::TypeCode::basic(punctual_any::Kind::ObjRef)
    }
}

impl AsRef<ObjectRef> for ObjectRef {
    fn as_ref(&self) -> &ObjectRef {
        self
    }
}
