//! Socket options for which our dependencies have no safe function.

use std::{
    io,
    mem::size_of,
    os::fd::{AsFd, AsRawFd},
};

/// Sets SO_DONTROUTE: whether a socket bypasses gateways and reaches only hosts of directly connected
/// networks.
///
/// # Errors
/// Those of `setsockopt`.
///
/// ```
/// use std::net::UdpSocket;
///
/// let socket = UdpSocket::bind("127.0.0.1:0")?;
/// punctual_os::socket_option::set_dont_route(&socket, true)?;
/// assert!(punctual_os::socket_option::dont_route(&socket)?);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn set_dont_route(socket: impl AsFd, dont_route: bool) -> io::Result<()> {
    let value = libc::c_int::from(dont_route);
    // SAFETY: the kernel reads one int, which outlives the call; the descriptor is open while it is borrowed.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_DONTROUTE,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Returns how many of the octets that were written to a TCP socket its peer's system has not acknowledged.
/// Once the connection has ended, these never reached it.
///
/// # Errors
/// Those of `ioctl`.
pub fn unacknowledged(socket: impl AsFd) -> io::Result<usize> {
    let mut octets: libc::c_int = 0;
    // SAFETY: the kernel writes one int, which outlives the call; the descriptor is open while it is
    // borrowed.
    let result = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ, &raw mut octets) };
    if result == 0 {
        Ok(octets.max(0) as usize)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Returns the setting of [`set_dont_route`].
///
/// # Errors
/// Those of `getsockopt`.
pub fn dont_route(socket: impl AsFd) -> io::Result<bool> {
    let mut value: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` octets, the size of the int, and both outlive the call; the
    // descriptor is open while it is borrowed.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_DONTROUTE,
            (&raw mut value).cast(),
            &raw mut length,
        )
    };
    if result == 0 {
        Ok(value != 0)
    } else {
        Err(io::Error::last_os_error())
    }
}
