//! omniORBpy servers of `Peer`, with the package that `cargo xtask test peers` downloads.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use punctual_fixtures::{Missing, skip};

use crate::process::{Program, Server, make, works};

/// Where the stubs are.
pub struct OmniOrbPy {
    folder: PathBuf,
}

const PACKAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/peers/omniorbpy");

impl OmniOrbPy {
    /// Generates the stubs in a folder of `scratch` unless that has been done; records a skip without
    /// omniORBpy.
    ///
    /// # Panics
    /// If its compiler fails.
    pub fn build(scratch: &str) -> Option<&'static Self> {
        static BUILT: OnceLock<Result<OmniOrbPy, String>> = OnceLock::new();
        match BUILT.get_or_init(|| build(&Path::new(scratch).join("omniorbpy"))) {
            Ok(built) => Some(built),
            Err(reason) => {
                skip(Missing::Peer, reason);
                None
            }
        }
    }

    /// Starts a server with these options; with a target it passes all calls on to that `Peer`.
    pub fn server(&self, options: &[&str], target: Option<&str>) -> Server {
        self.start("server.py", options, target)
    }

    /// Like [`Self::server`], of an `Exchange`.
    pub fn exchange(&self, options: &[&str], target: Option<&str>) -> Server {
        self.start("dynamics.py", options, target)
    }

    /// Runs the client of a naming service, `corbaloc:` of its root, to its end. Returns its output.
    ///
    /// # Panics
    /// If one of its checks fails.
    pub fn naming(&self, service: &str) -> String {
        let mut command = self.script("naming.py");
        command.args(["-ORBInitRef", &format!("NameService={service}")]);
        Program::run(&self.folder, "omniorbpy-naming", command)
    }

    fn script(&self, script: &str) -> Command {
        let mut command = Command::new("python3");
        command.env("PYTHONPATH", format!("{PACKAGES}:{}", self.folder.display()));
        command.arg(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/omniorbpy")).join(script));
        command
    }

    fn start(&self, script: &str, options: &[&str], target: Option<&str>) -> Server {
        let mut command = self.script(script);
        command.args(options);
        if let Some(target) = target {
            command.args(["--proxy", target]);
        }
        Server::start(&self.folder, "omniorbpy-server", command)
    }
}

/// Fails where something is not installed.
fn build(folder: &Path) -> Result<OmniOrbPy, String> {
    let import = format!("import sys; sys.path.insert(0, {PACKAGES:?}); import omniORB.CORBA");
    if !works("python3", &["-c", &import]) {
        return Err("omniORBpy is not there: cargo xtask test peers".to_owned());
    }
    if !(works("cpp", &["--version"]) && works("make", &["--version"])) {
        return Err("no C preprocessor, or no make: sudo apt-get install cpp make".to_owned());
    }
    make("omniorbpy", folder, &[("PACKAGES", Path::new(PACKAGES))]);
    Ok(OmniOrbPy {
        folder: folder.to_owned(),
    })
}
