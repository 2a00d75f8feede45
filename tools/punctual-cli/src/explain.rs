//! `punctual explain`: the meaning of a minor code of a system exception, or of a diagnostic of IDL, and
//! advice.

use std::process::ExitCode;

use clap::Args;
use punctual::Minor;
use punctual_idl::Code;
use punctual_report::terminal::{complain, fitted};

/// Settings of `punctual explain`.
#[derive(Debug, Args)]
pub struct Options {
    /// Number, as in `minor Punctual 17`, the whole code (`0x50554011`), a name (`TRANSIENT`), or codes of
    /// IDL diagnostics (`IDL0044`); default: all minor codes
    #[arg(value_name = "CODE")]
    pub code: Vec<String>,
}

/// Runs the command.
pub fn run(options: &Options) -> ExitCode {
    if options.code.first().is_some_and(|code| code.starts_with("IDL")) {
        return of_idl(&options.code);
    }
    let asked = options.code.join(" ");
    let found: Vec<_> = Minor::OWN
        .iter()
        .filter(|minor| is_meant(&asked, **minor))
        .collect();
    if found.is_empty() {
        complain(&format_args!(
            "`{asked}` is none of Punctual's minor codes; `punctual explain` lists them"
        ));
        return ExitCode::from(2);
    }
    for minor in found {
        let kind = minor.kind().map_or("", |kind| kind.name());
        let text = minor.text().unwrap_or_default();
        let line = format!("{minor} ({:#x}, CORBA::{kind}): {text}", minor.0);
        println!("{}", fitted(&line));
    }
    ExitCode::SUCCESS
}

/// Prints the meaning of these diagnostic codes, or of all.
pub fn of_idl(codes: &[String]) -> ExitCode {
    let wanted: Result<Vec<Code>, _> = codes.iter().map(|code| code.parse()).collect();
    let wanted = match wanted {
        Ok(wanted) => wanted,
        Err(unknown) => {
            complain(&unknown);
            return ExitCode::from(2);
        }
    };
    for code in Code::ALL {
        if wanted.is_empty() || wanted.contains(code) {
            let severity = code.severity();
            let lenient = if code.can_be_warning() {
                ", or a warning with --warn"
            } else {
                ""
            };
            println!("{code} ({severity}{lenient}): {}", code.meaning());
            let example = code.example().filter(|_| !wanted.is_empty());
            for line in example.into_iter().flat_map(str::lines) {
                println!("    {line}");
            }
        }
    }
    ExitCode::SUCCESS
}

fn is_meant(asked: &str, minor: Minor) -> bool {
    let own = asked
        .trim_start_matches("minor ")
        .trim_start_matches("Punctual ")
        .trim();
    let number = match own.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => own.parse().ok(),
    };
    let kind = own.to_ascii_uppercase();
    let kind = kind.trim_start_matches("CORBA::");
    own.is_empty()
        || number == Some(minor.0)
        || number == Some(minor.0 & 0xfff)
        || minor.kind().is_some_and(|its| its.name() == kind)
}
