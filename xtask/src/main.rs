//! Punctual: the tasks of the repository, run as `cargo xtask TASK`.

mod command;
mod cycles;
mod dist;
mod examples;
mod gallery;
mod interop;
mod layers;
mod licences;
mod limit;
mod metadata;
mod nightly;
mod peers;
mod rules;
mod skips;
mod test;
mod workspace_tests;

use std::{env, process::ExitCode};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test", ref steps @ ..] => return test::run(steps),
        ["cycles", ref packages @ ..] => cycles::run(packages),
        ["dist"] => dist::run(),
        ["gallery", ref arguments @ ..] => gallery::run(arguments),
        ["interop"] => interop::run(),
        ["nightly"] => nightly::run(),
        ["limit", seconds, ref program @ ..] => match limit::run(seconds, program) {
            Ok(code) => return code,
            Err(text) => Err(text),
        },
        [] | ["help" | "--help" | "-h"] => {
            println!("{}", usage());
            Ok(())
        }
        [task, ..] => Err(format!("there is no task `{task}`\n\n{}", usage())),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("\nerror: {text}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    let mut text = String::from(
        "cargo xtask cycles [PACKAGE...]   import cycles, with the imports that form them\n\
         cargo xtask dist                  a static binary with all that belongs to it, in an archive\n\
         cargo xtask gallery               draws the README's figure from a demo run, or --from FILE.json;\n\
                                           --findings FOLDER copies pictures of qualify --figures\n\
         cargo xtask interop               tables of docs/interoperability.md, from the last tests\n\
         cargo xtask limit SECONDS PROGRAM [ARGUMENT...]  a program that ends when its time is up\n\
         cargo xtask nightly               what takes hours: controls of qualify, bounds of plan,\n\
                                           instructions of optimised builds\n\
         cargo xtask test                  all checks and tests that a change has to pass\n\
         cargo xtask test STEP...          these steps only:\n",
    );
    for step in test::STEPS {
        text.push_str(&format!("\n  {:<9} {}", step.name, step.what));
    }
    text
}
