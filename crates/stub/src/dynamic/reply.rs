//! The results of a dynamic call, and how they are decoded.

use punctual_any::{Any, Kind, TypeCode};
use punctual_cdr::{CdrError, Decoder};

use super::RequestError;
use crate::DecodeReply;

/// The results of a dynamic call.
///
/// ```
/// # mod punctual {
/// #     pub(crate) use {punctual_any as any, punctual_stub::*};
/// #     pub mod dynamic { pub use punctual_stub::{Upcall, dynamic::*}; }
/// # }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// use punctual::ObjectRef;
/// use punctual::any::{Any, Kind, TypeCode};
/// use punctual::dynamic::{DynamicServant, Reply, RequestError, Upcall};
///
/// /// `long divide(in long dividend, in long divisor, out long remainder)`
/// struct Divider;
///
/// impl DynamicServant for Divider {
///     // …
///     # fn repository_id(&self) -> String { "IDL:Divider:1.0".into() }
///     fn invoke(&self, request: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError> {
///         let (dividend, divisor): (i32, i32) = (request.argument()?, request.argument()?);
///         Ok(vec![Any::new(&(dividend / divisor))?, Any::new(&(dividend % divisor))?])
///     }
/// }
/// # let object: ObjectRef = local::activate(Divider);
/// let divide = object.request("divide").argument("dividend", Any::new(&17)?);
/// let divide = divide.argument("divisor", Any::new(&5)?);
/// let long = TypeCode::basic(Kind::Long);
/// let reply: Reply = divide.out_argument("remainder", long.clone()).returns(long).invoke()?;
/// assert_eq!(reply.result().get::<i32>()?, 3);
/// assert_eq!(reply.output("remainder").map(Any::get::<i32>), Some(Ok(2)));
/// assert_eq!(reply.undecoded(), 0, "the types are those of the server");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub(super) result: Any,
    pub(super) outputs: Vec<(String, Any)>,
    pub(super) undecoded: usize,
}

impl Reply {
    /// Returns the return value; of type `void` if the operation has none.
    pub fn result(&self) -> &Any {
        &self.result
    }

    /// Returns the `inout` or `out` parameter with this name.
    pub fn output(&self, name: &str) -> Option<&Any> {
        let named = self.outputs.iter().find(|(of_output, _)| of_output == name);
        named.map(|(_, value)| value)
    }

    /// Returns names and values of the `inout` and `out` parameters, in order.
    pub fn outputs(&self) -> &[(String, Any)] {
        &self.outputs
    }

    /// Returns how many octets of the reply follow the results. If there are any, the request probably states
    /// other types than the server's IDL.
    pub fn undecoded(&self) -> usize {
        self.undecoded
    }
}

/// The types of an operation's possible replies.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_any as any, punctual_stub::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// # use punctual_stub::Interface;
/// use punctual::{AsyncCall, any::{Any, Kind, TypeCode}, dynamic::{Reply, RequestError, Signature}};
///
/// # let doubler: DoublerRef = local::activate(Doubler);
/// // The outstanding call knows the types of its replies: `DeferredReply` is this type.
/// let call: AsyncCall<Reply, RequestError, Signature> = doubler
///     .as_object()
///     .request("twice")
///     .argument("value", Any::new(&21)?)
///     .returns(TypeCode::basic(Kind::Long))
///     .invoke_deferred();
/// assert_eq!(call.wait()?.result().get::<i32>()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Signature {
    pub(super) result: TypeCode,
    pub(super) outputs: Vec<(String, TypeCode)>,
    pub(super) exceptions: Vec<TypeCode>,
}

impl Default for Signature {
    fn default() -> Self {
        Self {
            result: TypeCode::basic(Kind::Void),
            outputs: Vec::new(),
            exceptions: Vec::new(),
        }
    }
}

impl DecodeReply<Reply, RequestError> for Signature {
    fn results(&self, decoder: &mut Decoder<'_>) -> Result<Reply, CdrError> {
        let result = Any::decode_value(&self.result, decoder)?;
        let mut outputs = Vec::with_capacity(self.outputs.len());
        for (name, of) in &self.outputs {
            outputs.push((name.clone(), Any::decode_value(of, decoder)?));
        }
        Ok(Reply {
            result,
            outputs,
            undecoded: decoder.remaining(),
        })
    }

    fn exception(
        &self,
        repository_id: &str,
        decoder: &mut Decoder<'_>,
    ) -> Result<Option<RequestError>, CdrError> {
        let has_id = |code: &&TypeCode| code.view().id().is_ok_and(|id| id == repository_id);
        let raised = self.exceptions.iter().find(has_id);
        let raised = raised
            .map(|code| Any::decode_exception(code, decoder))
            .transpose()?;
        Ok(raised.map(RequestError::User))
    }
}
