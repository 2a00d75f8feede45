//! Reads attributes that are named on the command line, each with its type: `NAME:TYPE`.

use punctual::prelude::*;
use punctual::{
    any::{Kind, TypeCode},
    dynamic::RequestError,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().build()?;
    let plant = orb.resolve_object("corbaloc::localhost:2910/Plant")?;
    for argument in std::env::args().skip(1) {
        let (name, of) = argument.split_once(':').ok_or("expected NAME:TYPE")?;
        let kind = match of {
            "double" => Kind::Double,
            "long" => Kind::Long,
            _ => Kind::String,
        };
        let request = plant
            .request(format!("_get_{name}"))
            .returns(TypeCode::basic(kind));
        match request.invoke() {
            Ok(reply) => println!("{name} = {:?}", reply.result().value()?),
            Err(RequestError::System(exception)) if exception.kind == SystemExceptionKind::BadOperation => {
                println!("{name}: no such attribute");
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(())
}
