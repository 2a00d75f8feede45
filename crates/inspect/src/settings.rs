//! Settings of inspection.

use std::{
    env, fs,
    io::{self, ErrorKind},
    net::SocketAddr,
    os::unix::{
        fs::{DirBuilderExt, FileTypeExt, MetadataExt},
        net::UnixStream,
    },
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use punctual_os::CpuSet;

use crate::InspectError;

/// Settings of inspection. Inspection is off by default.
///
/// `OrbBuilder::inspection` has an example of the requests.
///
/// ```
/// # use punctual_inspect as punctual;
/// use punctual::Inspection;
///
/// // A socket that inspection chooses names the process.
/// let socket = Inspection::default_folder().join("4711.0.inspect");
/// assert_eq!(Inspection::process_of(&socket), Some(4711));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Inspection {
    /// Path of the socket; `None`: a new one in the default folder.
    socket: Option<PathBuf>,
    metrics: Option<String>,
    pub(crate) affinity: Option<CpuSet>,
}

/// Addresses at which an ORB is inspected.
///
/// ```
/// # use punctual_inspect as punctual;
/// use punctual::InspectedAt;
///
/// /// The command that prints the metrics.
/// fn command(at: &InspectedAt) -> String {
///     match at.metrics {
///         Some(address) => format!("curl http://{address}/metrics"),
///         None => format!("curl --unix-socket {} http://localhost/metrics", at.socket.display()),
///     }
/// }
/// let at = InspectedAt { socket: "/run/radar.inspect".into(), metrics: None };
/// assert_eq!(command(&at), "curl --unix-socket /run/radar.inspect http://localhost/metrics");
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InspectedAt {
    /// Unix domain socket that only this user can connect to. It answers each line `snapshot` with a line of
    /// JSON, and
    /// `GET /metrics` in the same way as over TCP.
    pub socket: PathBuf,
    /// TCP address that answers `GET /metrics` over HTTP, in Prometheus' text format. Every user of this host
    /// can connect.
    pub metrics: Option<SocketAddr>,
}

impl Inspection {
    /// Environment variable that names a folder and thereby enables inspection for ORBs whose builders do
    /// not: each creates a socket in it.
    pub const ENVIRONMENT: &str = "PUNCTUAL_INSPECTION";

    /// Creates a new socket in [`Self::default_folder`], where `punctual top` finds it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a socket at this path, of at most 107 octets, in a folder that exists.
    pub fn at(socket: impl Into<PathBuf>) -> Self {
        Self {
            socket: Some(socket.into()),
            ..Self::default()
        }
    }

    /// Serves Prometheus over TCP, too, at an address of the loopback network; port 0 selects a free port.
    /// Default: no.
    ///
    /// Every user of this host can read it, and perhaps others through a web browser: counts and times, no
    /// data.
    pub fn metrics_at(mut self, address: &str) -> Self {
        self.metrics = Some(address.to_owned());
        self
    }

    /// CPUs that the inspection thread may run on. Default: those of the thread that builds the ORB.
    pub fn affinity(mut self, cpus: CpuSet) -> Self {
        self.affinity = Some(cpus);
        self
    }

    /// Folder of sockets without a path: `$XDG_RUNTIME_DIR/punctual`, or without that variable `punctual-UID`
    /// in the folder for temporary files. It belongs to this user, and no other user can read it.
    pub fn default_folder() -> PathBuf {
        match env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty()) {
            Some(folder) => PathBuf::from(folder).join("punctual"),
            None => env::temp_dir().join(format!("punctual-{}", own_uid())),
        }
    }

    /// Process of the ORB with a socket of this name, if it is one that inspection chooses:
    /// `PID.NUMBER.inspect`.
    pub fn process_of(socket: &Path) -> Option<u32> {
        let name = socket.file_name()?.to_str()?.strip_suffix(".inspect")?;
        let (process, number) = name.split_once('.')?;
        number.parse::<u32>().ok()?;
        process.parse().ok()
    }

    /// Removes from a folder the sockets that killed processes have left there: those with such a name whose
    /// process does not exist, and at which no process listens. Sockets of other users remain.
    pub fn remove_stale_sockets(folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let socket = entry.path();
            let is_refused = |error: io::Error| error.kind() == ErrorKind::ConnectionRefused;
            let is_dead = |process: u32| !Path::new(&format!("/proc/{process}")).exists();
            if Self::process_of(&socket).is_some_and(is_dead)
                && entry.file_type().is_ok_and(|kind| kind.is_socket())
                // A process in a container has another id here.
                && UnixStream::connect(&socket).is_err_and(is_refused)
            {
                // Another process may have removed it.
                let _ = fs::remove_file(&socket);
            }
        }
    }

    /// Settings that the environment requests; `None` if the variable is not set, or empty.
    ///
    /// # Errors
    /// [`InspectError`] if the value is a relative path: `punctual top` would search another folder for it.
    pub fn from_environment() -> Option<Result<Self, InspectError>> {
        let folder = env::var_os(Self::ENVIRONMENT).filter(|folder| !folder.is_empty())?;
        Some(Self::in_folder(Path::new(&folder)))
    }

    fn in_folder(folder: &Path) -> Result<Self, InspectError> {
        if folder.is_absolute() {
            return Ok(Self::at(new_name_in(folder)));
        }
        let problem = "has to be the absolute path of a folder, such as /tmp";
        Err(InspectError {
            address: format!("{}={}", Self::ENVIRONMENT, folder.display()),
            source: io::Error::new(ErrorKind::InvalidInput, problem),
        })
    }

    /// Path of the socket, whose folder exists.
    pub(crate) fn socket(&self) -> io::Result<PathBuf> {
        if let Some(socket) = &self.socket {
            return Ok(socket.clone());
        }
        let folder = Self::default_folder();
        make_own(&folder)?;
        Ok(new_name_in(&folder))
    }

    /// Address at which Prometheus is served.
    pub(crate) fn metrics(&self) -> Option<io::Result<SocketAddr>> {
        let text = self.metrics.as_deref()?;
        let wrong = |problem: &str| Err(io::Error::new(ErrorKind::InvalidInput, problem));
        Some(match text.parse::<SocketAddr>() {
            Err(_) => wrong("not an address; write `127.0.0.1:PORT` or `[::1]:PORT`"),
            Ok(address) if !address.ip().is_loopback() => wrong(
                "other hosts could connect; write `127.0.0.1:PORT`, and let a proxy that knows its callers serve others",
            ),
            Ok(address) => Ok(address),
        })
    }

    pub(crate) fn metrics_text(&self) -> &str {
        self.metrics.as_deref().unwrap_or_default()
    }
}

