/// How a thread waits for the reply to a two-way call that it makes while it serves a lane.
///
/// A thread that serves no lane waits in the one way there is: in its own `read`.
///
/// ```
/// use punctual_stub::WaitStrategy;
///
/// assert_eq!(WaitStrategy::default(), WaitStrategy::Blocking);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum WaitStrategy {
    /// In its own `read`: it serves nothing meanwhile. The least that a call can cost.
    #[default]
    Blocking,
    /// In its lane's waiting place, where it serves other requests of the lane meanwhile: objects may call each other back
    /// with one thread. Those requests run inside the one that waits and delay its reply; how many nest is
    /// the limit `max_nested_calls`.
    Serving,
}
