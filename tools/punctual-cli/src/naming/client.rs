//! `punctual naming resolve`, `bind`, `unbind`, `create` and `destroy`.

use std::time::Duration;

use clap::Args;
use punctual::{Orb, ResolveError, SchedulingClass, ior_from_string, naming::Name};
use punctual_naming::{NamingContext, NamingError};
use serde_json::json;

use super::{Failed, is_gone};
use crate::{
    arguments::seconds,
    tls::{self, TlsFile},
};

pub const RESOLVE: &str = "\
Examples:
  punctual naming resolve radar/tracker
  punctual naming resolve radar/tracker --json
  punctual naming resolve tracker --at corbaname::radar:2809#radar
  punctual naming resolve tracker --at corbaname:ssliop:1.2@radar:2810 --tls tls.toml
  punctual call $(punctual naming resolve radar/tracker) _non_existent

Exit code: 0 the reference is printed; 1 the name is not bound; 2 the command line is wrong: the \
name or the address; 3 a naming service cannot be reached.";

pub const BIND: &str = "\
Examples:
  punctual naming bind radar/tracker corbaloc::radar:2810/Tracker
  punctual naming bind radar/tracker IOR:0123 --replace
  punctual naming bind other corbaname::other:2809 --context    names below it are searched there

A URL is resolved first, so its server has to run. An `IOR:` is bound unchanged.

Exit code: 0 it is bound; 1 the naming service refuses, for example because the name is bound \
already; 2 the command line is wrong: the name, the reference or the address; 3 a naming service or \
the object cannot be reached.";

pub const UNBIND: &str = "\
Examples:
  punctual naming unbind radar/tracker

Exit code: 0 the name is free; 1 it was not bound; 2 the command line is wrong: the name or the \
address; 3 a naming service cannot be reached.";

pub const CREATE: &str = "\
Examples:
  punctual naming create radar
  punctual naming create radar/tracks.fast      id `tracks`, kind `fast`

Exit code: 0 it is created; 1 the naming service refuses, for example because the name is bound \
already; 2 the command line is wrong: the name or the address; 3 a naming service cannot be reached.";

pub const DESTROY: &str = "\
Examples:
  punctual naming destroy radar/tracks.fast

If the context no longer exists, its name is made free.

Exit code: 0 the context is destroyed; 1 the name is not bound to a context, or the context has \
bindings; 2 the command line is wrong: the name or the address; 3 a naming service cannot be reached.";

/// The naming context that a command uses.
#[derive(Args, Debug)]
pub struct At {
    /// Naming context: `corbaname:`, `corbaloc:`, `file:` or `IOR:`
    #[arg(long, value_name = "URL", default_value = "corbaname::localhost:2809")]
    at: String,
    /// Longest wait for each reply
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "5")]
    timeout: Duration,
    #[command(flatten)]
    tls: TlsFile,
}

/// Settings of commands that need a name only.
#[derive(Args, Debug)]
pub struct Named {
    /// Name: `id.kind`, or `id`, with `/` between components, and `\` before a `/`, `.` or `\` in them
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    at: At,
}

/// Settings of `naming resolve`.
#[derive(Args, Debug)]
pub struct Resolve {
    #[command(flatten)]
    named: Named,
    /// Print a JSON object with the name, the interface and the reference
    #[arg(long)]
    json: bool,
}

/// Settings of `naming bind`.
#[derive(Args, Debug)]
pub struct Bind {
    /// Name: `id.kind`, or `id`, with `/` between components, and `\` before a `/`, `.` or `\` in them
    #[arg(value_name = "NAME")]
    name: String,
    /// Reference to the object: `corbaloc:`, `corbaname:`, `file:` or `IOR:`
    #[arg(value_name = "REF")]
    reference: String,
    /// Replace what the name is bound to, if it is of the same type: object or context
    #[arg(long)]
    replace: bool,
    /// Bind it as a context, below which names are searched
    #[arg(long)]
    context: bool,
    #[command(flatten)]
    at: At,
}

impl At {
    /// An ORB for a client: no real-time priorities, and calls that end.
    pub fn orb(&self) -> Result<Orb, Failed> {
        let builder = self.tls.applied_to(Orb::builder());
        let builder = builder
            .map_err(|error| Failed::NotBegun(error.to_string()))?
            .scheduling_class(SchedulingClass::Other);
        Ok(builder.lock_memory(false).call_timeout(self.timeout).build()?)
    }

    pub fn find(&self, orb: &Orb) -> Result<NamingContext, Failed> {
        Ok(NamingContext::find(orb, &self.at)?.with_timeout(self.timeout))
    }
}

impl Named {
    fn find(&self) -> Result<(Orb, NamingContext, Name), Failed> {
        let name = name(&self.name)?;
        let orb = self.at.orb()?;
        let naming = self.at.find(&orb)?;
        Ok((orb, naming, name))
    }
}

/// Parses a name before anything is called.
pub fn name(text: &str) -> Result<Name, Failed> {
    let name = text.parse();
    name.map_err(|error| Failed::NotBegun(format!("`{text}` is not a name: {error}")))
}

/// Returns the context that is bound to a name; `None`: it no longer exists.
pub fn existing(naming: &NamingContext, name: &Name) -> Result<Option<NamingContext>, NamingError> {
    match naming.context(name) {
        // Unless it is the one where the search begins.
        Err(error) if is_gone(&error) => naming.resolve_object(name).map(|_| None),
        found => found.map(Some),
    }
}

pub fn resolve(options: &Resolve) -> Result<(), Failed> {
    let (_orb, naming, name) = options.named.find()?;
    let object = naming.resolve_object(&name)?;
    let (ior, interface) = (object.to_ior(), &object.ior().type_id);
    match options.json {
        false => println!("{ior}"),
        true => println!(
            "{}",
            json!({"name": name.to_string(), "interface": interface, "reference": ior})
        ),
    }
    Ok(())
}

pub fn bind(options: &Bind) -> Result<(), Failed> {
    let name = name(&options.name)?;
    let orb = options.at.orb()?;
    let naming = options.at.find(&orb)?;
    if options.context {
        let context = NamingContext::find(&orb, &options.reference)?;
        let bound = match options.replace {
            true => naming.rebind_context(&name, &context),
            false => naming.bind_context(&name, &context),
        };
        return Ok(bound?);
    }
    // A complete reference need not be usable here.
    let object = match ior_from_string(&options.reference) {
        Ok(ior) => orb.object_of(ior),
        Err(_) => orb.resolve_object(&options.reference),
    };
    let object = object.map_err(|error| match error {
        ResolveError::Call { ref exception, .. } => Failed::of(exception, error.to_string()),
        error => Failed::NotBegun(tls::missing(&error).unwrap_or_else(|| error.to_string())),
    })?;
    let bound = match options.replace {
        true => naming.rebind(&name, &object),
        false => naming.bind(&name, &object),
    };
    Ok(bound?)
}

pub fn unbind(options: &Named) -> Result<(), Failed> {
    let (_orb, naming, name) = options.find()?;
    Ok(naming.unbind(&name)?)
}

pub fn create(options: &Named) -> Result<(), Failed> {
    let (_orb, naming, name) = options.find()?;
    naming.create(&name)?;
    Ok(())
}

pub fn destroy(options: &Named) -> Result<(), Failed> {
    let (_orb, naming, name) = options.find()?;
    // If it no longer exists, what remains to be done is to make the name free.
    if let Some(context) = existing(&naming, &name)? {
        match context.destroy() {
            Err(error) if is_gone(&error) => {}
            destroyed => destroyed?,
        }
    }
    Ok(naming.unbind(&name)?)
}
