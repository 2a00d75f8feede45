//! Operations as an interface repository describes them.

use punctual::{
    any::{Kind, TypeCode},
    dynamic::{InterfaceDescription, ParameterMode},
};

use super::operation::{Mode, Operation, Parameter};

/// The names of an interface's operations and attributes.
pub fn names(interface: &InterfaceDescription) -> Vec<String> {
    let operations = interface
        .operations
        .iter()
        .map(|operation| operation.name.clone());
    let attributes = interface
        .attributes
        .iter()
        .map(|attribute| attribute.name.clone());
    operations.chain(attributes).collect()
}

/// The operation with this name, if the interface has one.
pub fn operation(interface: &InterfaceDescription, name: &str) -> Option<Operation> {
    if let Some(found) = interface
        .operations
        .iter()
        .find(|operation| operation.name == name)
    {
        let parameters = found.parameters.iter().map(|parameter| Parameter {
            name: parameter.name.clone(),
            mode: match parameter.mode {
                ParameterMode::In => Mode::In,
                ParameterMode::Out => Mode::Out,
                ParameterMode::InOut => Mode::InOut,
            },
            of: parameter.of.clone(),
        });
        return Some(Operation {
            name: name.to_owned(),
            is_oneway: found.is_oneway,
            returns: found.returns.clone(),
            parameters: parameters.collect(),
            raises: found.raises.clone(),
            has_context: !found.contexts.is_empty(),
        });
    }
    let attribute = |prefix: &str| {
        let name = name.strip_prefix(prefix)?;
        interface
            .attributes
            .iter()
            .find(|attribute| attribute.name == name)
    };
    if let Some(attribute) = attribute("_get_") {
        return Some(Operation {
            raises: attribute.get_raises.clone(),
            ..Operation::simple(name, attribute.of.clone(), &[])
        });
    }
    let attribute = attribute("_set_").filter(|attribute| !attribute.is_readonly)?;
    let value = [(&*attribute.name, attribute.of.clone())];
    Some(Operation {
        raises: attribute.set_raises.clone(),
        ..Operation::simple(name, TypeCode::basic(Kind::Void), &value)
    })
}
