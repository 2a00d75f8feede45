//! The servant: it decodes a request with the types of the IDL, and encodes the same values to the target.

use std::{collections::HashMap, error::Error};

use punctual_idl::{
    Specification,
    hir::{DefinitionId, Direction},
};
use rustorb_core::{
    Any, CompletionStatus, Exception, ObjectRef, Orb, SystemException, SystemExceptionKind, TypeCode, Value,
    dii::{ArgMode, DynamicImplementation, NamedValue, ServerRequest},
    minor,
};

use crate::types::Types;

/// Passes all calls on, but `shutdown`, which ends this server.
pub struct Proxy {
    /// Repository ids of the interface and its bases.
    ids: Vec<String>,
    operations: HashMap<String, Operation>,
    target: ObjectRef,
    orb: Orb,
}

struct Operation {
    is_oneway: bool,
    parameters: Vec<NamedValue>,
    returns: TypeCode,
    raises: Vec<TypeCode>,
}

impl Proxy {
    /// All operations and attributes of this interface.
    pub fn new(
        idl: &Specification,
        interface: DefinitionId,
        target: ObjectRef,
        orb: Orb,
    ) -> Result<Self, Box<dyn Error>> {
        let mut operations = HashMap::new();
        for found in idl.all_operations(interface) {
            let item = found.item;
            let mut parameters = Vec::new();
            for parameter in &item.parameters {
                let mode = match parameter.direction {
                    Direction::In => ArgMode::In,
                    Direction::Out => ArgMode::Out,
                    Direction::InOut => ArgMode::InOut,
                };
                let of = Types::new(idl).of(&parameter.ty)?;
                parameters.push(NamedValue::new(&parameter.name, Any::new(of, Value::Void), mode));
            }
            let operation = Operation {
                is_oneway: item.oneway,
                parameters,
                returns: Types::new(idl).of(&item.result)?,
                raises: Types::new(idl).all(&item.raises)?,
            };
            operations.insert(item.name.clone(), operation);
        }
        for found in idl.all_attributes(interface) {
            let item = found.item;
            let of = Types::new(idl).of(&item.ty)?;
            let get = Operation {
                is_oneway: false,
                parameters: Vec::new(),
                returns: of.clone(),
                raises: Types::new(idl).all(&item.get_raises)?,
            };
            operations.insert(format!("_get_{}", item.name), get);
            if !item.readonly {
                let set = Operation {
                    is_oneway: false,
                    parameters: vec![NamedValue::new("value", Any::new(of, Value::Void), ArgMode::In)],
                    returns: TypeCode::void(),
                    raises: Types::new(idl).all(&item.set_raises)?,
                };
                operations.insert(format!("_set_{}", item.name), set);
            }
        }
        let bases = idl.all_bases(interface).into_iter();
        let ids = std::iter::once(interface).chain(bases);
        Ok(Self {
            ids: ids.map(|id| idl[id].repository_id.clone()).collect(),
            operations,
            target,
            orb,
        })
    }
}

impl DynamicImplementation for Proxy {
    fn primary_interface(&self) -> &str {
        &self.ids[0]
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.ids.iter().any(|id| id == repository_id)
    }

    fn invoke(&self, request: &mut ServerRequest) -> Result<(), SystemException> {
        let name = request.operation().to_owned();
        let Some(operation) = self.operations.get(&name) else {
            let kind = SystemExceptionKind::BAD_OPERATION;
            return Err(SystemException::new(
                kind,
                minor::UNKNOWN_OPERATION,
                CompletionStatus::No,
            ));
        };
        let arguments = request.arguments(operation.parameters.clone())?;
        if name == "shutdown" {
            return self.orb.shutdown(false);
        }
        let mut call = self.target.create_request(&name);
        call.set_return_type(operation.returns.clone());
        for raised in &operation.raises {
            call.add_exception(raised.clone());
        }
        call.arguments_mut().extend_from_slice(arguments);
        if operation.is_oneway {
            return call.send_oneway();
        }
        match call.invoke() {
            Ok(()) => {
                for (place, answer) in arguments.iter_mut().zip(call.arguments()) {
                    place.value = answer.value.clone();
                }
                request.set_result(call.result().clone())
            }
            Err(Exception::User(raised)) => request.set_exception(call.exception_value(&raised)?),
            Err(Exception::System(error)) => Err(error),
        }
    }
}
