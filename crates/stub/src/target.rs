//! Interfaces between references and the runtime.

use std::{
    hash::Hasher,
    sync::Arc,
    task::{Poll, Waker},
    time::Instant,
};

use punctual_cdr::{CdrError, DecodeContext, Decoder, Encoder, Ior, TaggedProfile, ValueFactory};
use punctual_giop::Profile;
use punctual_types::{Priority, SystemException};

use crate::{ContextProperties, ExposedPolicies, PoliciesInForce, PolicyConflict, PolicyOverrides};

/// The target of a reference: the runtime's side of an [`ObjectRef`](crate::ObjectRef).
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
///         unreachable!("not used in this example")
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
pub trait Target: Send + Sync {
    /// Returns the wire form of the reference.
    fn ior(&self) -> &Ior;

    /// Returns the ORB of the reference.
    fn orb(&self) -> &OrbContext;

    /// Returns whether `other`, whose profiles differ from those of this reference, names the same object at
    /// the same addresses.
    fn is_equivalent(&self, other: &Ior) -> bool {
        let _ = other;
        false
    }

    /// Writes the common parts of equivalent references to `hasher`.
    fn hash_object(&self, hasher: &mut dyn Hasher) {
        self.ior()
            .profiles
            .iter()
            .for_each(|profile| hasher.write(&profile.data));
    }

    /// Sends the request and waits for the reply, if one is expected.
    ///
    /// May request the arguments from `call.perform` several times, if the request has to be sent again.
    fn invoke(&self, call: &mut Call<'_>) -> Result<(), SystemException>;

    /// Sends the request of a two-way call; the result receives the reply. `None` if the call has already
    /// ended.
    ///
    /// May request the arguments from `call.perform` several times, but not after it has returned. By
    /// default, it executes the whole call.
    fn start(self: Arc<Self>, call: &mut Call<'_>) -> Result<Option<Box<dyn PendingCall>>, SystemException> {
        self.invoke(call)?;
        Ok(None)
    }

    /// Locates the object and opens the connection without a call: explicit binding.
    ///
    /// Returns `false` if the object does not exist.
    fn locate(&self) -> Result<bool, SystemException>;

    /// Returns the reference to which the object has been forwarded, if any.
    fn forwarded(&self) -> Option<Ior> {
        None
    }

    /// Returns a target for the same object with these policies; policies that are not set remain.
    fn with_policies(&self, overrides: PolicyOverrides) -> Arc<dyn Target>;

    /// Returns the policies that the reference exposes.
    fn exposed_policies(&self) -> ExposedPolicies {
        ExposedPolicies::default()
    }

    /// Returns the policies for calls of this thread.
    fn policies_in_force(&self) -> PoliciesInForce;

    /// Returns the context properties for calls of this thread.
    fn context_properties(&self) -> ContextProperties {
        self.policies_in_force().context_properties
    }

    /// Returns the reasons for which a call of this thread would fail with INV_POLICY; empty if it would not.
    fn inconsistent_policies(&self) -> Vec<PolicyConflict>;
}

/// A call from generated code to a [`Target`].
pub struct Call<'c> {
    /// Name of the operation in IDL; attributes are `_get_name` and `_set_name`.
    pub operation: &'c str,
    /// Whether to wait for a reply.
    pub response: Response,
    /// Encodes the arguments and decodes the results.
    pub perform: &'c mut dyn FnMut(Phase<'_, '_>) -> Result<(), CdrError>,
    /// Decodes a user exception; `false` if the operation does not declare it.
    pub raised: &'c mut dyn FnMut(&str, &mut Decoder<'_>) -> Result<bool, CdrError>,
}

/// The next step of generated code in a call.
///
/// ```
/// # mod punctual { pub use {punctual_stub::*, punctual_types::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::{Interface, SystemException, rt::{Decode, Encode, Phase}};
///
/// # let doubler: DoublerRef = local::activate(Doubler);
/// let mut result = 0_i32;
/// doubler.as_object().call::<SystemException>("twice", |phase| match phase {
///     Phase::Arguments(encoder) => 21_i32.encode(encoder),
///     Phase::Results(decoder) => result.decode_into(decoder),
/// })?;
/// assert_eq!(result, 42);
/// # Ok::<(), SystemException>(())
/// ```
pub enum Phase<'p, 'b> {
    /// Encode `in` and `inout` parameters, in order.
    Arguments(&'p mut Encoder<'b>),
    /// Decode the return value, then `inout` and `out` parameters, in order.
    Results(&'p mut Decoder<'b>),
}

/// A call whose request has been sent: the runtime's side of an [`AsyncCall`](crate::AsyncCall). Dropping it
/// abandons the call.
pub trait PendingCall: Send + Sync {
    /// Continues the call: takes the reply if it has arrived, and follows forwards.
    ///
    /// Only [`Phase::Results`] is requested from `call.perform`: the runtime has stored the arguments. Must
    /// not be called after it has returned [`Poll::Ready`].
    fn advance(&mut self, call: &mut Call<'_>, mode: WaitMode<'_>) -> Poll<Result<(), SystemException>>;

    /// Returns the CORBA priority of the thread that made the call.
    fn priority(&self) -> Option<Priority> {
        None
    }
}

/// How to wait for the reply of a [`PendingCall`].
#[derive(Clone, Copy)]
pub enum WaitMode<'w> {
    /// Return, and wake this task when the call can continue.
    Wake(&'w Waker),
    /// Block until this deadline; without limit if there is none.
    Until(Option<Instant>),
}

/// Whether a call has a reply.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Response {
    /// Oneway: the call returns when the transport has accepted the request, unless
    /// [`SyncScope`](crate::SyncScope) demands more.
    None,
    /// Oneway: the call returns with a reply that the server sends before the upcall.
    WithServer,
    /// Two-way: the call returns with the reply.
    WithTarget,
}

/// The services of an ORB for its references.
pub trait Orb: Send + Sync {
    /// Binds a reference to the ORB. Never blocks: connections are made later.
    fn bind(&self, ior: Ior) -> Result<Arc<dyn Target>, SystemException>;

    /// Returns the factory for values of the type with this repository id, if the ORB was given one.
    fn value_factory(&self, _id: &[u8]) -> Option<&'static ValueFactory> {
        None
    }

    /// Decodes a profile; `None` if the ORB does not have its protocol, or if it is malformed.
    fn decode_profile(&self, _profile: &TaggedProfile) -> Option<Profile<String>> {
        None
    }
}

/// The ORB in the context of references and decoders.
#[derive(Clone)]
pub struct OrbContext(pub Arc<dyn Orb>);

impl DecodeContext for OrbContext {
    fn value_factory(&self, id: &[u8]) -> Option<&'static ValueFactory> {
        self.0.value_factory(id)
    }
}

impl OrbContext {
    /// Returns the profiles of a reference for the protocols of this ORB.
    pub fn profiles<'a>(&'a self, ior: &'a Ior) -> impl Iterator<Item = Profile<String>> + 'a {
        let profiles = ior.profiles.iter();
        profiles.filter_map(|profile| self.0.decode_profile(profile))
    }
}
