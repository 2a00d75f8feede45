//! Socket options for which our dependencies have no safe function.

use std::{
    io,
    mem::size_of,
    os::fd::{AsFd, AsRawFd},
    time::Duration,
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
    set(socket, libc::SO_DONTROUTE, dont_route.into())
}

/// Returns the setting of [`set_dont_route`].
///
/// # Errors
/// Those of `getsockopt`.
pub fn dont_route(socket: impl AsFd) -> io::Result<bool> {
    Ok(get(socket, libc::SO_DONTROUTE)? != 0)
}

/// Sets SO_BUSY_POLL: how long a read of a socket without data polls the device's queue before it sleeps, in
/// microseconds, rounded down.
///
/// # Errors
/// Those of `setsockopt`; without CAP_NET_ADMIN the time cannot be raised above `net.core.busy_read`.
pub fn set_busy_poll(socket: impl AsFd, time: Duration) -> io::Result<()> {
    let us = libc::c_int::try_from(time.as_micros()).unwrap_or(libc::c_int::MAX);
    set(socket, libc::SO_BUSY_POLL, us)
}

/// Returns the setting of [`set_busy_poll`].
///
/// # Errors
/// Those of `getsockopt`.
pub fn busy_poll(socket: impl AsFd) -> io::Result<Duration> {
    let us = get(socket, libc::SO_BUSY_POLL)?;
    Ok(Duration::from_micros(us.try_into().unwrap_or(0)))
}

/// Sets SO_INCOMING_CPU: the CPU whose packets a socket prefers. The kernel replaces the value for a
/// connected socket when it receives a packet.
///
/// # Errors
/// Those of `setsockopt`, or a number that the kernel does not represent.
pub fn set_incoming_cpu(socket: impl AsFd, cpu: usize) -> io::Result<()> {
    let cpu = cpu.try_into().map_err(|_| io::ErrorKind::InvalidInput)?;
    set(socket, libc::SO_INCOMING_CPU, cpu)
}

/// Returns the setting of [`set_incoming_cpu`], or the CPU that handled the last packet; `None` before there
/// is one.
///
/// # Errors
/// Those of `getsockopt`.
pub fn incoming_cpu(socket: impl AsFd) -> io::Result<Option<usize>> {
    Ok(get(socket, libc::SO_INCOMING_CPU)?.try_into().ok())
}

/// Sets SO_PRIORITY: the queue of packets that a socket sends, which the device's discipline interprets.
///
/// # Errors
/// Those of `setsockopt`; values above 6 need CAP_NET_ADMIN.
pub fn set_priority(socket: impl AsFd, priority: u32) -> io::Result<()> {
    let priority = priority.try_into().map_err(|_| io::ErrorKind::InvalidInput)?;
    set(socket, libc::SO_PRIORITY, priority)
}

/// Returns the setting of [`set_priority`].
///
/// # Errors
/// Those of `getsockopt`.
pub fn priority(socket: impl AsFd) -> io::Result<u32> {
    Ok(get(socket, libc::SO_PRIORITY)?.try_into().unwrap_or(0))
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

/// Returns whether an error of these functions means that the descriptor is not that of a socket.
pub fn is_no_socket(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOTSOCK)
}

fn set(socket: impl AsFd, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: the kernel reads one int, which outlives the call; the descriptor is open while it is borrowed.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            option,
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

fn get(socket: impl AsFd, option: libc::c_int) -> io::Result<libc::c_int> {
    let mut value: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` octets, the size of the int, and both outlive the call; the
    // descriptor is open while it is borrowed.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            (&raw mut value).cast(),
            &raw mut length,
        )
    };
    if result == 0 {
        Ok(value)
    } else {
        Err(io::Error::last_os_error())
    }
}
