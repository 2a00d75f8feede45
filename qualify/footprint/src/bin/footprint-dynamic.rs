//! A call without generated code, whose types are known at run time only.

use punctual::{
    Interface, Orb,
    any::{Any, Kind, TypeCode},
};
use punctual_footprint::{Done, served};

fn main() -> Done {
    let orb = Orb::builder().listen("iiop://localhost:0").build()?;
    let echo = served(&orb, &orb.root_poa())?;
    let request = echo.as_object().request("repeat");
    let request = request.argument("number", Any::new(&4_i32)?);
    let reply = request.returns(TypeCode::basic(Kind::Long)).invoke()?;
    assert_eq!(reply.result().get::<i32>()?, 4);
    Ok(())
}
