//! JacORB servers of `Peer`: built once from the jars that `cargo xtask test peers` downloads.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use punctual_fixtures::{Missing, skip};

use crate::{
    naming::NameServer,
    process::{Program, Server, make, works},
};

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

    /// Starts a `NameServer` with this folder for its data and this port of 127.0.0.1.
    ///
    /// # Panics
    /// If it does not start.
    pub fn name_server(&self, data: &Path, port: u16) -> NameServer {
        let ior = data.join("jacorb.ior");
        let mut command = self.java("classes");
        for (name, value) in [
            ("jacorb.naming.ior_filename", &*ior.to_string_lossy()),
            ("jacorb.naming.db_dir", &*data.to_string_lossy()),
            ("jacorb.implname", "StandardNS"),
            (
                "jacorb.orb.objectKeyMap.NameService",
                "StandardNS/NameServer-POA/_root",
            ),
            ("OAIAddr", "127.0.0.1"),
            ("OAPort", &*port.to_string()),
        ] {
            command.arg(format!("-D{name}={value}"));
        }
        command.arg("org.jacorb.naming.NameServer");
        NameServer::start(&self.folder, "jacorb-names", command, || ior.exists())
    }

    /// Runs the client of a naming service, `corbaloc:` of its root, to its end. Returns its output.
    ///
    /// # Panics
    /// If one of its checks fails.
    pub fn naming(&self, service: &str) -> String {
        let mut command = self.java("classes");
        command.arg(format!("-DORBInitRef.NameService={service}"));
        command.args(["NamingClient", service]);
        Program::run(&self.folder, "jacorb-naming", command)
    }

    /// The command with these classes, without the one to run.
    fn java(&self, classes: &str) -> Command {
        let mut command = Command::new("java");
        // It lives for seconds.
        command.args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]);
        command.arg("-Djavax.rmi.CORBA.UtilClass=RmiUtil");
        command
            .arg("-cp")
            .arg(format!("{}:{JARS}/*", self.folder.join(classes).display()));
        command
    }

    fn start(&self, classes: &str, class: &str, properties: &[(&str, &str)], target: Option<&str>) -> Server {
        let mut command = self.java(classes);
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
