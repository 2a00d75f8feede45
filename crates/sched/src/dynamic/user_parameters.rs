//! Parameters of user-defined schedulers.

use super::Time;

/// Kind of the parameters of a user-defined scheduler: the number by which hosts recognise it, from
/// [`FIRST`](Self::FIRST) on.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct UserKind(u16);

impl UserKind {
    /// The first number for user-defined kinds; smaller ones are those of this library.
    pub const FIRST: u16 = 0x8000;

    /// Creates a kind; `None` below [`FIRST`](Self::FIRST).
    ///
    /// ```
    /// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
    /// use punctual::rtscheduling::UserKind;
    ///
    /// assert_eq!(UserKind::new(0x8001).map(UserKind::number), Some(0x8001));
    /// assert!(UserKind::new(2).is_none(), "2 is importance");
    /// ```
    pub const fn new(number: u16) -> Option<Self> {
        if number < Self::FIRST {
            None
        } else {
            Some(Self(number))
        }
    }

    /// Returns the number.
    pub const fn number(self) -> u16 {
        self.0
    }
}

/// Parameters that only a user-defined scheduler understands, and a deadline, which every host understands.
///
/// The octets are the scheduler's: it writes and reads them, in a byte order of its choice. Hosts that do not
/// know the kind take them along unread.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use punctual::rtscheduling::{SchedulingParameters, Time, UserKind, UserParameters};
///
/// const ENERGY: UserKind = UserKind::new(0x8001).unwrap();
///
/// let parameters = UserParameters::new(ENERGY, &[7, 0, 0, 0]).unwrap().with_deadline(Time(9));
/// assert_eq!(parameters.octets(), [7, 0, 0, 0]);
/// assert_eq!(SchedulingParameters::User(parameters).deadline(), Some(Time(9)));
/// assert!(UserParameters::new(ENERGY, &[0; UserParameters::MOST + 1]).is_none());
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UserParameters {
    kind: UserKind,
    deadline: Time,
    length: u8,
    octets: [u8; Self::MOST],
}

impl UserParameters {
    /// Maximum number of octets.
    pub const MOST: usize = 64;

    /// Takes octets, without a deadline; `None` if there are more than [`MOST`](Self::MOST).
    pub fn new(kind: UserKind, octets: &[u8]) -> Option<Self> {
        let mut parameters = Self::empty(kind);
        parameters.octets.get_mut(..octets.len())?.copy_from_slice(octets);
        parameters.length = octets.len() as u8;
        Some(parameters)
    }

    /// Creates parameters without octets and deadline: those of threads without any, and of threads whose
    /// parameters the scheduler cannot [adopt](super::Scheduler::adopt).
    pub const fn empty(kind: UserKind) -> Self {
        Self {
            kind,
            deadline: Time::NEVER,
            length: 0,
            octets: [0; Self::MOST],
        }
    }

    /// Sets the deadline; [`Time::NEVER`]: none.
    pub const fn with_deadline(self, deadline: Time) -> Self {
        Self { deadline, ..self }
    }

    /// Returns the kind.
    pub const fn kind(&self) -> UserKind {
        self.kind
    }

    /// Returns the deadline, if there is one.
    pub fn deadline(&self) -> Option<Time> {
        Some(self.deadline).filter(|deadline| *deadline != Time::NEVER)
    }

    /// Returns the octets.
    pub fn octets(&self) -> &[u8] {
        &self.octets[..usize::from(self.length)]
    }
}
