//! Requests that are built at run time.

use punctual_any::{Any, TypeCode};
use punctual_cdr::{CdrError, Encode, Encoder};
use punctual_types::SystemException;

use super::{Reply, RequestError, Signature};
use crate::{AsyncCall, ObjectRef, asynchronous::ReplyValues};

/// A request whose operation is known at run time only: `CORBA::Request`, from [`ObjectRef::request`].
///
/// It states the parameters in the order of the IDL, the type of the return value, and the exceptions of the
/// `raises` clause; nothing checks them against the IDL. It can be sent several times.
///
/// ```
/// # mod punctual { pub(crate) use punctual_any as any; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// # use punctual_stub::{Interface, ObjectRef};
/// use punctual::any::{Any, Kind, TypeCode};
///
/// # let doubler: DoublerRef = local::activate(Doubler);
/// # let object: ObjectRef = doubler.as_object().clone();
/// let twice = object
///     .request("twice")
///     .argument("value", Any::new(&21)?)
///     .returns(TypeCode::basic(Kind::Long));
/// assert_eq!(twice.invoke()?.result().get::<i32>()?, 42);
/// object.request("wake").invoke_oneway()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "`invoke`, `invoke_oneway` and `invoke_deferred` send it"]
pub struct Request {
    object: ObjectRef,
    operation: String,
    /// `in` and `inout` parameters.
    arguments: Vec<Any>,
    /// Names and values in turn.
    context: Option<Vec<String>>,
    signature: Signature,
}

/// A dynamic call whose request has been sent; see [`AsyncCall`].
///
/// ```
/// # mod punctual { pub(crate) use {punctual_any as any, punctual_stub::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// # use punctual_stub::{Interface, ObjectRef};
/// use punctual::{any::{Any, Kind, TypeCode}, dynamic::DeferredReply};
///
/// # let doubler: DoublerRef = local::activate(Doubler);
/// # let object: ObjectRef = doubler.as_object().clone();
/// let request = object.request("twice").argument("value", Any::new(&4)?);
/// let mut call: DeferredReply = request.returns(TypeCode::basic(Kind::Long)).invoke_deferred();
/// while !call.is_ready() {
///     // The work of one cycle.
/// }
/// assert_eq!(call.wait()?.result().get::<i32>()?, 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type DeferredReply = AsyncCall<Reply, RequestError, Signature>;

impl ObjectRef {
    /// Starts to build a request: `_create_request`. The operations of attributes are `_get_name` and
    /// `_set_name`.
    pub fn request(&self, operation: impl Into<String>) -> Request {
        Request {
            object: self.clone(),
            operation: operation.into(),
            arguments: Vec::new(),
            context: None,
            signature: Signature::default(),
        }
    }
}

impl Request {
    /// Adds an `in` parameter. Its name serves readers only.
    pub fn argument(mut self, _name: &str, value: Any) -> Self {
        self.arguments.push(value);
        self
    }

    /// Adds an `inout` parameter with the value to send; [`Reply::output`] has the received one.
    pub fn inout_argument(mut self, name: impl Into<String>, value: Any) -> Self {
        let output = (name.into(), value.type_code().clone());
        self.signature.outputs.push(output);
        self.arguments.push(value);
        self
    }

    /// Adds an `out` parameter; [`Reply::output`] has its value.
    pub fn out_argument(mut self, name: impl Into<String>, of: TypeCode) -> Self {
        self.signature.outputs.push((name.into(), of));
        self
    }

    /// Sets the type of the return value. Default: `void`.
    pub fn returns(mut self, of: TypeCode) -> Self {
        self.signature.result = of;
        self
    }

    /// Adds an exception of the `raises` clause. Others that the server raises become UNKNOWN.
    pub fn raises(mut self, exception: TypeCode) -> Self {
        self.signature.exceptions.push(exception);
        self
    }

    /// Sets names and values of the operation's `context` clause. An operation with such a clause needs it,
    /// even without values; others must not have it.
    pub fn context<'c>(mut self, values: impl IntoIterator<Item = (&'c str, &'c str)>) -> Self {
        let values = values.into_iter().flat_map(|(name, value)| [name, value]);
        self.context = Some(values.map(String::from).collect());
        self
    }

    /// Sends the request and waits for the reply.
    ///
    /// # Errors
    /// The exception that the server has raised, or the system exception with which the call has failed.
    pub fn invoke(&self) -> Result<Reply, RequestError> {
        let mut result = None;
        let mut values = ReplyValues::new(&self.signature, &mut result);
        let end = values.run(&self.operation, &mut |encoder| self.encode(encoder), |call| {
            self.object.target().invoke(call)
        });
        values.conclude(end);
        result.expect("the call has ended")
    }

    /// Sends the request of a oneway operation: returns when the transport has accepted it, or as the
    /// [`SyncScope`](crate::SyncScope) in force demands.
    ///
    /// # Errors
    /// The system exception with which the call has failed.
    pub fn invoke_oneway(&self) -> Result<(), SystemException> {
        self.object.oneway(&self.operation, |phase| match phase {
            crate::Phase::Arguments(encoder) => self.encode(encoder),
            crate::Phase::Results(_) => Ok(()),
        })
    }

    /// Sends the request and returns a future of the reply: `send_deferred`, `poll_response` and
    /// `get_response`.
    pub fn invoke_deferred(&self) -> DeferredReply {
        AsyncCall::start(
            &self.object,
            self.operation.clone().into(),
            &mut |encoder| self.encode(encoder),
            self.signature.clone(),
        )
    }

    /// Source: CORBA 3.3 part 2, 9.4.2.3: the context follows the arguments.
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        for argument in &self.arguments {
            argument.view().encode_value(encoder)?;
        }
        self.context
            .as_ref()
            .map_or(Ok(()), |context| context.encode(encoder))
    }
}
