//! Sockets that only the same user can connect to.

use std::{
    io,
    os::unix::net::UnixListener,
    path::{Path, PathBuf},
};

use socket2::{Domain, Socket, Type};

use super::socket_file::SocketFile;

/// A listening Unix domain socket to which only this user (and root) can connect: not for GIOP, but for
/// inspection.
///
/// Its file has mode 0600 before connections are possible. As with [`crate::Unix`], the file of a dead
/// process is replaced, and [`Self::remove`] or dropping removes the own file.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use std::os::unix::{fs::PermissionsExt, net::UnixStream};
/// use punctual::transport::PrivateSocket;
///
/// let path = std::env::temp_dir().join(format!("punctual-private-{}", std::process::id()));
/// let socket = PrivateSocket::listen(&path)?;
/// assert_eq!(std::fs::metadata(&path)?.permissions().mode() & 0o777, 0o600);
/// UnixStream::connect(&path)?;
/// socket.listener().accept()?;
/// assert!(PrivateSocket::listen(&path).is_err(), "this process already listens there");
/// drop(socket);
/// assert!(!path.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct PrivateSocket {
    listener: UnixListener,
    file: SocketFile,
    path: PathBuf,
}

impl PrivateSocket {
    /// Listens at a path of at most 107 octets. The listener does not block.
    ///
    /// # Errors
    /// `AddrInUse` if another process listens there, `AlreadyExists` if the file is not a socket, `NotFound`
    /// and `PermissionDenied` for the directory; the text names the cause.
    pub fn listen(path: &Path) -> io::Result<Self> {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        // The file gets the mode of its socket when it is created. Changing the mode of the path afterwards
        // would change another file if another user had put a link there.
        rustix::fs::fchmod(&socket, rustix::fs::Mode::from_raw_mode(0o600))?;
        let file = SocketFile::listen(&socket, path, BACKLOG)?;
        socket.set_nonblocking(true)?;
        Ok(Self {
            listener: socket.into(),
            file,
            path: path.to_owned(),
        })
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the listener.
    pub fn listener(&self) -> &UnixListener {
        &self.listener
    }

    /// Removes the file, unless another process has replaced it.
    pub fn remove(&self) {
        self.file.remove();
    }
}

const BACKLOG: i32 = 16;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

    use super::*;

    #[test]
    fn the_file_is_created_with_its_mode_and_never_changed_by_its_path() {
        let directory = punctual_fixtures::Folder::new("mode");
        let path = directory.join("socket");
        let watch = inotify::init(CreateFlags::NONBLOCK).unwrap();
        // A change of mode by path would apply to the target of a link that was swapped in.
        inotify::add_watch(&watch, &*directory, WatchFlags::ATTRIB).unwrap();
        let socket = PrivateSocket::listen(&path).unwrap();
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        let mut events = [std::mem::MaybeUninit::uninit(); 1024];
        let mut changes = inotify::Reader::new(&watch, &mut events);
        assert_eq!(
            changes.next().err(),
            Some(rustix::io::Errno::AGAIN),
            "no attribute changed"
        );
        drop(socket);
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
    }
}
