//! The program of the folder `omniorb`, which does on omniORB what some benchmarks compare: built once, from
//! sources that this program contains, where omniORB and the tools are installed.

use std::{
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
};

use crate::error::{Error, Missing};

/// All that it is built from.
const SOURCES: [(&str, &str); 7] = [
    ("Makefile", include_str!("../omniorb/Makefile")),
    ("main.cpp", include_str!("../omniorb/main.cpp")),
    ("programs.hh", include_str!("../omniorb/programs.hh")),
    ("folder.cpp", include_str!("../omniorb/folder.cpp")),
    ("calls.cpp", include_str!("../omniorb/calls.cpp")),
    ("image.idl", include_str!("../idl/image.idl")),
    ("load.idl", include_str!("../idl/load.idl")),
];

const PROGRAM: &str = "omniorb-peer";

/// Commands that succeed where omniORB, and each of the tools, is installed.
const NEEDED: [(&str, &[&str]); 3] = [
    ("omniidl", &["-V"]),
    ("make", &["--version"]),
    (
        "g++",
        &["-E", "-x", "c++", "-include", "omniORB4/CORBA.h", "/dev/null"],
    ),
];

/// Returns the path of the program, which is built unless it has been before.
///
/// # Errors
/// [`Missing`]: omniORB or a tool is not installed. Others: the program cannot be built.
pub(crate) fn provide() -> Result<PathBuf, Error> {
    build_in(&programs_of_peers()?)
}

/// Builds the program in a folder of `peers`, whose name changes with the sources.
pub(crate) fn build_in(peers: &Path) -> Result<PathBuf, Error> {
    let mut hasher = DefaultHasher::new();
    SOURCES.hash(&mut hasher);
    let finished = peers.join(format!("{PROGRAM}-{:016x}", hasher.finish()));
    let program = finished.join(PROGRAM);
    if program.exists() {
        return Ok(program);
    }
    if let Some(missing) = missing() {
        return Err(Missing(missing).into());
    }
    // Complete or not there: others may build it at the same time, or have been interrupted.
    let folder = peers.join(format!("{PROGRAM}-{}", process::id()));
    let _ = fs::remove_dir_all(&folder);
    let built = build(&folder).and_then(|()| Ok(fs::rename(&folder, &finished)?));
    if built.is_err() {
        let _ = fs::remove_dir_all(&folder);
    }
    match program.exists() {
        true => Ok(program),
        false => Err(built
            .err()
            .unwrap_or_else(|| format!("make has built no {PROGRAM}").into())),
    }
}

/// Whether something is not installed, and what to do.
pub(crate) fn missing() -> Option<String> {
    let works = |program, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output();
        output.is_ok_and(|output| output.status.success())
    };
    let (tool, _) = NEEDED
        .iter()
        .find(|(program, arguments)| !works(program, arguments))?;
    Some(format!(
        "omniORB or a tool is not installed (`{tool}` fails): sudo apt-get install libomniorb4-dev omniidl g++ make"
    ))
}

fn build(folder: &Path) -> Result<(), Error> {
    let failed = |error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    for (name, text) in SOURCES {
        fs::write(folder.join(name), text).map_err(failed)?;
    }
    let settings = [
        format!("BUILD={}", folder.display()),
        format!("IDL={}", folder.display()),
    ];
    let make = Command::new("make")
        .arg("-sf")
        .arg(folder.join("Makefile"))
        .args(settings)
        .stdin(Stdio::null())
        .output()?;
    match make.status.success() {
        true => Ok(()),
        false => {
            let output = String::from_utf8_lossy(&make.stderr);
            Err(format!("make of {PROGRAM}: {}: {output}", make.status).into())
        }
    }
}

/// Folder of programs on other ORBs: in cargo's folder, if this program is there, else in that of caches.
fn programs_of_peers() -> Result<PathBuf, Error> {
    let here = env::current_exe()?;
    let target = here
        .ancestors()
        .find(|folder| folder.join(".rustc_info.json").exists());
    if let Some(target) = target {
        return Ok(target.join("peers"));
    }
    let cache = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let cache = cache.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")));
    let cache = cache.ok_or("there is no folder for its program: set XDG_CACHE_HOME or HOME")?;
    Ok(cache.join("punctual"))
}
