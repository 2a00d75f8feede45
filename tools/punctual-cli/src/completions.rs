//! `punctual completions` and `punctual man`: descriptions of this program for shells and `man`.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

/// Settings of `punctual completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// Shell whose script is printed
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Settings of `punctual man`.
#[derive(Debug, Args)]
pub struct Manual {
    /// Write the pages of all commands into this folder, which is created if necessary; without it, the page
    /// of `punctual` is printed
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
}

/// Prints a script for shell completion of commands, options, benchmarks and files.
pub fn complete(mut command: Command, options: &Completions) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut command, "punctual", &mut script);
    print!("{}", String::from_utf8_lossy(&script));
    ExitCode::SUCCESS
}

/// Prints the manual page, or writes the pages of all commands.
pub fn manual(command: Command, options: &Manual) -> ExitCode {
    let command = command.disable_help_subcommand(true);
    let written = match &options.out_dir {
        None => page(command).map(|page| print!("{page}")),
        Some(folder) => fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder)),
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let place = options.out_dir.as_deref().unwrap_or(Path::new("standard output"));
            eprintln!(
                "error: manual pages cannot be written to {}: {error}",
                place.display()
            );
            ExitCode::from(2)
        }
    }
}

fn page(mut command: Command) -> io::Result<String> {
    command.build();
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
