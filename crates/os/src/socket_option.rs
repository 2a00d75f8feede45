//! Options of sockets for which the crates we use have no safe function.

use std::{
    io,
    mem::size_of,
    os::fd::{AsFd, AsRawFd},
};

/// Whether what a socket sends goes only to hosts of the networks that this one is connected to, past all gateways:
/// SO_DONTROUTE.
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
    // SAFETY: the kernel reads one int, which lives until the call returns; the descriptor is open as long as it is borrowed.
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

/// What [`set_dont_route`] has set; its example shows it.
pub fn dont_route(socket: impl AsFd) -> io::Result<bool> {
    let mut value: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` octets, the size of the int, and both live until the call returns; the
    // descriptor is open as long as it is borrowed.
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
