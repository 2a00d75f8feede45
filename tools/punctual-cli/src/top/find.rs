//! Finds the inspection socket of the ORB to show.

use std::{
    env, fs,
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
};

use punctual::Inspection;

use super::ask::{Failed, ask};

/// The given socket, or that of the only inspected ORB (of the process).
pub fn socket(given: Option<&Path>, pid: Option<u32>) -> Result<PathBuf, Failed> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    let folders = folders();
    let mut found: Vec<PathBuf> = folders.iter().flat_map(|folder| sockets(folder, pid)).collect();
    // Sockets of dead processes do not answer.
    found.retain(|socket| ask(socket).is_ok());
    match &found[..] {
        [socket] => Ok(socket.clone()),
        [] => Err(Failed::NotFound(nothing(&folders, pid))),
        several => Err(Failed::NotFound(which(several))),
    }
}

/// Folders in which ORBs create sockets by default.
fn folders() -> Vec<PathBuf> {
    let mut folders = vec![Inspection::default_folder()];
    let named = env::var_os(Inspection::ENVIRONMENT).filter(|folder| !folder.is_empty());
    folders.extend(named.map(PathBuf::from));
    folders.dedup();
    folders
}

/// Sockets named like those of ORBs, `PID.NUMBER.inspect`, of one process or of all.
fn sockets(folder: &Path, pid: Option<u32>) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut sockets: Vec<_> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket()))
        .map(|entry| entry.path())
        .filter(|path| process(path).is_some_and(|process| pid.is_none_or(|pid| pid == process)))
        .collect();
    sockets.sort();
    sockets
}

fn process(path: &Path) -> Option<u32> {
    let (process, number) = path
        .file_name()?
        .to_str()?
        .strip_suffix(".inspect")?
        .split_once('.')?;
    number.parse::<u32>().ok()?;
    process.parse().ok()
}

fn nothing(folders: &[PathBuf], pid: Option<u32>) -> String {
    let whose = pid.map_or_else(String::new, |pid| format!(" of process {pid}"));
    let folders: Vec<_> = folders
        .iter()
        .map(|folder| folder.display().to_string())
        .collect();
    format!(
        "no inspected ORB{whose}: no socket in {}\n\
         Inspection is off by default. Turn it on in the program:\n    \
         Orb::builder().inspection(Inspection::new())\n\
         or in the environment, for all ORBs of a program:\n    \
         {}={} my-program\n\
         Only the user of the ORB may open its socket; for another user, give the socket and use `sudo`.",
        folders.join(" or "),
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
