//! Value types: state, inheritance, sharing, truncation, boxes, custom marshalling, and values in an `any`.

use punctual_any::{Any, AnyView, Kind, Typed};
use punctual_cdr::{CdrErrorKind, Decode, Decoder, Encode, Encoder, Endian, Shared};
use punctual_generated_tests::{
    MemoryOrb,
    values::{
        ValueBase,
        values::{
            Alarm, Choice, ElsewhereRef, Empty, Holder, Label, LoudAlarm, MoreSpecial, Named,
            NamedOperations, Node, NodeFactory, NodeOperations, Nothing, Numbers, Origin, Relay, RelayRef,
            Rigid, Sparse, Special, Store, StoreRef, Unseen, node::MakeError, origin, store::LocateError,
        },
    },
};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

fn node(id: i32, next: Option<Shared<Node>>) -> Shared<Node> {
    let mut node = Node::make(id, "s").unwrap();
    node.next = next;
    Shared::new(node)
}

fn special(id: i32) -> Special {
    let mut special = Special::default();
    special.base.id = id;
    special.text = String::from("abc");
    special.weight_factor = 0.25;
    special.tag = Some(Shared::new(Label(String::from("red"))));
    special.extra = Any::new(&7_i16).unwrap();
    special
}

struct Keeper;

impl Store for Keeper {
    fn echo(&self, value: Option<Shared<Node>>) -> Result<Option<Shared<Node>>, SystemException> {
        Ok(value)
    }

    fn hold(&self, holder: &Holder, again: Option<Shared<Node>>) -> Result<(Holder, bool), SystemException> {
        let same = holder.others.iter().all(|other| *other == holder.first) && again == holder.first;
        Ok((holder.clone(), same))
    }

    fn name(&self, value: Option<Shared<Named>>) -> Result<Option<Shared<Named>>, SystemException> {
        let node = value.and_then(|value| value.narrow::<Node>());
        Ok(node.map(Shared::widen))
    }

    fn any_value(
        &self,
        value: Option<Shared<ValueBase>>,
    ) -> Result<Option<Shared<ValueBase>>, SystemException> {
        Ok(value)
    }

    fn change(
        &self,
        value: Option<Shared<Label>>,
        numbers: &mut Option<Shared<Sparse>>,
    ) -> Result<Option<Shared<Label>>, SystemException> {
        let doubled = numbers
            .iter()
            .flat_map(|sparse| &sparse.values)
            .flat_map(|numbers| &numbers.0);
        let doubled = doubled.map(|number| 2.0 * number).collect();
        *numbers = Some(Shared::new(Sparse {
            values: Some(Shared::new(Numbers(doubled))),
        }));
        Ok(value.map(|label| Shared::new(Label(format!("{}!", label.0)))))
    }

    fn dynamic(&self, value: AnyView<'_>) -> Result<Any, SystemException> {
        Ok(value.to_owned())
    }

    fn choose(&self, choice: &Choice) -> Result<Choice, SystemException> {
        Ok(choice.clone())
    }

    fn locate(&self, r#where: Option<Shared<Node>>) -> Result<Option<Shared<Origin>>, LocateError> {
        let node = r#where.ok_or(Empty {})?;
        Ok(Some(Shared::new(Origin(origin::Place {
            x: node.id.into(),
            y: 0.5,
        }))))
    }

    fn stiff_one(&self) -> Result<Option<Shared<Rigid>>, SystemException> {
        Ok(None)
    }

    fn set_stiff_one(&self, value: Option<Shared<Rigid>>) -> Result<(), SystemException> {
        match value {
            Some(rigid) if rigid.stiff && rigid.base.id == 4 => Ok(()),
            _ => Err(SystemException::new(
                SystemExceptionKind::BadParam,
                Minor::NONE,
                Completion::No,
            )),
        }
    }
}

fn both(test: impl Fn(&StoreRef)) {
    for endian in [Endian::Big, Endian::Little] {
        let orb = MemoryOrb::new(endian);
        test(&orb.activate::<StoreRef, _>(Keeper));
    }
}

#[test]
fn values_pass_with_their_types() {
    both(|store| {
        assert!(store.echo(None).unwrap().is_none());
        let list = node(1, Some(node(2, None)));
        let back = store.echo(Some(&list)).unwrap().unwrap();
        assert!(!back.is_same(&list), "it was copied");
        assert_eq!(
            (back.id, back.title().unwrap(), back.weight(3).unwrap()),
            (1, "1 s".into(), 3)
        );
        assert_eq!(back.next.as_ref().unwrap().id, 2);

        let more = MoreSpecial {
            base: special(9),
            parts: vec![Some(Shared::new(MoreSpecial::default())), None],
            last: 5,
        };
        let sent: Shared<Node> = Shared::new(more).widen();
        let back = store.echo(Some(&sent)).unwrap().unwrap();
        let back = back.narrow::<MoreSpecial>().expect("the type was kept");
        assert_eq!((back.last, back.parts.len(), &*back.base.text), (5, 2, "abc"));
        assert_eq!(back.base.tag.as_ref().unwrap().0, "red");
        assert_eq!(back.base.extra.get::<i16>().unwrap(), 7);
        assert!(back.narrow::<Rigid>().is_none());

        let rigid = Shared::new(Rigid {
            base: Node::make(4, "r").unwrap(),
            stiff: true,
        });
        store.set_stiff_one(Some(&rigid)).unwrap();
        assert!(
            store
                .echo(Some(&rigid.widen()))
                .unwrap()
                .unwrap()
                .narrow::<Rigid>()
                .unwrap()
                .stiff
        );
        assert_eq!(Node::make(1, "").unwrap_err(), MakeError::Empty(Empty {}));
    });
}

