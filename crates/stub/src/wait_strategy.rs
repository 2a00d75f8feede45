//! Wait strategies.

/// How a lane thread waits for the reply to its own two-way call.
///
/// Threads outside of lanes always wait in their own `read`.
///
/// ```
/// # use punctual_stub as punctual;
/// use punctual::WaitStrategy;
///
/// assert_eq!(WaitStrategy::default(), WaitStrategy::Blocking);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum WaitStrategy {
    /// Waits in its own `read` and serves no requests meanwhile. The cheapest way to call.
    #[default]
    Blocking,
    /// Waits in its lane's poller and serves other requests of the lane meanwhile: objects can call each
    /// other back with one thread. These requests run inside the waiting one and delay its reply;
    /// `max_nested_calls` limits the nesting.
    Serving,
}
