//! Roles of child processes with typed requests.
//!
//! A [`Role`] is what a child process is: the driver sends its setup when it starts it, and then [`Task`]s,
//! each with its own type of answer. The list of a role's tasks is data, so a new request is a type with an
//! implementation of [`Task`] and a line in that list.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::{Child, ChildError, ChildSpec, Control, Failure};

/// Error of a child process, which the driver gets as text.
pub type RoleError = Box<dyn std::error::Error + Send + Sync>;

/// Kind of child process: its state, and how it starts.
pub trait Role: Sized + 'static {
    /// First word of its command line.
    const NAME: &'static str;
    /// Its configuration.
    type Setup: Serialize + DeserializeOwned;
    /// Report of the child when it is ready.
    type Ready: Serialize + DeserializeOwned;
    /// The requests that it answers.
    const TASKS: &'static [TaskEntry<Self>];

    /// Starts it.
    ///
    /// # Errors
    /// It cannot do its work; the driver gets the reason.
    fn start(setup: Self::Setup) -> Result<(Self, Self::Ready), RoleError>;
}

/// Request to a child process with the state `S`.
pub trait Task<S>: Serialize + DeserializeOwned {
    /// Name, unique among the tasks of a role.
    const NAME: &'static str;
    /// Result.
    type Reply: Serialize + DeserializeOwned;

    /// Executes the request in the child process.
    ///
    /// # Errors
    /// Its reason, which the driver gets as text.
    fn perform(self, state: &mut S) -> Result<Self::Reply, RoleError>;
}

/// Task of a role, by its name.
pub struct TaskEntry<S> {
    name: &'static str,
    perform: fn(&mut S, &RawValue) -> Result<Box<RawValue>, RoleError>,
}

impl<S> TaskEntry<S> {
    /// Returns the entry of a type of request.
    pub const fn of<T: Task<S>>() -> Self {
        Self {
            name: T::NAME,
            perform: |state, request| {
                let request: T = serde_json::from_str(request.get())?;
                Ok(to_raw_value(&request.perform(state)?)?)
            },
        }
    }
}

impl<S> fmt::Debug for TaskEntry<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A request on its way.
#[derive(Deserialize, Serialize)]
struct Request<R>(String, R);

/// Runs this process in a role until the driver closes the connection.
///
/// # Errors
/// It could not start, or the connection failed.
pub fn run_role<R: Role>() -> Result<(), RoleError> {
    let mut setup = String::new();
    io::stdin().read_line(&mut setup)?;
    let (mut state, ready) = R::start(serde_json::from_str(&setup)?)?;
    Control::ready(&ready)?.serve(|Request::<Box<RawValue>>(name, request)| {
        let task = R::TASKS.iter().find(|task| task.name == name);
        let task = task.ok_or_else(|| format!("{} has no task `{name}`", R::NAME))?;
        (task.perform)(&mut state, &request)
    })?;
    Ok(())
}

/// Child process in a role. Dropping it kills it.
#[derive(Debug)]
pub struct Process<R> {
    child: Child,
    role: PhantomData<fn() -> R>,
}

impl ChildSpec {
    /// Configures a child process in a role.
    pub fn of<R: Role>(name: impl Into<String>) -> Self {
        Self::new(name, R::NAME)
    }

    /// Starts the child process, and waits until it is ready; like [`spawn`](Self::spawn).
    ///
    /// # Errors
    /// Those of [`spawn`](Self::spawn).
    pub fn start<R: Role>(
        self,
        setup: &R::Setup,
        timeout: Duration,
    ) -> Result<(Process<R>, R::Ready), ChildError> {
        let line = serde_json::to_string(setup).map_err(|error| {
            ChildError::new(&self.name, Failure::Protocol(error.to_string()), String::new())
        })?;
        let (child, ready) = self.spawn_with(Some(line), timeout)?;
        let role = PhantomData;
        Ok((Process { child, role }, ready))
    }
}

impl<R: Role> Process<R> {
    /// Sends a request and waits for its answer; like [`Child::request`].
    ///
    /// # Errors
    /// Those of [`Child::request`].
    pub fn perform<T: Task<R>>(&mut self, task: &T, timeout: Duration) -> Result<T::Reply, ChildError> {
        self.begin(task)?;
        self.end::<T>(timeout)
    }

    /// Sends a request without waiting; like [`Child::send_request`].
    ///
    /// # Errors
    /// Those of [`Child::send_request`].
    pub fn begin<T: Task<R>>(&mut self, task: &T) -> Result<(), ChildError> {
        self.child.send_request(&(T::NAME, task))
    }

    /// Waits for the answer to [`begin`](Self::begin); like [`Child::receive_reply`].
    ///
    /// # Errors
    /// Those of [`Child::receive_reply`].
    pub fn end<T: Task<R>>(&mut self, timeout: Duration) -> Result<T::Reply, ChildError> {
        self.child.receive_reply(timeout)
    }

    /// Makes it end; like [`Child::stop`].
    ///
    /// # Errors
    /// Those of [`Child::stop`].
    pub fn stop(self, timeout: Duration) -> Result<(), ChildError> {
        self.child.stop(timeout)
    }
}

impl<R> From<Process<R>> for Child {
    fn from(process: Process<R>) -> Self {
        process.child
    }
}

impl<R> Deref for Process<R> {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.child
    }
}

impl<R> DerefMut for Process<R> {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.child
    }
}