#[test]
fn a_value_stays_one_in_all_parameters_and_members() {
    both(|store| {
        let common = node(3, None);
        let holder = Holder {
            name: String::from("h"),
            first: Some(common.clone()),
            others: vec![Some(common.clone()); 3],
        };
        let (back, same) = store.hold(&holder, Some(&common)).unwrap();
        assert!(same, "for the servant");
        assert!(
            back.others.iter().all(|other| *other == back.first),
            "for the client"
        );
        let (_, same) = store.hold(&holder, Some(&node(3, None))).unwrap();
        assert!(!same);
    });
}

#[test]
fn abstract_types_and_value_base_take_what_inherits_from_them() {
    both(|store| {
        let named: Shared<Named> = node(8, None).widen();
        let back = store.name(Some(&named)).unwrap().unwrap();
        assert_eq!(back.narrow::<Node>().unwrap().title().unwrap(), "8 s");
        let values: [Shared<ValueBase>; 3] = [
            Shared::new(Nothing {}).widen(),
            Shared::new(Label(String::from("é"))).widen(),
            Shared::new(special(2)).widen(),
        ];
        for value in values {
            let back = store.any_value(Some(&value)).unwrap().unwrap();
            assert_eq!(back.repository_id(), value.repository_id());
        }
    });
}

#[test]
fn boxes_custom_values_and_exceptions() {
    both(|store| {
        let mut numbers = Some(Shared::new(Sparse {
            values: Some(Shared::new(Numbers(vec![0.5, -3.0]))),
        }));
        let label = store
            .change(Some(&Label(String::from("é")).into()), &mut numbers)
            .unwrap()
            .unwrap();
        assert_eq!(label.0, "é!");
        assert_eq!(numbers.unwrap().values.as_ref().unwrap().0, [1.0, -6.0]);
        assert_eq!(store.locate(None).unwrap_err(), LocateError::Empty(Empty {}));
        assert_eq!(store.locate(Some(&node(7, None))).unwrap().unwrap().0.x, 7.0);
        let choice = Choice::Tag(Some(Shared::new(Label(String::from("x")))));
        let Choice::Tag(Some(back)) = store.choose(&choice).unwrap() else {
            panic!("another member")
        };
        assert_eq!(back.0, "x");
    });
}

#[test]
fn values_travel_in_an_any() {
    both(|store| {
        let common = node(1, None);
        let list = Some(node(5, Some(common.clone())));
        let pair = Holder {
            name: String::new(),
            first: list.clone(),
            others: vec![list.clone(), None, Some(common)],
        };
        let back = store
            .dynamic(&Any::new(&pair).unwrap())
            .unwrap()
            .get::<Holder>()
            .unwrap();
        assert_eq!(back.others[0], back.first, "one value");
        assert_eq!(back.first.as_ref().unwrap().next, back.others[2]);
        let any = Any::new(&Some(Shared::new(special(4)))).unwrap();
        assert_eq!(any.type_code().kind().unwrap(), Kind::Value);
        let back = store
            .dynamic(&any)
            .unwrap()
            .get::<Option<Shared<Special>>>()
            .unwrap()
            .unwrap();
        assert_eq!((back.base.id, &*back.text), (4, "abc"));
        let boxed = Any::new(&Some(Shared::new(Label(String::from("é"))))).unwrap();
        let back = store
            .dynamic(&boxed)
            .unwrap()
            .get::<Option<Shared<Label>>>()
            .unwrap()
            .unwrap();
        assert_eq!(back.0, "é");
        assert!(boxed.get::<Option<Shared<Node>>>().is_err());
    });
}

#[test]
fn event_types_are_values_with_a_type_code_of_their_own() {
    assert_eq!(Alarm::type_code().kind().unwrap(), Kind::Event);
    assert_eq!(LoudAlarm::type_code().kind().unwrap(), Kind::Event);
    assert_eq!(LoudAlarm::type_code().to_string(), "eventtype LoudAlarm");
    both(|store| {
        let mut loud = LoudAlarm::default();
        loud.base.level = 3;
        loud.sound = String::from("bell");
        let sent = Shared::new(loud);
        let back = store.any_value(Some(&sent.clone().widen())).unwrap().unwrap();
        let alarm = back.narrow::<Alarm>().unwrap();
        assert_eq!(alarm.level, 3);
        assert_eq!(alarm.narrow::<LoudAlarm>().unwrap().sound, "bell");
        let back = store.dynamic(&Any::new(&Some(sent)).unwrap()).unwrap();
        assert_eq!(back.type_code().kind().unwrap(), Kind::Event);
        let back = back.get::<Option<Shared<LoudAlarm>>>().unwrap().unwrap();
        assert_eq!((back.base.level, &*back.sound), (3, "bell"));
    });
}

