//! The methods that do not wait, for operations of every kind. (Parameters in all directions: `calls.rs`.)

use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use punctual_cdr::Endian;
use punctual_generated_tests::{
    MemoryOrb,
    features::features::*,
    names::clashes::{All, AllRef},
};
use punctual_stub::rt::AsyncCall;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

type Outcome<T> = Result<T, SystemException>;

fn failure() -> SystemException {
    SystemException::new(SystemExceptionKind::NoPermission, Minor(5), Completion::No)
}

/// Polls once: the ORB in memory carries calls out at once.
fn now<T>(future: impl Future<Output = T>) -> T {
    let Poll::Ready(output) = pin!(future).poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("not ready")
    };
    output
}

struct Servant;

impl Top for Servant {
    fn title(&self) -> Outcome<String> {
        Ok(String::from("servant"))
    }

    fn depth(&self) -> Outcome<i32> {
        Ok(2)
    }
}

impl Left for Servant {
    fn turn_left(&self, n: i32) -> Result<i32, left::TurnLeftError> {
        Ok(n * 2)
    }
}

impl Right for Servant {
    fn turn_right(&self, _: i32) -> Outcome<()> {
        Ok(())
    }
}

impl Bottom for Servant {
    fn go_down(&self, value: bottom::OwnView<'_>) -> Result<bottom::Own, bottom::GoDownError> {
        match value.text {
            "local" => Err(bottom::Inner { n: 1 }.into()),
            "system" => Err(System { code: 4 }.into()),
            "corba" => Err(failure().into()),
            text => Ok(bottom::Own { text: text.repeat(2) }),
        }
    }

    fn level(&self) -> Outcome<i32> {
        Ok(7)
    }

    fn set_level(&self, value: i32) -> Outcome<()> {
        if value == 7 { Ok(()) } else { Err(failure()) }
    }

    fn notes(&self) -> Outcome<Texts> {
        Ok(vec![String::from("note")])
    }

    fn set_notes(&self, value: &[&str]) -> Outcome<()> {
        assert_eq!(value, ["a", "b"]);
        Ok(())
    }

    fn guarded(&self) -> Result<i32, bottom::GuardedError> {
        Err(Empty {}.into())
    }

    fn limited(&self) -> Result<i16, bottom::LimitedError> {
        Ok(1)
    }

    fn set_limited(&self, value: i16) -> Result<(), bottom::SetLimitedError> {
        assert_eq!(value, 3);
        Err(Empty {}.into())
    }

    fn fail(&self, _: &str) -> Result<(), bottom::FailError> {
        Err(failure().into())
    }

    fn returned_and_out(&self, n: i32) -> Outcome<(i32, String, i32)> {
        Ok((n, n.to_string(), n * 2))
    }

    fn with_context(&self, n: i32) -> Outcome<i32> {
        Ok(n)
    }
}

#[test]
fn operations_and_attributes_have_one_each() {
    let orb = MemoryOrb::new(Endian::Big);
    let object: BottomRef = orb.activate(Servant);
    // Inherited ones, too.
    assert_eq!(now(object.title_async()).unwrap(), "servant");
    assert_eq!(object.depth_async().wait(), Ok(2));
    assert_eq!(now(object.turn_left_async(4)), Ok(8));
    let left: LeftRef = object.clone().into();
    assert_eq!(now(left.turn_left_async(4)), Ok(8));
    assert_eq!(now(object.level_async()), Ok(7));
    assert_eq!(now(object.set_level_async(7)), Ok(()));
    assert_eq!(now(object.set_level_async(8)), Err(failure()));
    assert_eq!(now(object.notes_async()).unwrap(), ["note"]);
    assert_eq!(now(object.set_notes_async(&["a", "b"])), Ok(()));
    let all = (5, String::from("5"), 10);
    assert_eq!(now(object.returned_and_out_async(5)), Ok(all));
    assert_eq!(now(object.with_context_async(6)), Ok(6));
}

#[test]
fn exceptions_arrive_as_what_was_raised() {
    let orb = MemoryOrb::new(Endian::Little);
    let object: BottomRef = orb.activate(Servant);
    let go_down = |text: &str| {
        // The argument need not outlive the call.
        let own = bottom::Own {
            text: String::from(text),
        };
        object.go_down_async(&own)
    };
    let inner = bottom::GoDownError::Inner(bottom::Inner { n: 1 });
    assert_eq!(now(go_down("local")), Err(inner));
    let system = bottom::GoDownError::System_(System { code: 4 });
    assert_eq!(now(go_down("system")), Err(system));
    assert_eq!(
        go_down("corba").wait(),
        Err(bottom::GoDownError::System(failure()))
    );
    assert_eq!(now(go_down("ab")).unwrap().text, "abab");
    assert_eq!(
        now(object.guarded_async()),
        Err(bottom::GuardedError::Empty(Empty {}))
    );
    let limited = bottom::SetLimitedError::Empty(Empty {});
    assert_eq!(now(object.set_limited_async(3)), Err(limited));
    assert_eq!(
        now(object.fail_async("")),
        Err(bottom::FailError::System(failure()))
    );
}

impl All for Servant {
    fn get_all(&self) -> Outcome<i32> {
        Ok(1)
    }

    fn get_all_(&self) -> Outcome<String> {
        Ok(String::from("2"))
    }

    fn get_all_into(&self) -> Outcome<String> {
        Ok(String::from("3"))
    }

    fn get_all_async(&self) -> Outcome<i32> {
        Ok(4)
    }
}

/// Names that stand in the IDL come first, those that are derived from them get a `_`.
#[test]
fn names_stay_apart() {
    let orb = MemoryOrb::new(Endian::NATIVE);
    let object: AllRef = orb.activate(Servant);
    assert_eq!(object.get_all_async(), Ok(4), "as in the IDL");
    assert_eq!(now(object.get_all_async_()), Ok(1));
    assert_eq!(now(object.get_all_async__()).unwrap(), "2");
    assert_eq!(now(object.get_all_into_async()).unwrap(), "3");
    assert_eq!(now(object.get_all_async_async()), Ok(4));
}

/// Results are owned: a call goes wherever its executor wants it, and outlives the reference.
#[test]
fn calls_are_free_to_go() {
    fn is_free<T: Send + Sync + Unpin + 'static>(call: T) -> T {
        call
    }
    let orb = MemoryOrb::new(Endian::NATIVE);
    let call: AsyncCall<Texts, SystemException> = {
        let object: BottomRef = orb.activate(Servant);
        is_free(object.notes_async())
    };
    let thread = std::thread::spawn(move || call.wait());
    assert_eq!(thread.join().unwrap().unwrap(), ["note"]);
}
