//! JacORB's interface repository: operations of a server are called with no more than what it describes.

use punctual::{
    Orb,
    any::{Any, Kind, Value},
    dynamic::{ParameterMode, RequestError},
};
use punctual_interop::jacorb::JacOrb;

#[test]
fn operations_are_called_as_the_repository_describes_them() {
    let Some(jacorb) = JacOrb::build(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let server = jacorb.described();
    let orb = Orb::builder().lock_memory(false).build().expect("an ORB");
    let mover = orb
        .resolve_object(&server.reference)
        .expect("the server's reference");
    let interface = mover.interface().expect("the server answers");
    let interface = interface.expect("it has a repository");
    let described = interface.describe_interface().expect("the repository answers");
    assert_eq!(
        (&described.name[..], &described.id[..]),
        ("Mover", "IDL:Described/Mover:1.0")
    );
    let mut names: Vec<_> = described
        .operations
        .iter()
        .map(|operation| &operation.name[..])
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["move", "note", "shutdown"]);
    let mut attributes: Vec<_> = described
        .attributes
        .iter()
        .map(|attribute| (&attribute.name[..], attribute.is_readonly))
        .collect();
    attributes.sort_unstable();
    assert_eq!(
        attributes,
        [("name", true), ("steps", false)],
        "inherited ones too"
    );

    let find = |name: &str| {
        described
            .operations
            .iter()
            .find(|operation| operation.name == name)
            .expect("listed")
    };
    assert!(find("note").is_oneway);
    let operation = find("move");
    let modes: Vec<_> = operation
        .parameters
        .iter()
        .map(|parameter| parameter.mode)
        .collect();
    assert_eq!(
        modes,
        [ParameterMode::In, ParameterMode::InOut, ParameterMode::Out]
    );
    let [points, count, last] = &operation.parameters[..] else {
        panic!("three parameters")
    };
    let call = |path: Vec<Value>| {
        let path = Any::from_value(points.of.clone(), &Value::Sequence(path)).expect("points");
        let request = mover
            .request("move")
            .argument("points", path)
            .inout_argument(
                "count",
                Any::from_value(count.of.clone(), &5.into()).expect("a long"),
            )
            .out_argument("last", last.of.clone())
            .returns(operation.returns.clone());
        let declared = operation.raises.iter().cloned();
        declared
            .fold(request, |request, exception| request.raises(exception))
            .invoke()
    };
    let point = |x: i32, y: f64| Value::Struct(vec![("x".into(), x.into()), ("y".into(), y.into())]);
    let reply = call(vec![point(1, 0.5), point(-3, 2.0)]).expect("moved");
    let moved = Value::Sequence(vec![point(2, 0.5), point(-2, 2.0)]);
    assert_eq!(reply.result().value().expect("a path"), moved);
    assert_eq!(
        reply
            .output("count")
            .expect("inout")
            .get::<i32>()
            .expect("a long"),
        7
    );
    assert_eq!(
        reply.output("last").expect("out").value().expect("a point"),
        point(-2, 2.0)
    );
    match call(Vec::new()) {
        Err(RequestError::User(refused)) => {
            let refused = refused.value().expect("its members");
            assert_eq!(refused.seek("reason"), Some(&"an empty path".into()));
            assert_eq!(refused.seek("paint"), Some(&Value::Enum(1, "GREEN".into())));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(find("shutdown").returns.kind(), Ok(Kind::Void));
    mover
        .request("shutdown")
        .invoke()
        .expect("the server answers before it ends");
    server.ends();
}
