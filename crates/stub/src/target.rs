use std::sync::Arc;

use punctual_cdr::{CdrError, Decoder, Encoder, Ior};
use punctual_types::SystemException;

use crate::{PendingCall, PoliciesInForce, PolicyConflict, PolicyOverrides};

/// Where a reference leads: the runtime's side of an [`ObjectRef`](crate::ObjectRef).
pub trait Target: Send + Sync {
    /// The reference as it stands on the wire.
    fn ior(&self) -> &Ior;

    /// The ORB the reference belongs to.
    fn orb(&self) -> &OrbContext;

    /// Sends the request and waits for the reply, if one is expected.
    ///
    /// `call.perform` may be asked for the arguments more than once, when the request has to be sent again.
    fn invoke(&self, call: &mut Call<'_>) -> Result<(), SystemException>;

    /// Sends the request of a two-way call and leaves it to the result to take the reply. `None`: it is over already.
    ///
    /// `call.perform` may be asked for the arguments more than once, but not after this has returned. A runtime that cannot do
    /// better carries the call out.
    fn start(self: Arc<Self>, call: &mut Call<'_>) -> Result<Option<Box<dyn PendingCall>>, SystemException> {
        self.invoke(call)?;
        Ok(None)
    }

    /// Asks where the object is and opens the connection, without calling it: explicit binding.
    ///
    /// `false`: the object does not exist.
    fn locate(&self) -> Result<bool, SystemException>;

    /// Where the object has said that it is now, if anywhere else than the reference says.
    fn forwarded(&self) -> Option<Ior> {
        None
    }

    /// The same object, called under these policies; where they say nothing, under those that this one has.
    fn with_policies(&self, overrides: PolicyOverrides) -> Arc<dyn Target>;

    /// The policies that a call of this thread would be under.
    fn policies_in_force(&self) -> PoliciesInForce;

    /// Why a call of this thread would end with INV_POLICY; empty where it would not.
    fn inconsistent_policies(&self) -> Vec<PolicyConflict>;
}

/// One call, as generated code hands it to a [`Target`].
pub struct Call<'c> {
    /// The operation's name in IDL; attributes are `_get_name` and `_set_name`.
    pub operation: &'c str,
    /// Whether to wait.
    pub response: Response,
    /// Writes the arguments and reads the results.
    pub perform: &'c mut dyn FnMut(Phase<'_, '_>) -> Result<(), CdrError>,
    /// Takes a user exception; `false` where the operation does not declare it.
    pub raised: &'c mut dyn FnMut(&str, &mut Decoder<'_>) -> Result<bool, CdrError>,
}

/// What generated code does next in a call.
pub enum Phase<'p, 'b> {
    /// Write `in` and `inout` parameters, in order.
    Arguments(&'p mut Encoder<'b>),
    /// Read the return value, then `inout` and `out` parameters, in order.
    Results(&'p mut Decoder<'b>),
}

/// Whether a caller waits for its call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Response {
    /// Oneway: the call returns when the transport has the request.
    None,
    /// Two-way: the call returns with the reply.
    WithTarget,
}

/// What an ORB does for the references it has made.
pub trait Orb: Send + Sync {
    /// Makes a reference usable. Never blocks: nothing is connected yet.
    fn bind(&self, ior: Ior) -> Result<Arc<dyn Target>, SystemException>;
}

/// The ORB as references and decoders carry it.
#[derive(Clone)]
pub struct OrbContext(pub Arc<dyn Orb>);
