//! Finds the inspection socket of the ORB to show.

use std::{
    env, fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use punctual::Inspection;
use rustix::process::geteuid;

use super::ask::{Failed, ask};

/// The given socket, or that of the only inspected ORB (of the given process).
pub fn socket(given: Option<&Path>) -> Result<PathBuf, Failed> {
    let pid = given.and_then(|given| given.to_str()?.parse::<u32>().ok());
    if let (Some(socket), None) = (given, pid) {
        return Ok(socket.to_owned());
    }
    let mut found: Vec<PathBuf> = open_sockets();
    found.retain(|socket| pid.is_none_or(|pid| Inspection::process_of(socket) == Some(pid)));
    // Only the known folders; the next ORB in another folder removes the stale sockets there.
    let chosen = env::var_os(Inspection::ENVIRONMENT).map(PathBuf::from);
    for folder in chosen
        .into_iter()
        .chain([Inspection::default_folder(), env::temp_dir()])
    {
        Inspection::remove_stale_sockets(&folder);
    }
    let mut silent = None;
    found.retain(|socket| match ask(socket) {
        Ok(_) => true,
        Err(failed) => {
            // Another socket with such a name, or an ORB that cannot answer now.
            silent = Some(failed);
            false
        }
    });
    match (&found[..], silent) {
        ([socket], _) => Ok(socket.clone()),
        ([], Some(failed)) => Err(failed),
        ([], None) => Err(Failed::NotFound(nothing(pid))),
        (several, _) => Err(Failed::NotFound(which(several))),
    }
}

/// Sockets of this user named `….inspect` that a process has open, in any folder.
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

fn nothing(pid: Option<u32>) -> String {
    if let Some(pid) = pid {
        match fs::metadata(format!("/proc/{pid}")) {
            Err(_) => return format!("there is no process {pid}"),
            Ok(process) if process.uid() != geteuid().as_raw() => {
                let uid = process.uid();
                return format!(
                    "process {pid} belongs to the user with id {uid}, who alone may open its inspection socket; \
                     use `sudo punctual top SOCKET`"
                );
            }
            Ok(_) => {}
        }
    }
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
    let mut text = String::from("several ORBs were found; choose one:");
    for socket in several {
        let program = ask(socket).map_or_else(|_| "ended meanwhile".to_owned(), |orb| orb.program);
        text += &format!("\n    punctual top {}    ({program})", socket.display());
    }
    text
}
