//! `punctual naming list`.

use clap::Args;
use punctual::{
    Interface,
    naming::{Name, NameComponent},
};
use punctual_naming::{NamingContext, NamingError};
use punctual_report::terminal::printable;
use serde_json::{Value, json};

use super::{
    Failed,
    client::{At, name},
};

pub const HELP: &str = "\
Examples:
  punctual naming list
  punctual naming list radar --recursive
  punctual naming list --at corbaname::other:2809#radar --json
  punctual naming list --at corbaloc:rir:/NameService     from PUNCTUAL_INITIAL_REFERENCES

A context has a `/` after its name. Names are printed as they are written on the command line and in URLs \
(there with %xx for `\\` and other characters); with --recursive, they begin at the listed context.

Exit code: 0 the names are printed; 1 there is no such context; 2 the command line is wrong: the name or the \
address; 3 a naming service cannot be reached, or one below it (the others are printed).";

/// Settings of `naming list`.
#[derive(Args, Debug)]
pub struct Options {
    /// Name of the context; default: the context of --at
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Also list the contexts below, each once
    #[arg(long, short)]
    recursive: bool,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    /// End after this number of names
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000)]
    most: usize,
    #[command(flatten)]
    at: At,
}

pub fn run(options: &Options) -> Result<(), Failed> {
    let below = options.name.as_deref().map(name).transpose()?;
    let orb = options.at.orb()?;
    let mut start = options.at.find(&orb)?;
    if let Some(name) = below {
        start = start.context(&name)?;
    }
    let mut listed = Listed {
        options,
        seen: vec![start.clone()],
        rows: Vec::new(),
        problem: None,
    };
    listed.add(&start, &[])?;
    if options.json {
        println!("{:#}", Value::Array(listed.rows));
    }
    listed.problem.map_or(Ok(()), Err)
}

struct Listed<'o> {
    options: &'o Options,
    /// Contexts that have been listed: they may form circles.
    seen: Vec<NamingContext>,
    rows: Vec<Value>,
    /// Why a context below could not be listed.
    problem: Option<Failed>,
}

/// Depth of contexts.
const DEEPEST: usize = 64;

impl Listed<'_> {
    /// Lists a context, whose name is `path`.
    fn add(&mut self, context: &NamingContext, path: &[NameComponent]) -> Result<(), NamingError> {
        for bound in context.list_here()? {
            if self.rows.len() >= self.options.most {
                return Ok(());
            }
            let bound = bound?;
            let mut path = path.to_vec();
            path.push(bound.component.clone());
            let name =
                Name::new(path.iter().cloned()).map_err(|error| NamingError::Name(String::new(), error))?;
            self.show(&name, bound.is_context);
            if bound.is_context && self.options.recursive && path.len() < DEEPEST {
                let below = context
                    .context(Name::from(bound.component))
                    .and_then(|below| self.add_once(below, &path));
                if let Err(error) = below {
                    let problem = format!("`{name}` cannot be listed: {error}");
                    self.problem.get_or_insert(Failed::Unreachable(problem));
                }
            }
        }
        Ok(())
    }

    fn add_once(&mut self, context: NamingContext, path: &[NameComponent]) -> Result<(), NamingError> {
        let object = context.reference().as_object();
        let is_same = |other: &NamingContext| other.reference().as_object().is_equivalent(object);
        if self.seen.iter().any(is_same) {
            return Ok(());
        }
        self.seen.push(context.clone());
        self.add(&context, path)
    }

    fn show(&mut self, name: &Name, is_context: bool) {
        let last = name.components().last().cloned().unwrap_or_default();
        let row = json!({"name": name.to_string(), "id": last.id, "kind": last.kind, "context": is_context});
        self.rows.push(row);
        if !self.options.json {
            let mark = if is_context { "/" } else { "" };
            println!("{}{mark}", printable(&name.to_string()));
        }
    }
}
