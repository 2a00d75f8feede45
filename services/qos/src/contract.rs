//! Contracts: regions, the transitions between them, and callbacks.

use std::sync::Arc;

use punctual::{ContractState, Orb};
use punctual_os::PiMutex;

use crate::{Condition, Region};

/// A contract between a program and its resources, as in Quality Objects: the first of its regions that
/// contains the present values is the one in which the program operates.
///
/// [`Self::evaluate`] is called by the code that measures, or at fixed times, by any threads; a contract has
/// no thread of its own. Callbacks run on the thread that evaluates, after the transition and without a lock,
/// one transition after the other. Evaluations during them, by callbacks or by other threads, return without
/// waiting: the region stays, and its next transition is made when the callbacks have returned, on their
/// thread. So callbacks may evaluate this contract and others, also in circles, and read them. One that does
/// not return keeps its contract in its region; one that changes conditions so that each region leads to
/// another one never comes to an end.
///
/// ```
/// use punctual_qos::{Condition, Contract, Region};
///
/// let latency = Condition::new("latency_ms");
/// let contract = Contract::builder("image")
///     .region(Region::new("detailed").at_most(&latency, 50.0))
///     .region(Region::new("coarse"))
///     .on_transition(|transition| println!("{} -> {}", transition.from, transition.to))
///     .build()?;
/// assert_eq!(contract.region(), "coarse", "nothing is known yet");
/// latency.set(20.0);
/// assert_eq!(contract.evaluate().map(|transition| transition.to).as_deref(), Some("detailed"));
/// assert!(contract.evaluate().is_none(), "nothing has changed");
/// # Ok::<(), punctual_qos::ContractError>(())
/// ```
#[derive(Clone)]
pub struct Contract(Arc<Shared>);

struct Shared {
    name: String,
    regions: Vec<Region>,
    conditions: Vec<Condition>,
    settling: u32,
    callbacks: Vec<Callback>,
    listeners: PiMutex<Vec<Listener>>,
    state: PiMutex<State>,
}

type Callback = Box<dyn Fn(&Transition) + Send + Sync>;

/// Function of this crate that is called before the callbacks, under a lock: it neither waits nor evaluates.
/// It returns whether it wants to be called again.
type Listener = Box<dyn Fn(&Transition) -> bool + Send + Sync>;

/// Present region, and the region to which it may be moving.
struct State {
    region: usize,
    /// Another region, and how many evaluations in succession have found it.
    candidate: (usize, u32),
    transitions: u64,
    evaluations: u64,
    /// Whether a thread calls callbacks. Only this one makes transitions then.
    is_calling: bool,
}

/// A change of the region.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Transition {
    /// Name of the contract.
    pub contract: String,
    /// Region that was left.
    pub from: String,
    /// Region that was entered.
    pub to: String,
    /// Number of the transition, from 1.
    pub number: u64,
}

/// A contract that cannot be kept.
#[derive(Clone, Eq, PartialEq, thiserror::Error)]
pub enum ContractError {
    /// Values could lie outside all regions.
    #[error("contract `{0}`: some values lie in no region; add a last region without bounds")]
    NotExhaustive(String),
    /// A region could never be entered.
    #[error("contract `{contract}`: region `{region}` comes after one without bounds and is never entered")]
    Unreachable {
        /// Name of the contract.
        contract: String,
        /// Name of the region.
        region: String,
    },
    /// Two regions, or two conditions, have the same name.
    #[error("contract `{contract}`: two regions or conditions are named `{name}`")]
    DuplicateName {
        /// Name of the contract.
        contract: String,
        /// The name.
        name: String,
    },
    /// No value meets a bound.
    #[error("contract `{contract}`: no value of `{condition}` meets its bound in region `{region}`")]
    ImpossibleBound {
        /// Name of the contract.
        contract: String,
        /// Name of the region.
        region: String,
        /// Name of the condition.
        condition: String,
    },
}

punctual_types::debug_as_display!(ContractError);

