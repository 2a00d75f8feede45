//! Object references in every place, narrowing, and calls back to this client.

use std::time::Duration;

use punctual::{Interface, ObjectRef};

use punctual_fixtures::{LONG, waiting::holds_within};

use super::{Context, Failure, Outcome, checks, ensure, expect_eq, expect_raises};
use crate::{
    interop::*,
    server::{BouncerServant, CounterServant, ListenerServant},
};

checks![
    counter,
    destroyed_object,
    nil,
    diamond,
    narrow,
    is_a_remote,
    equivalent_and_hash,
    rotate_counter,
    rotate_alias,
    rotate_object,
    rotate_counters,
    rotate_holder,
    rotate_target,
    increase_held,
    call_back,
    own_references,
    nested_calls,
];

fn new_counter(x: &Context, start: i32) -> Result<CounterRef, Failure> {
    Ok(x.peer.make_counter(start)?.ok_or("make_counter returned nil")?)
}

fn new_bottom(x: &Context, called: &str) -> Result<BottomRef, Failure> {
    Ok(x.peer.make_bottom(called)?.ok_or("make_bottom returned nil")?)
}

fn myself(x: &Context) -> Result<ObjectRef, Failure> {
    Ok(x.peer.myself()?.ok_or("myself returned nil")?)
}

/// -1 for nil.
fn value_of(counter: &Option<CounterRef>) -> Result<i32, Failure> {
    Ok(counter.as_ref().map_or(Ok(-1), CounterRef::value)?)
}

fn counter(x: &Context) -> Outcome {
    let counter = new_counter(x, 5)?;
    expect_eq!(counter.value()?, 5);
    expect_eq!(counter.increase(7)?, 12);
    expect_eq!(counter.value()?, 12);
    Ok(())
}

fn destroyed_object(x: &Context) -> Outcome {
    let counter = new_counter(x, 5)?;
    ensure!(!counter.non_existent()?);
    counter.destroy()?;
    // An object may still exist until the call that destroys it has returned at the server, after its reply.
    holds_within(LONG, || counter.value().is_err());
    expect_raises!(ObjectNotExist, counter.value());
    ensure!(counter.non_existent()?);
    Ok(())
}

fn nil(x: &Context) -> Outcome {
    ensure!(x.peer.no_counter()?.is_none());
    expect_eq!(x.peer.kind_of(None)?, "nil");
    ensure!(x.peer.equivalent(None, None)?);
    Ok(())
}

fn diamond(x: &Context) -> Outcome {
    let bottom = new_bottom(x, "Bob")?;
    expect_eq!(bottom.given_name()?, "Bob");
    expect_eq!(bottom.greet("Ann")?, "Bob greets Ann");
    expect_eq!(
        (bottom.twice(4)?, bottom.square(5)?, bottom.both(3)?),
        (8, 25, 15)
    );
    expect_eq!(x.peer.use_left(Some(&LeftSideRef::from(bottom.clone())), 21)?, 42);
    let named = x.peer.widen(Some(&bottom))?.ok_or("widen returned nil")?;
    expect_eq!(named.given_name()?, "Bob");
    ensure!(named.is_equivalent(bottom.as_object()));
    let again = named.narrow::<BottomRef>()?.ok_or("narrow returned nil")?;
    expect_eq!(again.both(1)?, 3);
    Ok(())
}

fn narrow(x: &Context) -> Outcome {
    let object = myself(x)?;
    ensure!(object.narrow::<PeerRef>()?.is_some());
    ensure!(object.narrow::<TextRef>()?.is_some());
    ensure!(object.narrow::<CounterRef>()?.is_none());
    ensure!(object.narrow::<ImpostorRef>()?.is_none());
    ensure!(object.is_a("IDL:punctual.test/Interop/Peer:1.0")?);
    ensure!(object.is_a("IDL:punctual.test/Interop/Basics:1.0")?);
    ensure!(object.is_a("IDL:omg.org/CORBA/Object:1.0")?);
    ensure!(!object.is_a("IDL:punctual.test/Interop/Counter:1.0")?);
    ensure!(!object.is_a("nonsense")?);
    ensure!(!object.non_existent()?);
    Ok(())
}

