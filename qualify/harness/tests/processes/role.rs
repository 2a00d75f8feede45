//! Roles of child processes: setup, state, typed requests, and errors.

use std::time::Duration;

use punctual_harness::child::{ChildSpec, Failure, Role, RoleError, Task, TaskEntry};
use serde::{Deserialize, Serialize};

const TIMEOUT: Duration = punctual_fixtures::LONG;

/// A child process that adds; its state is the sum.
#[derive(Debug)]
pub struct Adder(u32);

impl Role for Adder {
    const NAME: &'static str = "__adder";
    type Setup = u32;
    type Ready = String;
    const TASKS: &'static [TaskEntry<Self>] = &[TaskEntry::of::<Add>(), TaskEntry::of::<Name>()];

    fn start(first: u32) -> Result<(Self, String), RoleError> {
        match first {
            0 => Err("it needs something to start with".into()),
            _ => Ok((Self(first), format!("starts with {first}"))),
        }
    }
}

#[derive(Deserialize, Serialize)]
struct Add(u32);

impl Task<Adder> for Add {
    const NAME: &'static str = "add";
    type Reply = u32;

    fn perform(self, adder: &mut Adder) -> Result<u32, RoleError> {
        adder.0 = adder.0.checked_add(self.0).ok_or("the sum is too large")?;
        Ok(adder.0)
    }
}

#[derive(Deserialize, Serialize)]
struct Name;

impl Task<Adder> for Name {
    const NAME: &'static str = "name";
    type Reply = String;

    fn perform(self, _: &mut Adder) -> Result<String, RoleError> {
        Ok("adder".to_owned())
    }
}

/// A request that is not in the list of tasks.
#[derive(Deserialize, Serialize)]
struct Unlisted;

impl Task<Adder> for Unlisted {
    const NAME: &'static str = "unlisted";
    type Reply = ();

    fn perform(self, _: &mut Adder) -> Result<(), RoleError> {
        Ok(())
    }
}

pub fn answers_each_task_with_its_type_and_keeps_its_state() {
    let (mut adder, ready) = ChildSpec::of::<Adder>("adder")
        .start::<Adder>(&40, TIMEOUT)
        .unwrap();
    assert_eq!(ready, "starts with 40");
    assert_eq!(adder.perform(&Add(2), TIMEOUT).unwrap(), 42);
    assert_eq!(adder.perform(&Name, TIMEOUT).unwrap(), "adder");
    adder.begin(&Add(1)).unwrap();
    assert_eq!(adder.end::<Add>(TIMEOUT).unwrap(), 43);
    adder.stop(TIMEOUT).unwrap();
}

pub fn refuses_a_setup_a_task_and_what_it_does_not_know() {
    let refused = ChildSpec::of::<Adder>("adder")
        .start::<Adder>(&0, TIMEOUT)
        .unwrap_err();
    assert!(
        refused.to_string().contains("something to start with"),
        "{refused}"
    );
    let (mut adder, _) = ChildSpec::of::<Adder>("adder")
        .start::<Adder>(&1, TIMEOUT)
        .unwrap();
    let large = adder.perform(&Add(u32::MAX), TIMEOUT).unwrap_err();
    assert!(
        matches!(large.failure(), Failure::Refused(reason) if reason.contains("too large")),
        "{large}"
    );
    let unknown = adder.perform(&Unlisted, TIMEOUT).unwrap_err();
    assert!(unknown.to_string().contains("`unlisted`"), "{unknown}");
    assert_eq!(adder.perform(&Add(1), TIMEOUT).unwrap(), 2, "it continues");
}