/// Description of a [`Contract`].
pub struct ContractBuilder {
    name: String,
    regions: Vec<Region>,
    settling: u32,
    callbacks: Vec<Callback>,
}

impl Contract {
    /// Begins the description of a contract.
    pub fn builder(name: impl Into<String>) -> ContractBuilder {
        ContractBuilder {
            name: name.into(),
            regions: Vec::new(),
            settling: 1,
            callbacks: Vec::new(),
        }
    }

    /// Finds the region of the present values; enters it if it is another one. Returns the last transition
    /// that this call has made, after all callbacks.
    ///
    /// `None`: the region stays, or callbacks of an earlier transition are running. If one is due afterwards,
    /// the call that runs them makes it.
    pub fn evaluate(&self) -> Option<Transition> {
        let Self(shared) = self;
        let mut next = {
            let mut state = shared.state.lock();
            // Under the lock: an older finding must not replace a newer one.
            state.examine(shared.region_of_present());
            shared.transition(&mut state)
        };
        let mut last = None;
        while let Some(transition) = next {
            shared.call(&transition);
            last = Some(transition);
            next = shared.transition(&mut shared.state.lock());
        }
        last
    }

    /// Calls a function for each transition, before the callbacks, until it returns `false`.
    pub(crate) fn listen(&self, listener: impl Fn(&Transition) -> bool + Send + Sync + 'static) {
        self.0.listeners.lock().push(Box::new(listener));
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the name of the region.
    pub fn region(&self) -> &str {
        let region = self.0.state.lock().region;
        &self.0.regions[region].name
    }

    /// Finds one of the conditions that bound regions.
    pub fn condition(&self, name: &str) -> Option<&Condition> {
        self.0
            .conditions
            .iter()
            .find(|condition| condition.name() == name)
    }

    /// Shows the contract in `punctual top` and in metrics, beside the lanes of an inspected ORB, as long as
    /// it exists. It costs no thread of the program any work.
    ///
    /// ```
    /// use punctual::{Inspection, Orb};
    /// use punctual_qos::{Condition, Contract, Region};
    ///
    /// let orb = Orb::builder().inspection(Inspection::new()).build()?;
    /// let latency = Condition::new("latency_ms");
    /// let contract = Contract::builder("image")
    ///     .region(Region::new("detailed").at_most(&latency, 50.0))
    ///     .region(Region::new("coarse"))
    ///     .build()?;
    /// contract.show(&orb);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn show(&self, orb: &Orb) {
        let shared = Arc::downgrade(&self.0);
        orb.inspect_contract(move || Some(Self(shared.upgrade()?).state()));
    }

    /// Returns the state for viewers.
    pub fn state(&self) -> ContractState {
        let Self(shared) = self;
        let (region, transitions, evaluations) = {
            let state = shared.state.lock();
            (state.region, state.transitions, state.evaluations)
        };
        let conditions = shared.conditions.iter();
        ContractState {
            contract: shared.name.clone(),
            region: shared.regions[region].name.clone(),
            transitions,
            evaluations,
            conditions: conditions
                .map(|condition| (condition.name().to_owned(), condition.value()))
                .collect(),
        }
    }
}

impl Shared {
    fn region_of_present(&self) -> usize {
        let found = self.regions.iter().position(Region::contains_present);
        // The last one contains everything.
        found.unwrap_or(self.regions.len() - 1)
    }

    /// Makes the transition that is due, whose callbacks are to be called, unless those of another one run.
    fn transition(&self, state: &mut State) -> Option<Transition> {
        let (found, times) = state.candidate;
        if state.is_calling || found == state.region || times < self.settling {
            return None;
        }
        let from = std::mem::replace(&mut state.region, found);
        state.transitions += 1;
        state.is_calling = true;
        Some(Transition {
            contract: self.name.clone(),
            from: self.regions[from].name.clone(),
            to: self.regions[found].name.clone(),
            number: state.transitions,
        })
    }

