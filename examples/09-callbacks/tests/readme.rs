//! Runs the commands of the README and compares their output with the README's.

#[path = "../../01-hello/tests/terminal/mod.rs"]
mod terminal;

#[test]
fn commands_of_the_readme_print_its_output() {
    terminal::serves_and_answers(include_str!("../README.md"));
}