/// Returns a name for a socket; sockets that killed processes have left in the folder are removed.
fn new_name_in(folder: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    Inspection::remove_stale_sockets(folder);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    folder.join(format!("{}.{number}.inspect", std::process::id()))
}

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Creates a folder that only this user can read; an existing one must have these permissions.
fn make_own(folder: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // Not the target of a link: any user may put one into the folder for temporary files.
    let found = fs::symlink_metadata(folder)?;
    if found.is_dir() && found.uid() == own_uid() && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    let problem = format!(
        "{} is not a folder of this user's alone; remove it, or choose the socket's path with `Inspection::at`",
        folder.display()
    );
    Err(io::Error::new(ErrorKind::PermissionDenied, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_of_ones_own_will_do() {
        let base = env::temp_dir().join(format!("punctual-settings-{}", std::process::id()));
        fs::create_dir(&base).unwrap();
        let own = base.join("own");
        make_own(&own).unwrap();
        assert_eq!(fs::metadata(&own).unwrap().mode() & 0o777, 0o700);
        make_own(&own).unwrap();
        let link = base.join("link");
        std::os::unix::fs::symlink(&own, &link).unwrap();
        assert_eq!(make_own(&link).unwrap_err().kind(), ErrorKind::PermissionDenied);
        let shared = base.join("shared");
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        assert!(
            make_own(&shared)
                .unwrap_err()
                .to_string()
                .contains("Inspection::at")
        );
        fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn sockets_of_dead_processes_are_removed_and_nothing_else() {
        let folder = env::temp_dir().join(format!("punctual-stale-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let bind = |name: &str| drop(std::os::unix::net::UnixListener::bind(folder.join(name)).unwrap());
        // No process has an id above 4,194,304 (PID_MAX_LIMIT).
        bind("4194305.0.inspect");
        bind(&format!("{}.77.inspect", std::process::id()));
        bind("radar.inspect");
        // As that of a process of a container, which has another id here.
        let listening = folder.join("4194305.2.inspect");
        let _listener = std::os::unix::net::UnixListener::bind(&listening).unwrap();
        fs::write(folder.join("4194305.1.inspect"), "a file").unwrap();
        new_name_in(&folder);
        let mut left: Vec<_> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        left.sort();
        let own = format!("{}.77.inspect", std::process::id());
        let mut expected = ["4194305.1.inspect", "4194305.2.inspect", &own, "radar.inspect"];
        expected.sort();
        assert_eq!(left, expected);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn folders_of_the_environment_are_absolute() {
        for wrong in ["", "xdg", "./xdg"] {
            let error = Inspection::in_folder(Path::new(wrong)).unwrap_err().to_string();
            assert!(error.contains("absolute path"), "{error}");
        }
        let socket = Inspection::in_folder(Path::new("/nowhere")).unwrap().socket;
        assert!(socket.unwrap().starts_with("/nowhere"));
    }

    #[test]
    fn metrics_stay_on_this_host() {
        let metrics = |address: &str| Inspection::new().metrics_at(address).metrics().unwrap();
        assert!(metrics("127.0.0.1:9464").is_ok() && metrics("[::1]:0").is_ok());
        for wrong in ["0.0.0.0:9464", "192.0.2.1:1", "localhost", "9464", ""] {
            assert_eq!(
                metrics(wrong).unwrap_err().kind(),
                ErrorKind::InvalidInput,
                "{wrong}"
            );
        }
    }
}
