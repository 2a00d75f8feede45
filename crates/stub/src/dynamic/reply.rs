//! The results of a dynamic call, and how they are decoded.

use punctual_any::{Any, Kind, TypeCode};
use punctual_cdr::{CdrError, Decoder};

use super::RequestError;
use crate::DecodeReply;

/// The results of a dynamic call.
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