#[test]
fn type_codes_have_bases_members_and_recursion() {
    let node = Node::type_code();
    assert_eq!(node.to_string(), "valuetype Node");
    assert!(Node::type_code().equivalent(&<Option<Shared<Node>>>::type_code()));
    assert!(!Node::type_code().equivalent(&Special::type_code()));
    // Through the encoded form, in which the recursion is an indirection.
    let mut octets = Vec::new();
    MoreSpecial::type_code()
        .encode(&mut Encoder::new(&mut octets, Endian::Little))
        .unwrap();
    let back = punctual_any::TypeCode::decode(&mut Decoder::new(&octets, Endian::Little)).unwrap();
    assert_eq!(back, MoreSpecial::type_code());
}

#[test]
fn malformed_values_in_messages_are_errors() {
    let mut octets = Vec::new();
    let sent: Option<Shared<Node>> = Some(Shared::new(special(1)).widen());
    sent.encode(&mut Encoder::new(&mut octets, Endian::Little))
        .unwrap();
    for at in 0..octets.len() {
        for octet in [0, 1, 0x7f, 0xff] {
            let mut changed = octets.clone();
            changed[at] = octet;
            let decoded = Option::<Shared<Node>>::decode(&mut Decoder::new(&changed, Endian::Little));
            if let Err(error) = &decoded {
                assert_ne!(error.kind, CdrErrorKind::DecoderIncomplete, "{at}: {error}");
            }
        }
    }
}

#[test]
fn trees_of_values_are_those_of_generated_types() {
    let first = node(1, None);
    let mut of_special = special(2);
    of_special.base.next = Some(first.clone());
    let any = Any::new(&Some(Shared::new(of_special))).unwrap();
    let mut tree = any.value().unwrap();
    assert_eq!(tree.seek("next.id"), Some(&1.into()));
    assert_eq!(tree.seek("tag.value"), Some(&"red".into()));
    *tree.seek_mut("weight_factor").unwrap() = 0.5.into();
    *tree.seek_mut("next.secret").unwrap() = "t".into();
    let changed = Any::from_value(any.type_code().clone(), &tree).unwrap();
    let changed: Option<Shared<Special>> = changed.get().unwrap();
    let changed = changed.unwrap();
    assert_eq!((changed.base.id, changed.weight_factor), (2, 0.5));
    assert_eq!(changed.tag.as_ref().map(|tag| &tag.0[..]), Some("red"));
    assert_eq!(changed.extra.get::<i16>(), Ok(7));
    assert_eq!(changed.base.next.as_ref().map(|next| next.id), Some(1));
}

struct Passing;

impl Relay for Passing {
    fn pass(&self, r#where: Option<ElsewhereRef>) -> Result<Option<ElsewhereRef>, SystemException> {
        Ok(r#where)
    }

    fn send(&self, value: Option<Shared<Unseen>>) -> Result<Option<Shared<Unseen>>, SystemException> {
        Ok(value)
    }
}

#[test]
fn of_what_is_only_declared_references_and_null_pass() {
    // It has no values.
    let _ = |unseen: Unseen| match unseen {};
    for endian in [Endian::Big, Endian::Little] {
        let orb = MemoryOrb::new(endian);
        let relay = orb.activate::<RelayRef, _>(Passing);
        let elsewhere: ElsewhereRef = relay.unchecked();
        let back = relay.pass(Some(&elsewhere)).unwrap().unwrap();
        assert!(back.is_equivalent(&elsewhere));
        assert!(relay.send(None).unwrap().is_none());
    }
}

#[test]
fn a_value_of_a_type_that_is_only_declared_is_refused() {
    let mut octets = Vec::new();
    let mut encoder = Encoder::new(&mut octets, Endian::Little);
    0x7fff_ff02_u32.encode(&mut encoder).unwrap();
    "IDL:values/Unseen:1.0".encode(&mut encoder).unwrap();
    let decoded = Option::<Shared<Unseen>>::decode(&mut Decoder::new(&octets, Endian::Little));
    assert_eq!(decoded.unwrap_err().kind, CdrErrorKind::ValueTypeUnknown);
}

/// `build.rs` adds attributes to a value type and to a boxed value.
#[test]
fn attributes_of_the_users_are_added() {
    fn is_eq<T: Eq>(_: &T) -> bool {
        true
    }
    assert!(is_eq(&Alarm { level: 3 }));
    assert!(Label(String::from("a")) < Label(String::from("b")));
}