    fn call(&self, transition: &Transition) {
        let _calling = Calling(self);
        self.listeners.lock().retain(|listener| listener(transition));
        self.callbacks.iter().for_each(|callback| callback(transition));
    }
}

impl State {
    /// Notes the region that an evaluation has found.
    fn examine(&mut self, found: usize) {
        self.evaluations += 1;
        self.candidate = match self.candidate {
            (same, times) if same == found => (found, times.saturating_add(1)),
            _ => (found, 1),
        };
    }
}

/// Calls of callbacks, which end when this is dropped, also if one panics.
struct Calling<'a>(&'a Shared);

impl Drop for Calling<'_> {
    fn drop(&mut self) {
        self.0.state.lock().is_calling = false;
    }
}

impl ContractBuilder {
    /// Adds a region, after those that are preferred to it.
    pub fn region(mut self, region: Region) -> Self {
        self.regions.push(region);
        self
    }

    /// Enters another region only after this number of evaluations in succession that found it, so that
    /// values at a bound do not lead to a transition each. Default: 1.
    pub fn settling(mut self, evaluations: u32) -> Self {
        self.settling = evaluations.max(1);
        self
    }

    /// Adds a callback for each transition; callbacks are called in the order in which they were added.
    pub fn on_transition(mut self, callback: impl Fn(&Transition) + Send + Sync + 'static) -> Self {
        self.callbacks.push(Box::new(callback));
        self
    }

    /// Adds a callback for each entry into the region of this name.
    pub fn on_enter(self, region: &str, callback: impl Fn() + Send + Sync + 'static) -> Self {
        let region = region.to_owned();
        self.on_transition(move |transition| {
            if transition.to == region {
                callback();
            }
        })
    }

    /// Creates the contract; its first region is that of the present values.
    ///
    /// # Errors
    /// A [`ContractError`] if regions do not divide all values among them.
    pub fn build(self) -> Result<Contract, ContractError> {
        self.check()?;
        let mut conditions: Vec<Condition> = Vec::new();
        for condition in self.regions.iter().flat_map(Region::conditions) {
            match conditions.iter().find(|own| own.name() == condition.name()) {
                Some(own) if !own.is_same(condition) => return Err(self.duplicate(condition.name())),
                Some(_) => {}
                None => conditions.push(condition.clone()),
            }
        }
        let mut shared = Shared {
            name: self.name,
            regions: self.regions,
            conditions,
            settling: self.settling,
            callbacks: self.callbacks,
            listeners: PiMutex::default(),
            state: PiMutex::new(State {
                region: 0,
                candidate: (0, 0),
                transitions: 0,
                evaluations: 0,
                is_calling: false,
            }),
        };
        let region = shared.region_of_present();
        shared.state.get_mut().region = region;
        Ok(Contract(Arc::new(shared)))
    }

    fn check(&self) -> Result<(), ContractError> {
        let Some((last, others)) = self.regions.split_last() else {
            return Err(ContractError::NotExhaustive(self.name.clone()));
        };
        if last.is_bounded() {
            return Err(ContractError::NotExhaustive(self.name.clone()));
        }
        for (number, region) in self.regions.iter().enumerate() {
            let (contract, name) = (self.name.clone(), region.name.clone());
            if self.regions[..number].iter().any(|other| other.name == name) {
                return Err(self.duplicate(&name));
            }
            if let Some(condition) = region.impossible() {
                return Err(ContractError::ImpossibleBound {
                    contract,
                    region: name,
                    condition: condition.name().to_owned(),
                });
            }
        }
        match others.iter().position(|region| !region.is_bounded()) {
            None => Ok(()),
            Some(number) => Err(ContractError::Unreachable {
                contract: self.name.clone(),
                region: self.regions[number + 1].name.clone(),
            }),
        }
    }

    fn duplicate(&self, name: &str) -> ContractError {
        ContractError::DuplicateName {
            contract: self.name.clone(),
            name: name.to_owned(),
        }
    }
}
