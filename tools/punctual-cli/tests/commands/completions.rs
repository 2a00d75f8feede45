//! `punctual completions` and `punctual man`: shells and `man` accept what they print.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use punctual_fixtures::{Missing, skip};

use crate::command::run;

#[test]
fn each_shell_gets_a_script_with_all_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(["completions", shell]);
        assert_eq!(script.code, 0, "{shell}: {}", script.complained);
        for word in ["doctor", "explain-over", "cubit", "completions"] {
            assert!(script.said.contains(word), "{shell} does not know `{word}`");
        }
    }
    assert_eq!(run(["completions", "ksh"]).code, 2);
}

/// Bash completes as it would for a user.
#[test]
fn bash_completes_commands_and_benchmarks() {
    let script = run(["completions", "bash"]).said;
    let ask = r#"
        complete_words() {
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            _punctual punctual "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            echo "${COMPREPLY[@]}"
        }
        complete_words punctual doc
        complete_words punctual bench cub
    "#;
    let mut bash = Command::new("bash");
    let Ok(mut bash) = bash.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
        return skip(Missing::Peer, "bash is not installed");
    };
    let mut input = bash.stdin.take().unwrap();
    input.write_all((script + ask).as_bytes()).unwrap();
    drop(input);
    let output = bash.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "doctor\ncubit\n");
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("man");
    let _ = fs::remove_dir_all(&folder);
    let written = run(["man", "--out-dir", folder.to_str().unwrap()]);
    assert_eq!(written.code, 0, "{}", written.complained);
    for (page, words) in [
        ("punctual.1", &["doctor", "completions"][..]),
        ("punctual-bench.1", &["explain", "exit code", "cubit"]),
        ("punctual-idl-compile.1", &["runtime", "exit code"]),
    ] {
        let text = fs::read_to_string(folder.join(page)).unwrap();
        assert!(
            text.contains(".TH ") && text.contains(".SH NAME"),
            "{page}: {text}"
        );
        for word in words {
            assert!(text.to_lowercase().contains(word), "{page}: {word}");
        }
    }
    assert_eq!(
        fs::read_to_string(folder.join("punctual.1")).unwrap(),
        run(["man"]).said
    );
    assert_eq!(run(["man", "--out-dir", "/dev/null/man"]).code, 2);
}