fn is_a_remote(x: &Context) -> Outcome {
    let objects = [
        ("bottom", new_bottom(x, "x")?.as_object().clone()),
        ("counter", new_counter(x, 1)?.as_object().clone()),
        ("peer", x.peer.as_object().clone()),
    ];
    for (kind, object) in objects {
        expect_eq!(x.peer.kind_of(Some(&object))?, kind);
    }
    Ok(())
}

fn equivalent_and_hash(x: &Context) -> Outcome {
    let (a, b) = (myself(x)?, myself(x)?);
    let (counter, other) = (new_counter(x, 1)?, new_counter(x, 1)?);
    let (counter, other) = (counter.as_object(), other.as_object());
    ensure!(a.is_equivalent(&b) && a.hash(1_000_000) == b.hash(1_000_000));
    ensure!(!counter.is_equivalent(other) && !a.is_equivalent(counter));
    ensure!(x.peer.equivalent(Some(&a), Some(&b))?);
    ensure!(x.peer.equivalent(Some(counter), Some(counter))?);
    ensure!(!x.peer.equivalent(Some(counter), Some(other))?);
    ensure!(!x.peer.equivalent(Some(counter), None)?);
    Ok(())
}

fn rotate_counter(x: &Context) -> Outcome {
    let (a, mut b) = (new_counter(x, 1)?, Some(new_counter(x, 2)?));
    let (result, d) = x.peer.rotate_counter(Some(&a), &mut b, None)?;
    expect_eq!((value_of(&result)?, value_of(&b)?, value_of(&d)?), (1, -1, 2));
    Ok(())
}

fn rotate_alias(x: &Context) -> Outcome {
    let (a, mut b, c) = (new_counter(x, 1)?, None, new_counter(x, 3)?);
    let (result, d) = x.peer.rotate_alias(Some(&a), &mut b, Some(&c))?;
    expect_eq!((value_of(&result)?, value_of(&b)?, value_of(&d)?), (1, 3, -1));
    Ok(())
}

fn rotate_object(x: &Context) -> Outcome {
    let a = new_counter(x, 1)?.as_object().clone();
    let mut b = Some(new_bottom(x, "b")?.as_object().clone());
    let c = myself(x)?;
    let (result, d) = x.peer.rotate_object(Some(&a), &mut b, Some(&c))?;
    ensure!(result.as_ref() == Some(&a) && b.as_ref() == Some(&c));
    ensure!(d.ok_or("nil")?.narrow::<BottomRef>()?.is_some());
    Ok(())
}

fn rotate_counters(x: &Context) -> Outcome {
    let a = [Some(new_counter(x, 10)?), None, Some(new_counter(x, 12)?)];
    let (mut b, c) = (Vec::new(), [Some(new_counter(x, 30)?)]);
    let (result, d) = x.peer.rotate_counters(&a, &mut b, &c)?;
    expect_eq!(
        result.iter().map(value_of).collect::<Result<Vec<_>, _>>()?,
        [10, -1, 12]
    );
    expect_eq!(b.iter().map(value_of).collect::<Result<Vec<_>, _>>()?, [30]);
    ensure!(d.is_empty());
    expect_eq!(x.peer.total(&a)?, 22);
    Ok(())
}

fn holder(text: &str, counter: Option<CounterRef>, any: Option<ObjectRef>, after: i32) -> Holder {
    Holder {
        text: text.to_owned(),
        counter_ref: counter,
        any_ref: any,
        after,
    }
}

