//! Finds the inspection socket of the ORB to show.

use std::{
    env, fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use punctual::Inspection;
use rustix::process::geteuid;

use super::ask::{Failed, ask};

/// The given socket, or that of the only inspected ORB (of the process).
pub fn socket(given: Option<&Path>, pid: Option<u32>) -> Result<PathBuf, Failed> {
    if let Some(given) = given {
        let number = given.to_str().and_then(|given| given.parse::<u32>().ok());
        if let Some(pid) = number.filter(|_| !given.exists()) {
            return Err(Failed::NotFound(format!(
                "there is no socket `{pid}`; did you mean the process: `punctual top --pid {pid}`?"
            )));
        }
        return Ok(given.to_owned());
    }
    let mut found: Vec<PathBuf> = open_sockets();
    found.retain(|socket| pid.is_none_or(|pid| process(socket) == Some(pid)));
    remove_stale(&Inspection::default_folder());
    // What else is named like that does not answer.
    found.retain(|socket| ask(socket).is_ok());
    match &found[..] {
        [socket] => Ok(socket.clone()),
        [] => Err(Failed::NotFound(nothing(pid))),
        several => Err(Failed::NotFound(which(several))),
    }
}

/// Sockets of this user named `….inspect` that a process has open, in whatever folder.
fn open_sockets() -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    // Num RefCount Protocol Flags Type St Inode Path; accepted connections name the path again.
    let paths = table
        .lines()
        .filter_map(|line| line.find('/').map(|start| &line[start..]));
    let mut sockets: Vec<_> = paths
        .filter(|path| path.ends_with(".inspect"))
        .map(PathBuf::from)
        .filter(|path| fs::symlink_metadata(path).is_ok_and(|file| file.uid() == geteuid().as_raw()))
        .collect();
    sockets.sort();
    sockets.dedup();
    sockets
}

/// Removes the sockets of processes that were killed.
fn remove_stale(folder: &Path) {
    for socket in fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
    {
        let is_dead = |process: u32| !Path::new(&format!("/proc/{process}")).exists();
        if process(&socket).is_some_and(is_dead) {
            // Another `top` may have removed it.
            let _ = fs::remove_file(&socket);
        }
    }
}

/// The process in a name like `PID.NUMBER.inspect`.
fn process(path: &Path) -> Option<u32> {
    let (process, number) = path
        .file_name()?
        .to_str()?
        .strip_suffix(".inspect")?
        .split_once('.')?;
    number.parse::<u32>().ok()?;
    process.parse().ok()
}

fn nothing(pid: Option<u32>) -> String {
    let whose = pid.map_or_else(String::new, |pid| format!(" of process {pid}"));
    format!(
        "no inspected ORB{whose}: this user has no open socket named `….inspect`\n\
         Inspection is off by default. Turn it on in the program:\n    \
         Orb::builder().inspection(Inspection::new())\n\
         or in the environment, for all ORBs of a program:\n    \
         {}={} my-program\n\
         Only the user of the ORB may open its socket; for another user, give the socket and use `sudo`.",
        Inspection::ENVIRONMENT,
        env::temp_dir().display()
    )
}

fn which(several: &[PathBuf]) -> String {
    let mut text = String::from("several ORBs were found; give the socket of one:");
    for socket in several {
        let program = ask(socket).map_or_else(|_| "ended meanwhile".to_owned(), |orb| orb.program);
        text += &format!("\n    punctual top {}    ({program})", socket.display());
    }
    text
}
