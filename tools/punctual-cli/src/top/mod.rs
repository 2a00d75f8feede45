//! `punctual top`: shows the lanes of a running ORB.

mod ask;
mod change;
mod columns;
mod find;
mod print;
mod screen;
mod snapshot;

use std::{
    io::{self, IsTerminal},
    path::PathBuf,
    process::ExitCode,
    thread,
    time::Duration,
};

use clap::Args;
use punctual_report::terminal::complain;
use punctual_system::signals::Termination;

use self::{ask::Failed, change::Change};

/// Settings of `top`.
#[derive(Args, Debug)]
pub struct Options {
    /// Process of the ORB, or its inspection socket; without it, the only inspected ORB is shown
    #[arg(value_name = "PID|SOCKET")]
    pub orb: Option<PathBuf>,
    /// Refresh interval in seconds
    #[arg(long, value_name = "S", default_value = "1", value_parser = interval)]
    pub interval: Duration,
    /// Print one table and exit, as without a terminal
    #[arg(long)]
    pub once: bool,
    /// Print one JSON object with all counters, including those of the interval, and exit
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> ExitCode {
    match show(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            complain(&failed);
            ExitCode::from(if matches!(failed, Failed::Gone(_)) { 1 } else { 2 })
        }
    }
}

fn show(options: &Options) -> Result<(), Failed> {
    let socket = find::socket(options.orb.as_deref())?;
    let first = ask::ask(&socket)?;
    if !options.once && !options.json && io::stdout().is_terminal() && io::stdin().is_terminal() {
        let termination = Termination::watch().map_err(Failed::terminal)?;
        return screen::run(&socket, first, options.interval, termination);
    }
    thread::sleep(options.interval);
    let now = ask::ask(&socket).map_err(|failed| failed.after(&first))?;
    let change = Change::between(&first, &now);
    if options.json {
        println!("{}", print::json(&now, &change));
    } else {
        print!("{}", print::table(&now, &change));
    }
    Ok(())
}

pub fn interval(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "expected a number of seconds, such as 0.5".to_owned())?;
    if (0.1..=60.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("expected 0.1 to 60 seconds".to_owned())
    }
}

#[cfg(test)]
mod tests;
