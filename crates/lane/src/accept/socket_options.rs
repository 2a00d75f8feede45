//! Options of the sockets that a lane accepts.

use std::{io, os::fd::BorrowedFd, time::Duration};

use punctual_os::{Notice, socket_option};

/// Options of the sockets of a lane's connections, for the way of a packet between the network device and the
/// lane's thread. `None` leaves the system's default. They have no effect on connections in shared memory.
///
/// ```
/// # use punctual_lane as punctual;
/// use std::time::Duration;
///
/// use punctual::SocketOptions;
///
/// let options = SocketOptions {
///     busy_poll: Some(Duration::from_micros(50)),
///     incoming_cpu: Some(3),
///     priority: Some(6),
/// };
/// assert_ne!(options, SocketOptions::default());
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SocketOptions {
    /// How long a thread that waits in `read` polls the device's queue before it sleeps (SO_BUSY_POLL): no
    /// interrupt and no wake-up lie between packet and thread then, at the expense of the CPU. It needs
    /// CAP_NET_ADMIN, a driver with NAPI, and [`LaneMode::Blocking`](crate::LaneMode::Blocking); a lane that
    /// waits in its poller polls only as `net.core.busy_poll` states.
    pub busy_poll: Option<Duration>,
    /// CPU whose packets the lane prefers (SO_INCOMING_CPU).
    pub incoming_cpu: Option<usize>,
    /// Queue of the packets that the lane sends (SO_PRIORITY); above 6 it needs CAP_NET_ADMIN. A network
    /// priority mapping replaces it for connections whose protocol policy enables network priorities.
    pub priority: Option<u32>,
}

impl SocketOptions {
    /// Sets the options of an accepted connection. Options that the system refuses are reported once, and the
    /// connection is served without them.
    pub(crate) fn set(&self, socket: BorrowedFd<'_>) {
        static REFUSED: Notice = Notice::new(
            "punctual: the system refuses a socket option of a lane (SO_BUSY_POLL, SO_INCOMING_CPU or \
             SO_PRIORITY), so connections are served without it; grant CAP_NET_ADMIN, or leave it out of \
             LaneSpec\n",
        );
        let results = [
            self.busy_poll
                .map(|time| socket_option::set_busy_poll(socket, time)),
            self.incoming_cpu
                .map(|cpu| socket_option::set_incoming_cpu(socket, cpu)),
            self.priority
                .map(|priority| socket_option::set_priority(socket, priority)),
        ];
        // The descriptor of a connection in shared memory is not a socket.
        let refused =
            |result: io::Result<()>| result.is_err_and(|error| !socket_option::is_no_socket(&error));
        if results.into_iter().flatten().any(refused) {
            REFUSED.send();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{net::UdpSocket, os::fd::AsFd};

    use super::*;

    #[test]
    fn options_reach_the_socket_and_absent_ones_do_not() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        SocketOptions::default().set(socket.as_fd());
        assert_eq!(socket_option::priority(&socket).unwrap(), 0);
        let options = SocketOptions {
            busy_poll: Some(Duration::from_micros(70)),
            incoming_cpu: Some(0),
            priority: Some(5),
        };
        options.set(socket.as_fd());
        assert_eq!(socket_option::priority(&socket).unwrap(), 5);
        assert_eq!(socket_option::incoming_cpu(&socket).unwrap(), Some(0));
        // Without the right it stays as it was.
        let busy_poll = socket_option::busy_poll(&socket).unwrap();
        assert!(
            [Duration::ZERO, Duration::from_micros(70)].contains(&busy_poll),
            "{busy_poll:?}"
        );
    }

    #[test]
    fn what_is_no_socket_is_ignored() {
        let (reader, _writer) = io::pipe().unwrap();
        let error = socket_option::set_priority(&reader, 1).unwrap_err();
        assert!(socket_option::is_no_socket(&error), "{error}");
    }
}
