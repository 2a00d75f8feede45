//! Punctual: the tasks of the repository, run as `cargo xtask TASK`.

mod command;
        ["cycles", ref packages @ ..] => cycles::run(packages),
