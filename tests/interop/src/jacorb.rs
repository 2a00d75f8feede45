//! JacORB servers of `Peer`: built once from the jars that `cargo xtask test peers` downloads.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use punctual_fixtures::{Missing, skip};

use crate::process::{Server, make, works};

/// Where the classes are.
pub struct JacOrb {
    folder: PathBuf,
}

const JARS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/peers/jacorb");

impl JacOrb {
    /// Compiles the classes in a folder of `scratch` unless that has been done; records a skip without
    /// JacORB or a JDK.
    ///
    /// # Panics
    /// If they do not compile.
    pub fn build(scratch: &str) -> Option<&'static Self> {
        static BUILT: OnceLock<Result<JacOrb, String>> = OnceLock::new();
        match BUILT.get_or_init(|| build(&Path::new(scratch).join("jacorb"))) {
            Ok(built) => Some(built),
            Err(reason) => {
                skip(Missing::Peer, reason);
                None
            }
        }
    }

    /// Starts a server with these properties; with a target it passes all calls on to that `Peer`.
    pub fn server(&self, properties: &[(&str, &str)], target: Option<&str>) -> Server {
        self.start("classes", "Server", properties, target)
    }

    /// Like [`Self::server`], of an `Exchange`.
    pub fn exchange(&self, properties: &[(&str, &str)], target: Option<&str>) -> Server {
        self.start("classes", "DynamicsServer", properties, target)
    }

    /// Starts an interface repository, and a server of `Described::Mover` whose objects lead to it.
    pub fn described(&self) -> Server {
        let classes = self.folder.join("described");
        let classes = classes.to_str().expect("a path of text");
        self.start(
            "described",
            "DescribedServer",
            &[("described.classes", classes)],
            None,
        )
    }

    fn start(&self, classes: &str, class: &str, properties: &[(&str, &str)], target: Option<&str>) -> Server {
        let mut command = Command::new("java");
        // It lives for seconds.
        command.args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]);
        command
            .arg("-cp")
            .arg(format!("{}:{JARS}/*", self.folder.join(classes).display()));
        command.args(properties.iter().map(|(name, value)| format!("-D{name}={value}")));
        command.arg(class);
        if let Some(target) = target {
            command.args(["--proxy", target]);
        }
        Server::start(&self.folder, "jacorb-server", command)
    }
}

/// Fails where something is not installed.
fn build(folder: &Path) -> Result<JacOrb, String> {
    if !Path::new(JARS).join("jacorb-3.9.jar").exists() {
        return Err("JacORB is not there: cargo xtask test peers".to_owned());
    }
    if !(works("javac", &["-version"]) && works("make", &["--version"])) {
        return Err("no JDK, or no make: sudo apt-get install openjdk-17-jdk-headless make".to_owned());
    }
    make("jacorb", folder, &[("JARS", Path::new(JARS))]);
    Ok(JacOrb {
        folder: folder.to_owned(),
    })
}
