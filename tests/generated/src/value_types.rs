//! The application's part of value types: initializers, operations, and the state of a custom one.

use punctual_cdr::{CdrError, CdrErrorKind, CustomMarshal, Decode, Decoder, Encode, Encoder, Shared};

use punctual_types::SystemException;

use crate::values::values::{
    Empty, NamedOperations, Node, NodeFactory, NodeOperations, Numbers, Sparse, node::MakeError,
};

impl NodeFactory for Node {
    fn make(id: i32, secret: &str) -> Result<Self, MakeError> {
        if secret.is_empty() {
            return Err(Empty {}.into());
        }
        Ok(Self {
            id,
            secret: String::from(secret),
            next: None,
        })
    }
}

impl NamedOperations for Node {
    fn title(&self) -> Result<String, SystemException> {
        Ok(format!("{} {}", self.id, self.secret))
    }
}

impl NodeOperations for Node {
    fn weight(&self, factor: i32) -> Result<i32, SystemException> {
        Ok(self.id * factor)
    }
}

/// Numbers are sent as text.
impl CustomMarshal for Sparse {
    fn marshal(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        let numbers = self.values.iter().flat_map(|numbers| &numbers.0);
        numbers.map(f64::to_string).collect::<Vec<_>>().encode(encoder)
    }

    fn unmarshal(decoder: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let numbers: Result<_, _> = Vec::<String>::decode(decoder)?
            .iter()
            .map(|text| text.parse())
            .collect();
        let numbers = numbers.map_err(|_| decoder.error(CdrErrorKind::ValueMalformed))?;
        Ok(Self {
            values: Some(Shared::new(Numbers(numbers))),
        })
    }
}