fn rotate_holder(x: &Context) -> Outcome {
    let a = holder("a", Some(new_counter(x, 1)?), Some(myself(x)?), 11);
    let mut b = holder("b", None, None, 22);
    let c = holder("c", Some(new_counter(x, 3)?), None, 33);
    let (result, d) = x.peer.rotate_holder(&a, &mut b, &c)?;
    ensure!(result == a && b == c && d == holder("b", None, None, 22));
    expect_eq!(
        (value_of(&result.counter_ref)?, value_of(&b.counter_ref)?),
        (1, 3)
    );
    Ok(())
}

fn rotate_target(x: &Context) -> Outcome {
    let a = Target::CounterRef(Some(new_counter(x, 1)?));
    let (mut b, c) = (Target::AnyRef(Some(myself(x)?)), Target::CounterRef(None));
    let before = b.clone();
    let (result, d) = x.peer.rotate_target(&a, &mut b, &c)?;
    ensure!(result == a && b == c && d == before);
    Ok(())
}

fn increase_held(x: &Context) -> Outcome {
    let mut held = holder("held", Some(new_counter(x, 40)?), None, 6);
    expect_eq!(x.peer.increase_held(&mut held, 2)?, 42);
    expect_eq!((held.after, value_of(&held.counter_ref)?), (7, 42));
    let mut empty = holder("", None, None, 0);
    expect_eq!(x.peer.increase_held(&mut empty, 2)?, -1);
    expect_eq!(empty.after, 1);
    Ok(())
}

fn call_back(x: &Context) -> Outcome {
    let servant = ListenerServant::default();
    let listener: ListenerRef = x.poa.activate(servant.clone())?;
    expect_eq!(x.peer.kind_of(Some(listener.as_object()))?, "listener");
    expect_eq!(x.peer.call_back(Some(&listener), 4, "text")?, 60);
    expect_eq!(*servant.heard.lock().expect("not poisoned"), [0, 1, 2, 3]);
    let Err(references::CallBackError::Rejected(rejected)) = x.peer.call_back(Some(&listener), 4, "reject")
    else {
        return Err(Failure("call_back did not pass Rejected on".to_owned()));
    };
    expect_eq!((rejected.reason.as_str(), rejected.code), ("reject", 2));
    x.peer.call_back_oneway(Some(&listener), 5)?;
    let told = || servant.told.lock().expect("not poisoned").clone();
    ensure!(holds_within(Duration::from_secs(5), || told().len() == 5));
    let mut told = told();
    told.sort_unstable();
    expect_eq!(told, [0, 1, 2, 3, 4]);
    x.poa.deactivate(&listener)?;
    let refused = x.peer.call_back(Some(&listener), 1, "gone");
    ensure!(matches!(refused, Err(references::CallBackError::System(_))));
    Ok(())
}

/// References to this client's objects, given to the server and back.
fn own_references(x: &Context) -> Outcome {
    let mine = CounterServant::activate(&x.poa, 100)?;
    expect_eq!(x.peer.kind_of(Some(mine.as_object()))?, "counter");
    let both = [Some(mine.clone()), Some(new_counter(x, 11)?)];
    expect_eq!(x.peer.total(&both)?, 111);
    let mut b = None;
    let (result, d) = x.peer.rotate_counter(Some(&mine), &mut b, Some(&mine))?;
    ensure!(d.is_none() && b.as_ref() == Some(&mine) && result.as_ref() == Some(&mine));
    expect_eq!(result.ok_or("nil")?.increase(1)?, 101);
    expect_eq!(value_of(&b)?, 101);
    Ok(())
}

fn nested_calls(x: &Context) -> Outcome {
    let servant = BouncerServant::default();
    let own = servant.own.clone();
    let bouncer: BouncerRef = x.poa.activate(servant)?;
    own.set(bouncer.clone()).expect("set once");
    for depth in [0, 1, 5] {
        expect_eq!(x.peer.bounce(Some(&bouncer), depth)?, depth);
    }
    Ok(())
}
