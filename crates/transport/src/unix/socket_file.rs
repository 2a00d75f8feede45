//! Files of Unix domain sockets.

use std::{
    fs, io,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use rustix::fs::{CWD, FlockOperation, Mode, OFlags, RenameFlags, flock, open, renameat_with};
use socket2::{Domain, Socket, Type};

use super::{random_number, socket_address};

/// The file of a listening socket, removed when it stops listening.
pub(super) struct SocketFile {
    path: PathBuf,
    /// Detects that the file has been replaced.
    identity: Identity,
    removed: AtomicBool,
}

impl SocketFile {
    /// Binds `socket` to the path, and listens. The file of a dead server is replaced.
    ///
    /// # Errors
    /// `AddrInUse` if another server listens, `AlreadyExists` if the file is not a socket; the text names the
    /// cause.
    pub(super) fn listen(socket: &Socket, path: &Path, backlog: i32) -> io::Result<Self> {
        let address = socket_address(path)?;
        let directory = path.parent().unwrap_or(Path::new("/"));
        // Until it listens: to others, a socket that is bound and does not listen yet looks dead.
        let _turn = wait_for_turn(directory);
        let bound = socket.bind(&address);
        if let Err(error) = bound {
            if error.kind() != io::ErrorKind::AddrInUse {
                return Err(explain(error, directory));
            }
            remove_dead(path, directory)?;
            socket.bind(&address).map_err(|error| match error.kind() {
                io::ErrorKind::AddrInUse => in_use(path),
                _ => error,
            })?;
        }
        let file = Self {
            identity: Identity::of(path)?,
            path: path.to_owned(),
            removed: AtomicBool::new(false),
        };
        socket.listen(backlog)?;
        Ok(file)
    }

    /// Removes the file, unless it has been removed or replaced.
    pub(super) fn remove(&self) {
        if self.removed.swap(true, Ordering::Relaxed) {
            return;
        }
        let own = Identity::of(&self.path).is_ok_and(|found| found == self.identity);
        if own {
            // If it fails, the next server detects that this one is dead.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Device, inode and time of creation of a file; inodes alone are reused.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Identity {
    device: u64,
    inode: u64,
    created: (i64, i64),
}

impl Identity {
    fn of(path: &Path) -> io::Result<Self> {
        fs::symlink_metadata(path).map(|metadata| Self::from(&metadata))
    }
}

impl From<&fs::Metadata> for Identity {
    fn from(metadata: &fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            // The file of a socket is never written to.
            created: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

/// Lets one server after the other start in a directory: returns a lock, held until it is dropped, or `None`
/// after a time.
///
/// Every user who may read the directory can hold the lock forever, so nothing may depend on it: binding is
/// atomic, and only the file that was found dead is removed. The lock only keeps two servers that start at
/// the same path at the same time from disturbing each other.
fn wait_for_turn(directory: &Path) -> Option<impl Drop> {
    const TIMEOUT: Duration = Duration::from_millis(100);
    // If it cannot be opened, binding fails with the better error, or needs no right to read.
    let file = open(directory, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let deadline = Instant::now() + TIMEOUT;
    while flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        if Instant::now() >= deadline {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Some(scopeguard::guard(file, drop))
}

/// Removes the file of a dead server, and nothing else.
fn remove_dead(path: &Path, directory: &Path) -> io::Result<()> {
    let dead = find_dead(path)?;
    remove_if(path, directory, dead).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => in_use(path),
        kind => {
            let problem = format!(
                "cannot remove {}, the socket of a dead server: {error}; check whether it belongs to another \
                 user",
                path.display()
            );
            io::Error::new(kind, problem)
        }
    })
}

/// Returns the identity of the dead server's file.
fn find_dead(path: &Path) -> io::Result<Identity> {
    let shown = path.display();
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.file_type().is_socket() {
        let problem = format!("{shown} exists and is not a socket; choose another path, or remove it");
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, problem));
    }
    let probe = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // A server that does not accept would block this.
    probe.set_nonblocking(true)?;
    match probe.connect(&socket_address(path)?) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(Identity::from(&metadata)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let problem = format!("{shown} is the socket of another user; choose another path");
            Err(io::Error::new(io::ErrorKind::PermissionDenied, problem))
        }
        Ok(()) | Err(_) => Err(in_use(path)),
    }
}

/// Removes the file if it is still the given one. Otherwise another server has replaced it since.
///
/// No system call compares and removes, so the file is moved aside, compared, and moved back if it is not the
/// one.
///
/// # Errors
/// `AddrInUse` if it is another one.
fn remove_if(path: &Path, directory: &Path, expected: Identity) -> io::Result<()> {
    let aside = directory.join(format!(".punctual-{:016x}", random_number()?));
    fs::rename(path, &aside)?;
    if Identity::of(&aside)? == expected {
        return fs::remove_file(&aside);
    }
    renameat_with(CWD, &aside, CWD, path, RenameFlags::NOREPLACE)?;
    Err(io::ErrorKind::AddrInUse.into())
}

fn in_use(path: &Path) -> io::Error {
    let problem = format!(
        "another server listens at {}; stop it or choose another path",
        path.display()
    );
    io::Error::new(io::ErrorKind::AddrInUse, problem)
}

fn explain(error: io::Error, directory: &Path) -> io::Error {
    let directory = directory.display();
    let problem = match error.kind() {
        io::ErrorKind::NotFound => format!("the directory {directory} does not exist; create it first"),
        io::ErrorKind::PermissionDenied => format!("this user may not create files in {directory}"),
        _ => return error,
    };
    io::Error::new(error.kind(), problem)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn a_server_that_replaced_a_dead_one_first_is_not_removed() {
        let directory = punctual_fixtures::Folder::new("replaced");
        let path = directory.join("socket");
        drop(UnixListener::bind(&path).unwrap());
        let dead = find_dead(&path).unwrap();
        // Another server does the same, and is faster.
        remove_dead(&path, &directory).unwrap();
        let other = UnixListener::bind(&path).unwrap();
        let refused = remove_if(&path, &directory, dead).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
        UnixStream::connect(&path).unwrap();
        other.accept().unwrap();
        let left: Vec<_> = fs::read_dir(&directory).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}
