//! `punctual naming list`.

use std::collections::HashMap;

use clap::Args;
use punctual::{
    Interface, ObjectRef,
    naming::{Name, NameComponent},
};
use punctual_naming::{Listing, NamingContext, NamingError};
use punctual_report::terminal::printable;
use serde_json::{Value, json};

use super::{
    Failed,
    client::{At, existing, name},
    is_gone,
};

pub const HELP: &str = "\
Examples:
  punctual naming list
  punctual naming list radar --recursive
  punctual naming list --at corbaname::other:2809#radar --json
  punctual naming list --at corbaloc:rir:/NameService     from PUNCTUAL_INITIAL_REFERENCES

A context has a `/` after its name. Names are printed as they are written on the command line and in URLs \
(there with %xx for `\\` and other characters); with --recursive, they begin at the listed context, and \
contexts that no longer exist are marked; `punctual naming unbind` makes their names free.

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
    let gone = |name: &Name| {
        let text = "no longer exists; `punctual naming unbind";
        Failed::Refused(format!("the context `{name}` {text} {name}` makes its name free"))
    };
    if let Some(name) = &below {
        start = existing(&start, name)?.ok_or_else(|| gone(name))?;
    }
    let bindings = start.list_here().map_err(|error| match &below {
        Some(name) if is_gone(&error) => gone(name),
        _ => error.into(),
    })?;
    let mut listed = Listed {
        options,
        seen: HashMap::new(),
        rows: Vec::new(),
        problem: None,
    };
    listed.is_new(&start);
    let added = listed.add(&start, bindings, &[]);
    if options.json {
        // Those that were fetched before an error, too.
        println!("{:#}", Value::Array(listed.rows));
    }
    added?;
    listed.problem.map_or(Ok(()), Err)
}

struct Listed<'o> {
    options: &'o Options,
    /// Contexts that have been listed, by their hash: they may form circles.
    seen: HashMap<u32, Vec<ObjectRef>>,
    rows: Vec<Value>,
    /// Why a context below could not be listed.
    problem: Option<Failed>,
}

/// Depth of contexts.
const DEEPEST: usize = 64;

impl Listed<'_> {
    /// Shows the bindings of a context, whose name is `path`.
    fn add(
        &mut self,
        context: &NamingContext,
        bindings: Listing,
        path: &[NameComponent],
    ) -> Result<(), NamingError> {
        for bound in bindings {
            if self.rows.len() >= self.options.most {
                return Ok(());
            }
            let bound = bound?;
            let mut path = path.to_vec();
            path.push(bound.component.clone());
            let name =
                Name::new(path.iter().cloned()).map_err(|error| NamingError::Name(String::new(), error))?;
            let below = match bound.is_context && self.options.recursive && path.len() < DEEPEST {
                true => self.below(context, bound.component).transpose(),
                false => None,
            };
            let is_gone = matches!(&below, Some(Err(error)) if is_gone(error));
            self.show(&name, bound.is_context, is_gone);
            let listed = match below {
                Some(Ok((below, bindings))) => self.add(&below, bindings, &path),
                Some(Err(error)) if !is_gone => Err(error),
                _ => Ok(()),
            };
            if let Err(error) = listed {
                let problem = format!("`{name}` cannot be listed: {error}");
                self.problem.get_or_insert(Failed::Unreachable(problem));
            }
        }
        Ok(())
    }

    /// Begins to list a context below this one; `None`: it has been listed.
    fn below(
        &mut self,
        context: &NamingContext,
        component: NameComponent,
    ) -> Result<Option<(NamingContext, Listing)>, NamingError> {
        let below = context.context(Name::from(component))?;
        match self.is_new(&below) {
            true => below.list_here().map(|bindings| Some((below, bindings))),
            false => Ok(None),
        }
    }

    fn is_new(&mut self, context: &NamingContext) -> bool {
        let object = context.reference().as_object();
        let same = self.seen.entry(object.hash(0)).or_default();
        let is_new = !same.iter().any(|other| other.is_equivalent(object));
        if is_new {
            same.push(object.clone());
        }
        is_new
    }

    fn show(&mut self, name: &Name, is_context: bool, is_gone: bool) {
        let last = name.components().last().cloned().unwrap_or_default();
        let mut row =
            json!({"name": name.to_string(), "id": last.id, "kind": last.kind, "context": is_context});
        if is_gone {
            row["gone"] = true.into();
        }
        self.rows.push(row);
        if !self.options.json {
            let mark = match (is_context, is_gone) {
                (_, true) => "/  (no longer exists)",
                (true, false) => "/",
                (false, false) => "",
            };
            println!("{}{mark}", printable(&name.to_string()));
        }
    }
}
