//! Dynamic calls and servants, against generated ones and against each other, in both byte orders.

use std::mem;

use punctual_any::{Any, AnyView, Kind, Member, TypeCode, Typed, Value};
use punctual_cdr::Endian;
use punctual_generated_tests::{
    MemoryOrb,
    any::anys::{Choice, Colour, Echo, EchoRef, Node, Point, Refused, Track, TrackView, echo::DescribeError},
};
use punctual_stub::{
    Interface, ObjectRef, Upcall,
    dynamic::{DynamicServant, RequestError},
};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

const ENDIANS: [Endian; 2] = [Endian::Big, Endian::Little];

/// Generated code.
struct Mirror;

impl Echo for Mirror {
    fn reflect(&self, a: AnyView<'_>, b: &mut Any) -> Result<(Any, Any), SystemException> {
        let a = a.to_owned();
        let c = mem::replace(b, a.clone());
        Ok((a, c))
    }

    fn copy(&self, track: TrackView<'_>) -> Result<Track, SystemException> {
        Ok(track.to_owned())
    }

    fn describe(&self, a: AnyView<'_>) -> Result<String, DescribeError> {
        match a.get::<&str>() {
            Ok(text) => Ok(String::from(text)),
            Err(error) => Err(Refused {
                reason: error.to_string(),
            }
            .into()),
        }
    }
}

/// The same without it: it knows the operations by name, and the types of their parameters.
struct DynamicMirror;

impl DynamicServant for DynamicMirror {
    fn repository_id(&self) -> String {
        EchoRef::REPOSITORY_ID.into()
    }

    fn invoke(&self, request: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError> {
        let any = TypeCode::basic(Kind::Any);
        match request.operation() {
            "reflect" => {
                let a = request.argument_of(&any)?.to_owned();
                let b = request.argument_of(&any)?.to_owned();
                Ok(vec![a.clone(), a, b])
            }
            "copy" => Ok(vec![request.argument_of(&Track::type_code())?.to_owned()]),
            "describe" => {
                let Value::Any(inner) = request.argument_of(&any)?.value()? else {
                    unreachable!("an any holds an any")
                };
                match inner.get::<String>() {
                    Ok(text) => Ok(vec![Any::new(&text)?]),
                    Err(error) => {
                        let reason = error.to_string();
                        Err(RequestError::User(Any::new(&Refused { reason })?))
                    }
                }
            }
            _ => Err(request.unknown_operation().into()),
        }
    }
}

/// Answers with what it got, whose type it was told.
struct Repeater(TypeCode);

impl DynamicServant for Repeater {
    fn repository_id(&self) -> String {
        "IDL:Repeater:1.0".into()
    }

