use std::{
    fs, io,
    os::unix::{fs::PermissionsExt, net::UnixListener},
    path::{Path, PathBuf},
};

use socket2::{Domain, Socket, Type};

use super::socket_file::SocketFile;

/// A listening Unix domain socket that only this user (and root) can connect to: not for GIOP, but for looking after the process.
///
/// Its file has mode 0600 before anybody can connect. As with [`crate::Unix`], the file of a process that has died is replaced,
/// and [`Self::remove`] or dropping removes the own one.
///
/// ```
/// use std::os::unix::{fs::PermissionsExt, net::UnixStream};
/// use punctual_transport::PrivateSocket;
///
/// let path = std::env::temp_dir().join(format!("punctual-private-{}", std::process::id()));
/// let socket = PrivateSocket::listen(&path)?;
/// assert_eq!(std::fs::metadata(&path)?.permissions().mode() & 0o777, 0o600);
/// UnixStream::connect(&path)?;
/// socket.listener().accept()?;
/// assert!(PrivateSocket::listen(&path).is_err(), "this process listens there");
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
    /// `AddrInUse` where somebody else listens there, `AlreadyExists` where the file is no socket, `NotFound` and
    /// `PermissionDenied` for the directory; the text says which.
    pub fn listen(path: &Path) -> io::Result<Self> {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        let file = SocketFile::bind(&socket, path)?;
        // Nobody can connect before it listens.
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        Ok(Self {
            listener: socket.into(),
            file,
            path: path.to_owned(),
        })
    }

    /// Where it listens.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What accepts.
    pub fn listener(&self) -> &UnixListener {
        &self.listener
    }

    /// Removes its file, unless it is another one's by now: nobody finds it any more.
    pub fn remove(&self) {
        self.file.remove();
    }
}

const BACKLOG: i32 = 16;
