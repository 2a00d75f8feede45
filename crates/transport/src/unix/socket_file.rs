//! Files of Unix domain sockets.

use std::{
    fs, io,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use rustix::fs::{FlockOperation, flock};
use socket2::{Domain, Socket, Type};

use super::socket_address;

/// The file of a listening socket, removed when it stops listening.
pub(super) struct SocketFile {
    path: PathBuf,
    /// Device and inode, to detect that the file has been replaced.
    identity: (u64, u64),
    removed: AtomicBool,
}

impl SocketFile {
    /// Binds `socket` to the path. The file of a dead server is replaced.
    ///
    /// # Errors
    /// `AddrInUse` if another server listens, `AlreadyExists` if the file is not a socket; the text names the
    /// cause.
    pub(super) fn bind(socket: &Socket, path: &Path) -> io::Result<Self> {
        let address = socket_address(path)?;
        let directory = path.parent().unwrap_or(Path::new("/"));
        // No other server may do the same between the check and binding.
        let _lock = lock(directory)?;
        let bound = socket.bind(&address);
        if let Err(error) = bound {
            if error.kind() != io::ErrorKind::AddrInUse {
                return Err(explain(error, directory));
            }
            remove_dead(path)?;
            socket.bind(&address)?;
        }
        let metadata = fs::symlink_metadata(path)?;
        Ok(Self {
            path: path.to_owned(),
            identity: identity(&metadata),
            removed: AtomicBool::new(false),
        })
    }

    /// Removes the file, unless it has been removed or replaced.
    pub(super) fn remove(&self) {
        if self.removed.swap(true, Ordering::Relaxed) {
            return;
        }
        let own = fs::symlink_metadata(&self.path).is_ok_and(|found| identity(&found) == self.identity);
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

fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Locks the directory against concurrent servers until the file is dropped.
fn lock(directory: &Path) -> io::Result<fs::File> {
    const TIMEOUT: Duration = Duration::from_secs(2);
    let file = fs::File::open(directory).map_err(|error| explain(error, directory))?;
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let problem = format!("another process holds a lock on {}", directory.display());
                return Err(io::Error::new(io::ErrorKind::TimedOut, problem));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Removes the file of a dead server, and nothing else.
fn remove_dead(path: &Path) -> io::Result<()> {
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
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(|error| {
                let problem = format!(
                    "cannot remove {shown}, the socket of a dead server: {error}; check whether it \
                     belongs to another user"
                );
                io::Error::new(error.kind(), problem)
            })
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let problem = format!("{shown} is the socket of another user; choose another path");
            Err(io::Error::new(io::ErrorKind::PermissionDenied, problem))
        }
        Ok(()) | Err(_) => {
            let problem = format!("another server listens at {shown}; stop it or choose another path");
            Err(io::Error::new(io::ErrorKind::AddrInUse, problem))
        }
    }
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
