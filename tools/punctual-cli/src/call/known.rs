//! The interface of an object, from IDL or from an interface repository.

use punctual::{ObjectRef, dynamic::InterfaceDescription};
use punctual_idl::{Specification, hir::DefinitionId};

use super::{Failed, Options, from_idl, from_repository, operation::Operation};

/// Knowledge about an object's interface.
pub enum Known<'i> {
    /// An interface of the IDL file.
    Declared(&'i Specification, DefinitionId),
    /// Description from the server's interface repository.
    Described(InterfaceDescription),
}

impl<'i> Known<'i> {
    /// Finds the interface; without IDL, queries the object. Of several in the IDL that the object may have,
    /// it is the most derived one with an operation of these names.
    ///
    /// # Errors
    /// There is none.
    pub fn find(
        options: &Options,
        object: &ObjectRef,
        idl: Option<&'i Specification>,
        names: &[String],
    ) -> Result<Self, Failed> {
        match idl {
            Some(idl) => Ok(Self::Declared(idl, declared(options, object, idl, names)?)),
            None => described(options, object).map(Self::Described),
        }
    }

    /// The interface's name, with its scope if that is known.
    pub fn title(&self) -> String {
        match self {
            Self::Declared(idl, id) => idl[*id].scoped_name.to_string(),
            Self::Described(interface) => interface.name.clone(),
        }
    }

    /// Names of all operations and attributes.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Declared(idl, id) => from_idl::names(idl, *id),
            Self::Described(interface) => from_repository::names(interface),
        }
    }

    /// The declaration of the operation or attribute with this name, as in IDL.
    pub fn declaration(&self, name: &str) -> String {
        let declared = match self.operation(name) {
            Some(operation) => operation.map(|operation| operation.to_string()),
            None => match self.operation(&format!("_get_{name}")) {
                Some(get) => {
                    let is_readonly = self.operation(&format!("_set_{name}")).is_none();
                    get.map(|get| get.as_attribute(name, is_readonly))
                }
                None => Ok(name.to_owned()),
            },
        };
        declared.unwrap_or_else(|problem| format!("{name}: {problem}"))
    }

    /// The operation with this name; `_get_NAME` and `_set_NAME` are those of an attribute. `None`: there is
    /// none.
    ///
    /// # Errors
    /// It has a parameter that cannot be sent.
    pub fn operation(&self, name: &str) -> Option<Result<Operation, String>> {
        match self {
            Self::Declared(idl, id) => from_idl::operation(idl, *id, name),
            Self::Described(interface) => from_repository::operation(interface, name).map(Ok),
        }
    }
}

/// The interface that the user names, that of the reference, or one that the object claims to have.
fn declared(
    options: &Options,
    object: &ObjectRef,
    idl: &Specification,
    names: &[String],
) -> Result<DefinitionId, Failed> {
    if let Some(name) = &options.interface {
        let all = || {
            let names = from_idl::interfaces(idl).map(|id| idl[id].scoped_name.to_string());
            names.collect::<Vec<_>>().join(", ")
        };
        return from_idl::interface(idl, name)
            .ok_or_else(|| Failed::NotSent(format!("the IDL has no interface `{name}`; it has {}", all())));
    }
    let own = &object.ior().type_id;
    if let Some(id) = from_idl::interface(idl, own).filter(|_| !own.is_empty()) {
        return Ok(id);
    }
    let has_one = |id: &DefinitionId| {
        let has = |name: &String| from_idl::operation(idl, *id, name).is_some();
        names.is_empty() || names.iter().any(has)
    };
    let mut candidates: Vec<_> = from_idl::interfaces(idl).filter(has_one).collect();
    // The most derived ones first.
    candidates.sort_by_key(|id| std::cmp::Reverse(idl.all_bases(*id).len()));
    for id in candidates {
        if object.is_a(&idl[id].repository_id)? {
            return Ok(id);
        }
    }
    let own = if own.is_empty() { "unknown" } else { own };
    Err(Failed::NotSent(format!(
        "the IDL does not declare the object's interface ({own}), and the object supports none that it \
         declares with this operation; state the IDL file that does, or select one with `--interface NAME`"
    )))
}

fn described(options: &Options, object: &ObjectRef) -> Result<InterfaceDescription, Failed> {
    let is_value = options.arguments.iter().any(|value| value.starts_with("--idl"));
    let place = if is_value {
        " before `--`; everything after it is a value"
    } else {
        ""
    };
    let unknown = |why: String| {
        Failed::NotSent(format!(
            "the types of the operation are not known: {why}; state `--idl FILE`{place}"
        ))
    };
    let interface = object.interface().map_err(|error| unknown(error.to_string()))?;
    let interface = interface.ok_or_else(|| unknown("the server has no interface repository".to_owned()))?;
    interface
        .describe_interface()
        .map_err(|error| unknown(format!("the interface repository does not answer: {error}")))
}
