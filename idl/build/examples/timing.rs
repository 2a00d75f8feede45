//! How long IDL files take to be checked, and to be compiled: the median of several runs, from the files to
//! the text of the generated code.
//!
//! `cargo run --release -p punctual-build --example timing -- [-I FOLDER] FILE...`

use std::{
    env,
    error::Error,
    time::{Duration, Instant},
};

use punctual_build::configure;
use punctual_idl::{FileLoader, Options};

const RUNS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut options = Options::default();
    let mut builder = configure();
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "-I" {
            let folder = arguments.next().ok_or("-I needs a folder")?;
            options.include_dirs.push(folder.clone().into());
            builder = builder.include_dir(folder);
            continue;
        }
        let compiled = builder.generate(&argument)?;
        let lines: usize = compiled.files.iter().map(|file| file.text.lines().count()).sum();
        let checked = median(|| drop(punctual_idl::compile(&argument, &options, &FileLoader::new())));
        let generated = median(|| drop(builder.generate(&argument)));
        println!(
            "{argument}: {lines} lines of IDL checked in {checked:.1?}, compiled to {} lines in {generated:.1?}",
            compiled.rust.lines().count()
        );
    }
    Ok(())
}

fn median(run: impl Fn()) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[RUNS / 2]
}
