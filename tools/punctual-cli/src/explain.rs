//! `punctual explain`: the meaning of a minor code of a system exception, or of a diagnostic of IDL, and
//! advice.

use std::process::ExitCode;

use clap::Args;
use punctual::{Minor, SystemExceptionKind};
use punctual_idl::{Code, did_you_mean};
use punctual_report::terminal::{complain, fitted};

/// Settings of `punctual explain`.
#[derive(Debug, Args)]
pub struct Options {
    /// Number, as in `minor Punctual 17`, one of the OMG (`OMG 4`), the whole code (`0x50554011`), a name
    /// (`TRANSIENT`), a message that contains one, or codes of IDL diagnostics (`IDL0044`); default: all
    /// minor codes
    #[arg(value_name = "CODE")]
    pub code: Vec<String>,
}

/// Runs the command.
pub fn run(options: &Options) -> ExitCode {
    let codes: Vec<String> = options
        .code
        .iter()
        .map(|code| code.to_ascii_uppercase())
        .collect();
    if codes.first().is_some_and(|code| code.starts_with("IDL")) {
        return of_idl(&codes);
    }
    // A message, or a code of two words, may be one argument or several.
    let explanations = match explained(&options.code.join(" ")) {
        Err(_) if options.code.len() > 1 => separate(&options.code)
            .iter()
            .map(|code| explained(code))
            .collect(),
        explanation => vec![explanation],
    };
    let mut code = ExitCode::SUCCESS;
    for explanation in explanations {
        match explanation {
            Ok(lines) => lines.iter().for_each(|line| println!("{}", fitted(line))),
            Err(unknown) => {
                complain(&unknown);
                code = ExitCode::from(2);
            }
        }
    }
    code
}

/// Returns the codes of several arguments, of which a vendor's name and its number are two.
fn separate(words: &[String]) -> Vec<String> {
    let mut codes: Vec<String> = Vec::new();
    for word in words {
        match codes.last_mut().filter(|code| is_vendor(code)) {
            Some(vendor) => *vendor = format!("{vendor} {word}"),
            None => codes.push(word.clone()),
        }
    }
    codes
}

/// Vendors of minor codes as they are printed, in upper case.
const VENDORS: [&str; 2] = ["PUNCTUAL", "OMG"];

fn is_vendor(word: &str) -> bool {
    VENDORS.iter().any(|vendor| vendor.eq_ignore_ascii_case(word))
}

/// Returns a line for each minor code that is meant.
///
/// # Errors
/// A text for the user: there is none.
fn explained(asked: &str) -> Result<Vec<String>, String> {
    let asked = code_in(asked).unwrap_or_else(|| asked.to_owned());
    let own = Minor::OWN.iter().map(|minor| {
        let kind = minor.kind().map_or("", |kind| kind.name());
        (kind, *minor, minor.text().unwrap_or_default())
    });
    let of_omg = Minor::OMG
        .iter()
        .map(|(kind, minor, text)| (kind.name(), *minor, *text));
    let meant = own
        .chain(of_omg)
        .filter(|(kind, minor, _)| is_meant(&asked, kind, *minor));
    let lines: Vec<String> = meant
        .map(|(kind, minor, text)| format!("{minor} ({:#x}, CORBA::{kind}): {text}", minor.0))
        .collect();
    if lines.is_empty() {
        let kinds = SystemExceptionKind::ALL.iter().map(|kind| kind.name());
        let help = did_you_mean(asked.trim_start_matches("CORBA::"), kinds).unwrap_or_else(|| {
            "it may be a number, such as 17 or `Punctual 17`, one of the OMG, such as `OMG 4`, a whole code, such as \
             0x50554011, an exception, such as TRANSIENT, or a diagnostic of IDL, such as IDL0044; \
             `punctual explain` lists all minor codes"
                .to_owned()
        });
        return Err(format!(
            "`{asked}` is none of the minor codes that Punctual raises; {help}"
        ));
    }
    Ok(lines)
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

/// The minor code in the text of an exception, such as
/// `CORBA::TRANSIENT (minor Punctual 17, not completed): …`.
fn code_in(message: &str) -> Option<String> {
    let (_, code) = message.split_once("minor ")?;
    let code = code.split([',', ')']).next()?;
    Some(code.to_owned())
}

/// Returns whether the argument denotes a code. A number alone is one of Punctual's.
fn is_meant(asked: &str, kind: &str, minor: Minor) -> bool {
    let asked = asked.trim().to_ascii_uppercase();
    let vendor = VENDORS.into_iter().find(|vendor| asked.starts_with(vendor));
    let text = asked.trim_start_matches(vendor.unwrap_or_default()).trim();
    let number = match text.strip_prefix("0X") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let is_own = Minor::OWN.contains(&minor);
    let is_of_vendor = vendor.is_none_or(|vendor| (vendor == "PUNCTUAL") == is_own);
    let is_in_vendor = number == Some(minor.0 & 0xfff) && (is_own || vendor.is_some());
    is_of_vendor && (text.is_empty() || number == Some(minor.0) || is_in_vendor)
        || asked.trim_start_matches("CORBA::") == kind
}