    fn invoke(&self, request: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError> {
        let lent = request.argument_of(&self.0)?;
        match request.operation() {
            "repeat" => Ok(vec![lent.to_owned()]),
            // Rebuilt from its parts.
            "rebuild" => Ok(vec![Any::from_value(self.0.clone(), &lent.value()?)?]),
            "forget" => Ok(Vec::new()),
            "raise" => Err(RequestError::User(lent.to_owned())),
            _ => Err(SystemException::new(SystemExceptionKind::NoPermission, 7, Completion::No).into()),
        }
    }
}

fn track() -> Track {
    Track {
        name: "T1".into(),
        path: vec![Point { x: 1, y: 0.5 }, Point { x: -2, y: 1e9 }],
        paint: Colour::Green,
        extra: Any::new(&Choice::Text(Colour::Green, "é".into())).unwrap(),
    }
}

/// An argument of type `any`.
fn any_of(value: &Any) -> Any {
    Any::from_value(TypeCode::basic(Kind::Any), &Value::Any(value.clone())).unwrap()
}

/// Both servants, in both byte orders.
fn mirrors() -> impl Iterator<Item = (std::sync::Arc<MemoryOrb>, EchoRef)> {
    ENDIANS.into_iter().flat_map(|endian| {
        let orb = MemoryOrb::new(endian);
        let dynamic: ObjectRef = orb.activate(DynamicMirror);
        let pair = [orb.activate(Mirror), dynamic.unchecked::<EchoRef>()];
        pair.map(|echo| (orb.clone(), echo))
    })
}

#[test]
fn generated_stubs_call_dynamic_servants() {
    for (_orb, echo) in mirrors() {
        let (a, before) = (Any::new(&track()).unwrap(), Any::new(&7_i16).unwrap());
        let mut b = before.clone();
        let (result, c) = echo.reflect(&a, &mut b).unwrap();
        assert_eq!((&result, &b, &c), (&a, &a, &before));
        assert_eq!(echo.copy(&track()).unwrap(), track());
        assert_eq!(echo.describe(&Any::new("text").unwrap()).unwrap(), "text");
        match echo.describe(&Any::new(&3_i32).unwrap()) {
            Err(DescribeError::Refused(Refused { reason })) => assert!(reason.contains("holds long")),
            other => panic!("{other:?}"),
        }
        assert!(echo.as_object().is_a(EchoRef::REPOSITORY_ID).unwrap());
        assert!(!echo.as_object().is_a("IDL:Other:1.0").unwrap());
    }
}

#[test]
fn dynamic_calls_reach_generated_and_dynamic_servants() {
    for (_orb, echo) in mirrors() {
        let object = echo.as_object();
        let (a, before) = (Any::new(&track()).unwrap(), Any::new(&7_i16).unwrap());
        let reflect = object
            .request("reflect")
            .argument("a", any_of(&a))
            .inout_argument("b", any_of(&before))
            .out_argument("c", TypeCode::basic(Kind::Any))
            .returns(TypeCode::basic(Kind::Any));
        let deferred = reflect.invoke_deferred();
        for reply in [reflect.invoke().unwrap(), deferred.wait().unwrap()] {
            assert_eq!(reply.result(), &any_of(&a));
            assert_eq!(reply.output("b"), Some(&any_of(&a)));
            assert_eq!(reply.output("c"), Some(&any_of(&before)));
            assert_eq!(reply.output("a"), None);
            let names: Vec<_> = reply.outputs().iter().map(|(name, _)| &name[..]).collect();
            assert_eq!(names, ["b", "c"]);
        }
        let copy = object
            .request("copy")
            .argument("original", Any::new(&track()).unwrap());
        let copy = copy.returns(Track::type_code()).invoke().unwrap();
        assert_eq!(copy.result().get::<Track>().unwrap(), track());
        assert_eq!(
            copy.result().value().unwrap().seek("path.1.x"),
            Some(&Value::Long(-2))
        );
    }
}

#[test]
fn exceptions_of_the_raises_clause_come_with_their_members() {
    for (_orb, echo) in mirrors() {
        let describe = echo
            .as_object()
            .request("describe")
            .argument("a", any_of(&Any::new(&3_i32).unwrap()))
            .returns(TypeCode::basic(Kind::String));
        let undeclared = describe.invoke().unwrap_err();
        let RequestError::System(exception) = &undeclared else {
            panic!("{undeclared:?}")
        };
        assert_eq!(exception.kind, SystemExceptionKind::Unknown);
        assert_eq!(exception.minor, Minor::EXCEPTION_UNDECLARED);

        let describe = describe.raises(Point::type_code()).raises(Refused::type_code());
        for error in [describe.invoke(), describe.invoke_deferred().wait()] {
            let error = error.unwrap_err();
            assert_eq!(error.repository_id(), "IDL:punctual.test/Anys/Refused:1.0");
            let RequestError::User(exception) = error else {
                panic!("{error:?}")
            };
            assert!(exception.get::<Refused>().unwrap().reason.contains("holds long"));
            let members = exception.value().unwrap();
            assert!(matches!(members.seek("reason"), Some(Value::String(_))));
        }
    }
}

/// Types that no generated code knows, with a value of each.
fn samples() -> Vec<(TypeCode, Value)> {
    let long = || TypeCode::basic(Kind::Long);
    let members: [Member<'_>; 2] = [
        ("flag", TypeCode::basic(Kind::Boolean)),
        ("depth", TypeCode::basic(Kind::Double)),
    ];
    let unknown = TypeCode::structure("IDL:Unknown:1.0", "Unknown", members);
    let sample = Value::Struct(vec![
        ("flag".into(), true.into()),
        ("depth".into(), (-0.5).into()),
    ]);
    let cases = [(1, "number", long()), (2, "text", TypeCode::string(0))];
    let union = TypeCode::union(
        "IDL:Either:1.0",
        "Either",
        TypeCode::basic(Kind::Short),
        None,
        cases,
    );
    let either = Value::Union(
        Box::new(2_i16.into()),
        Some(("text".into(), Box::new("deux".into()))),
    );
    let node = Any::new(&Node {
        id: 1,
        children: vec![Node::default(), Node::default()],
    });
    let node = node.unwrap();
    vec![
        (
            TypeCode::sequence(unknown.clone(), 0),
            Value::Sequence(vec![sample.clone(), sample.clone()]),
        ),
        (
            TypeCode::array(unknown.clone(), 3),
            Value::Sequence(vec![sample.clone(), sample.clone(), sample]),
        ),
        (union, either),
        (node.type_code().clone(), node.value().unwrap()),
        (TypeCode::wide_string(0), Value::WString("größer".into())),
        (TypeCode::fixed(5, 2), Value::Fixed(-12345, 2)),
        (
            TypeCode::sequence(TypeCode::basic(Kind::Octet), 0),
            Value::Octets(vec![1, 2, 3]),
        ),
        (TypeCode::basic(Kind::TypeCode), Value::TypeCode(unknown)),
        (
            TypeCode::enumeration("IDL:E:1.0", "E", ["off", "on"]),
            Value::Enum(1, "on".into()),
        ),
        (TypeCode::basic(Kind::LongLong), Value::LongLong(i64::MIN)),
    ]
}

#[test]
fn types_that_only_their_type_codes_describe_travel_both_ways() {
    for endian in ENDIANS {
        let orb = MemoryOrb::new(endian);
        for (code, value) in samples() {
            let object: ObjectRef = orb.activate(Repeater(code.clone()));
            let sent = Any::from_value(code.clone(), &value).unwrap();
            for operation in ["repeat", "rebuild"] {
                let request = object.request(operation).argument("value", sent.clone());
                let reply = request.returns(code.clone()).invoke().unwrap();
                assert_eq!(reply.result().value().unwrap(), value, "{code} {endian:?}");
                assert_eq!(reply.result(), &sent);
            }
            let forget = object.request("forget").argument("value", sent.clone());
            assert_eq!(
                forget.invoke().unwrap().result().type_code().kind(),
                Ok(Kind::Void)
            );
            forget.invoke_oneway().unwrap();
        }
    }
}

#[test]
fn dynamic_servants_raise_what_callers_can_decode() {
    let members: [Member<'_>; 2] = [
        ("code", TypeCode::basic(Kind::Octet)),
        ("late", TypeCode::basic(Kind::Double)),
    ];
    let missed = TypeCode::exception("IDL:Missed:1.0", "Missed", members);
    let value = Value::Struct(vec![("code".into(), 3_u8.into()), ("late".into(), 0.25.into())]);
    for endian in ENDIANS {
        let orb = MemoryOrb::new(endian);
        struct Raiser(Any);
        impl DynamicServant for Raiser {
            fn repository_id(&self) -> String {
                "IDL:Raiser:1.0".into()
            }

            fn invoke(&self, _: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError> {
                Err(RequestError::User(self.0.clone()))
            }
        }
        let sent = Any::from_value(missed.clone(), &value).unwrap();
        let object: ObjectRef = orb.activate(Raiser(sent.clone()));
        match object.request("any").raises(missed.clone()).invoke() {
            Err(RequestError::User(raised)) => {
                assert_eq!(raised, sent);
                assert_eq!(raised.value().unwrap(), value);
            }
            other => panic!("{other:?}"),
        }
        // What is no exception cannot be raised.
        let object: ObjectRef = orb.activate(Raiser(Any::new(&3).unwrap()));
        match object.request("any").invoke() {
            Err(RequestError::System(exception)) => assert_eq!(exception.kind, SystemExceptionKind::Unknown),
            other => panic!("{other:?}"),
        }
        let object: ObjectRef = orb.activate(Repeater(TypeCode::basic(Kind::Long)));
        match object
            .request("refuse")
            .argument("", Any::new(&3).unwrap())
            .invoke()
        {
            Err(RequestError::System(exception)) => {
                assert_eq!(
                    (exception.kind, exception.minor),
                    (SystemExceptionKind::NoPermission, 7.into())
                );
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn results_and_arguments_of_other_types_are_refused_with_bounded_work() {
    let empty = || TypeCode::structure("IDL:Empty:1.0", "Empty", []);
    let many = (0..20).fold(empty(), |inner, _| TypeCode::array(inner, 1000));
    let long = || Any::new(&3_i32).unwrap();
    for endian in ENDIANS {
        let orb = MemoryOrb::new(endian);
        // Octets that a result of this type would need are not there.
        let object: ObjectRef = orb.activate(Repeater(TypeCode::basic(Kind::Long)));
        let (marshal, bad) = (SystemExceptionKind::Marshal, SystemExceptionKind::BadTypecode);
        let missing = [
            TypeCode::basic(Kind::Double),
            TypeCode::string(0),
            Track::type_code(),
        ];
        let missing = missing.map(|of| (of, marshal)).into_iter();
        for (of, kind) in missing.chain([(many.clone(), bad)]) {
            let reply = object
                .request("repeat")
                .argument("value", long())
                .returns(of.clone());
            let RequestError::System(exception) = reply.invoke().unwrap_err() else {
                panic!("a system exception")
            };
            assert_eq!(exception.kind, kind, "{of}");
            assert_eq!(exception.completed, Completion::Yes);
            // The other way round.
            let object: ObjectRef = orb.activate(Repeater(of.clone()));
            let RequestError::System(exception) = object
                .request("repeat")
                .argument("value", long())
                .invoke()
                .unwrap_err()
            else {
                panic!("a system exception")
            };
            assert_eq!(exception.kind, kind, "{of}");
            assert_eq!(exception.completed, Completion::No);
        }
        // An exception whose members are missing.
        let late = TypeCode::exception("IDL:Late:1.0", "Late", [("by", TypeCode::basic(Kind::Double))]);
        let other = TypeCode::exception("IDL:Late:1.0", "Late", []);
        let sent = Any::from_value(other.clone(), &Value::Struct(Vec::new())).unwrap();
        let object: ObjectRef = orb.activate(Repeater(other));
        match object.request("raise").argument("", sent).raises(late).invoke() {
            Err(RequestError::System(exception)) => assert_eq!(exception.kind, SystemExceptionKind::Marshal),
            other => panic!("{other:?}"),
        }
    }
}
