use std::{
    env, fs,
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
};

use punctual::Inspection;

use super::ask::{Failed, ask};

/// The socket of the ORB that is meant.
pub fn socket(given: Option<&Path>, pid: Option<u32>) -> Result<PathBuf, Failed> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    let folders = folders();
    let mut found: Vec<PathBuf> = folders.iter().flat_map(|folder| sockets(folder, pid)).collect();
    // What dead processes left behind is nobody's.
    found.retain(|socket| ask(socket).is_ok());
    match &found[..] {
        [socket] => Ok(socket.clone()),
        [] => Err(Failed::NotFound(nothing(&folders, pid))),
        several => Err(Failed::NotFound(which(several))),
    }
}

/// Where ORBs make their sockets by themselves.
fn folders() -> Vec<PathBuf> {
    let mut folders = vec![Inspection::default_folder()];
    let named = env::var_os(Inspection::ENVIRONMENT).filter(|folder| !folder.is_empty());
    folders.extend(named.map(PathBuf::from));
    folders.dedup();
    folders
}

/// Those that are named as ORBs name them, `PID.NUMBER.inspect`, of this process or of all.
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
    let whose = pid.map_or_else(|| "no ORB".to_owned(), |pid| format!("no ORB of process {pid}"));
    let folders: Vec<_> = folders
        .iter()
        .map(|folder| folder.display().to_string())
        .collect();
    format!(
        "{whose} can be looked into: none has a socket in {}\n\
         An ORB lets look into itself where it is asked to, in the program:\n    \
         Orb::builder().inspection(Inspection::new())\n\
         or from outside, for every ORB of a program:\n    \
         {}={} my-program\n\
         The socket is its user's alone. Of another user's ORB, name the socket, and use `sudo`.",
        folders.join(" or "),
        Inspection::ENVIRONMENT,
        env::temp_dir().display()
    )
}

fn which(several: &[PathBuf]) -> String {
    let mut text = String::from("there are several ORBs; name one of their sockets:");
    for socket in several {
        let program = ask(socket).map_or_else(|_| "gone by now".to_owned(), |orb| orb.program);
        text += &format!("\n    punctual top {}    ({program})", socket.display());
    }
    text
}
