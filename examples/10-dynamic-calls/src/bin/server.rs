//! An object whose attributes are a table that is known at run time only.

use std::collections::BTreeMap;

use punctual::prelude::*;
use punctual::{
    any::{Any, AnyError},
    dynamic::{DynamicServant, RequestError, Upcall},
};

/// Values of the plant by their names.
struct Plant(BTreeMap<&'static str, Any>);

impl Plant {
    fn new() -> Result<Self, AnyError> {
        Ok(Self(BTreeMap::from([
            ("temperature", Any::new(&81.5)?),
            ("state", Any::new("heating")?),
            ("batch", Any::new(&17)?),
        ])))
    }
}

impl DynamicServant for Plant {
    fn repository_id(&self) -> String {
        "IDL:Plant:1.0".into()
    }

    fn invoke(&self, request: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError> {
        let name = request.operation().strip_prefix("_get_");
        match name.and_then(|name| self.0.get(name)) {
            Some(value) => Ok(vec![value.clone()]),
            None => Err(request.unknown_operation().into()),
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().listen("iiop://localhost:2910").build()?;
    let plant: ObjectRef = orb.root_poa().activate(Plant::new()?)?;
    println!("Plant at {}", orb.publish("Plant", &plant)?);
    orb.run();
    Ok(())
}
