//! References from text: initial references, and requests to servers and naming contexts on the way to an
//! object.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, ErrorKind, Read},
    sync::Arc,
    time::Instant,
};

use punctual_cdr::{CdrError, Decode, Decoder, Encode, Endian, Ior};
use punctual_giop::{
    IiopAddress, Name, NameComponent, NameNotFound, NotFoundReason, ObjectUrl, Profile, UrlAddress, UrlError,
    Version,
};
use punctual_stub::{
    ObjectRef, PolicyOverrides,
    rt::{OperationError, Phase, Upcall},
};
use punctual_types::{Completion, Detail, Minor, SystemException, SystemExceptionKind};
use rustix::fs::{Mode, OFlags};

use crate::{
    ResolveError,
    client::{Located, Reference, swap_call_deadline},
    orb_core::OrbCore,
    poa_state::profiles::secured_profile,
};

/// How often one text may lead to another: initial references, files.
const MAX_STEPS: usize = 8;
/// Longest text in a file, in octets.
const MAX_FILE: u64 = 1 << 20;

/// Converts text to a reference.
pub(super) fn resolved(core: &Arc<OrbCore>, text: &str) -> Result<ObjectRef, ResolveError> {
    of_url(core, text.parse()?, MAX_STEPS)
}

fn of_url(core: &Arc<OrbCore>, url: ObjectUrl, steps: usize) -> Result<ObjectRef, ResolveError> {
    let follow = |text: &str| {
        let steps = steps.checked_sub(1);
        let steps = steps.ok_or_else(|| ResolveError::TooManySteps(text.to_owned()))?;
        of_url(core, text.parse()?, steps)
    };
    match url {
        ObjectUrl::Ior(ior) => complete(core, ior),
        ObjectUrl::Corbaloc { addresses, key } => match published_here(core, &addresses, &key) {
            Some(published) => complete(core, published),
            None => located(core, &addresses, &key),
        },
        ObjectUrl::Rir { name } => match core.initial_references.get(&name) {
            Some(text) => follow(&text),
            None => Err(ResolveError::UnknownInitialReference(name)),
        },
        ObjectUrl::Corbaname { context, name } => within(core, || {
            let context = of_url(core, *context, steps)?;
            match name {
                None => Ok(context),
                Some(name) => bound_to(core, context, &name),
            }
        }),
        ObjectUrl::File { path } => {
            let text = text_of_file(&path)?;
            // A URL may come from a peer that must not learn the content: no error quotes it.
            if text.parse::<ObjectUrl>().is_err() {
                let source = io::Error::new(ErrorKind::InvalidData, "it contains no reference");
                return Err(ResolveError::File { path, source });
            }
            follow(&text)
        }
    }
}

/// Makes a complete reference usable, or keeps it for others.
pub(super) fn kept(core: &OrbCore, ior: Ior) -> Result<ObjectRef, ResolveError> {
    if ior.is_nil() {
        return Err(ResolveError::Nil);
    }
    Ok(ObjectRef::new(Reference::kept(&core.client, ior)?))
}

/// Makes a complete reference usable.
fn complete(core: &OrbCore, ior: Ior) -> Result<ObjectRef, ResolveError> {
    if ior.is_nil() {
        return Err(ResolveError::Nil);
    }
    Ok(ObjectRef::new(Reference::new(&core.client, ior)?))
}

/// Asks the server at an address for the object with this key.
fn located(core: &OrbCore, addresses: &[UrlAddress], key: &[u8]) -> Result<ObjectRef, ResolveError> {
    let reference = Reference::new(&core.client, corbaloc_reference(core, addresses, key)?)?;
    // Bands need a priority model, which a reference has only after the server has sent it.
    let unbanded = reference.with_overrides(without_bands());
    match within(core, || unbanded.locate_once())? {
        Located::Here => Ok(ObjectRef::new(reference)),
        Located::There(ior) => Ok(ObjectRef::new(Reference::new(&core.client, ior)?)),
        Located::Nowhere => {
            let (kind, minor) = (SystemExceptionKind::ObjectNotExist, Minor::NOTHING_PUBLISHED);
            let exception = SystemException::new(kind, minor, Completion::No);
            Err(exception.with_detail(&Detail::key(key)).into())
        }
    }
}

/// Asks a naming context for what it has bound to a name, and those to which it refers if it cannot proceed.
fn bound_to(core: &OrbCore, mut context: ObjectRef, name: &Name) -> Result<ObjectRef, ResolveError> {
    let mut rest = name.components().to_vec();
    for _ in 0..=core.configuration.limits.max_forwards {
        let mut result: Option<ObjectRef> = None;
        let called =
            context
                .with_policies(without_bands())
                .call::<NotResolved>("resolve", |phase| match phase {
                    Phase::Arguments(encoder) => rest.encode(encoder),
                    Phase::Results(decoder) => {
                        result = Option::decode(decoder)?;
                        Ok(())
                    }
                });
        match called {
            Ok(()) => return result.ok_or(ResolveError::Nil),
            Err(NotResolved::System(exception)) => return Err(exception.into()),
            Err(NotResolved::NotFound(reason, rest)) => {
                return Err(NameNotFound::new(name, reason, rest).into());
            }
            Err(NotResolved::Elsewhere(Some(other), remaining)) if !remaining.is_empty() => {
                (context, rest) = (other, remaining);
            }
            Err(NotResolved::Elsewhere(..) | NotResolved::InvalidName) => {
                return Err(ResolveError::NameRefused(name.clone()));
            }
        }
    }
    Err(ResolveError::NameRefused(name.clone()))
}

/// Policies of the calls that resolve a URL: the bands of the ORB and of the thread are for calls of the
/// object that is found.
fn without_bands() -> PolicyOverrides {
    PolicyOverrides::new().priority_bands([])
}

/// Exceptions of `CosNaming::NamingContext::resolve`.
enum NotResolved {
    System(SystemException),
    /// With the number of components in `rest_of_name`.
    NotFound(NotFoundReason, usize),
    /// `CannotProceed`: the caller may continue there.
    Elsewhere(Option<ObjectRef>, Vec<NameComponent>),
    InvalidName,
}

impl From<SystemException> for NotResolved {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl OperationError for NotResolved {
    /// Never called: these are errors of a call.
    fn raise(self, _: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        let (kind, completion) = (SystemExceptionKind::Internal, Completion::No);
        Err(SystemException::new(kind, Minor::NONE, completion))
    }

    fn decode(repository_id: &str, decoder: &mut Decoder<'_>) -> Result<Option<Self>, CdrError> {
        let name = repository_id.strip_prefix("IDL:omg.org/CosNaming/NamingContext/");
        Ok(Some(match name {
            Some("NotFound:1.0") => {
                let reason = NotFoundReason::from_number(u32::decode(decoder)?);
                let rest = Vec::<NameComponent>::decode(decoder)?;
                Self::NotFound(reason.unwrap_or(NotFoundReason::MissingNode), rest.len())
            }
            Some("CannotProceed:1.0") => {
                let context = Option::decode(decoder)?;
                Self::Elsewhere(context, Vec::decode(decoder)?)
            }
            Some("InvalidName:1.0") => Self::InvalidName,
            _ => return Ok(None),
        }))
    }
}

/// Returns the text of a regular file of bounded size.
fn text_of_file(path: &str) -> Result<String, ResolveError> {
    let read = || {
        // Neither opening a pipe nor reading from a device may block, whatever takes the place of the file
        // meanwhile: the open file is examined.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        let found = file.metadata()?;
        let refused = |why| Err(io::Error::new(ErrorKind::InvalidInput, why));
        if !found.is_file() {
            return refused("it is no regular file");
        }
        if found.len() > MAX_FILE {
            return refused("it has more than 1 MiB, and a reference has less");
        }
        let mut text = String::new();
        file.take(MAX_FILE).read_to_string(&mut text)?;
        Ok(text)
    };
    match read() {
        Ok(text) => Ok(text),
        Err(source) => Err(ResolveError::File {
            path: path.to_owned(),
            source,
        }),
    }
}

/// Executes `calls`, which end after [`crate::Limits::resolve_timeout`] at the latest.
fn within<R>(core: &OrbCore, calls: impl FnOnce() -> R) -> R {
    let end = Instant::now() + core.configuration.limits.resolve_timeout;
    let before = swap_call_deadline(Some(end));
    let _restored = scopeguard::guard(before, |before| {
        swap_call_deadline(before);
    });
    if before.is_some_and(|before| before < end) {
        swap_call_deadline(before);
    }
    calls()
}

/// Returns scheme, version and address of an address in a URL.
fn parts(url: &UrlAddress) -> (&str, Version, Cow<'_, str>) {
    match url {
        UrlAddress::Iiop(IiopAddress { version, host, port }) => {
            let (open, close) = if host.contains(':') { ("[", "]") } else { ("", "") };
            ("iiop", *version, format!("{open}{host}{close}:{port}").into())
        }
        UrlAddress::Other {
            protocol,
            version,
            address,
        } => (protocol, *version, address.into()),
    }
}

/// Returns the reference that this ORB has published under the key. Needs no serving thread.
fn published_here(core: &OrbCore, addresses: &[UrlAddress], key: &[u8]) -> Option<Ior> {
    let listens = |url: &UrlAddress| {
        let (scheme, _, address) = parts(url);
        let transport = core.configuration.transports.with_scheme(scheme);
        transport.is_some_and(|transport| core.pools.are_reached_at(transport.profile_tag(), &address))
    };
    let published = addresses.iter().any(listens).then(|| core.objects.published(key));
    Some(Ior::clone(&*published.flatten()?))
}

/// IIOP over TLS has no default port.
fn check_port(scheme: &str, address: &str) -> Result<(), UrlError> {
    match address.rsplit_once(':') {
        Some((_, port)) if !port.ends_with(']') => match port.parse::<u16>() {
            Ok(1..) => Ok(()),
            _ => Err(UrlError::BadPort(port.to_owned())),
        },
        _ => Err(UrlError::NoPort(format!("{scheme}:{address}"))),
    }
}

/// Creates a reference that has only addresses and a key: enough to ask the object for its complete
/// reference.
///
/// Fails if the ORB has none of the protocols.
fn corbaloc_reference(core: &OrbCore, addresses: &[UrlAddress], key: &[u8]) -> Result<Ior, ResolveError> {
    let mut profiles = Vec::new();
    for url in addresses {
        let (scheme, version, address) = parts(url);
        let Some(transport) = core.configuration.transports.with_scheme(scheme) else {
            continue;
        };
        if transport.protection().is_some() {
            check_port(scheme, &address)?;
        }
        let profile = match transport.protection() {
            Some(_) => secured_profile(transport, version, address.into_owned(), key),
            None => Profile {
                tag: transport.profile_tag(),
                version,
                address,
                object_key: key.to_vec(),
                components: Vec::new(),
            }
            .encode_with(Endian::NATIVE, |address, encoder| {
                transport.encode_address(address, encoder)
            }),
        };
        profiles.push(profile.map_err(|error| error.system_exception(Completion::No))?);
    }
    if profiles.is_empty() {
        let host_and_port = |url: &UrlAddress| match url {
            UrlAddress::Other {
                protocol, address, ..
            } => address
                .parse::<u16>()
                .ok()
                .map(|port| format!("{protocol}:{port}")),
            UrlAddress::Iiop(_) => None,
        };
        let transports = &core.configuration.transports;
        let tls = addresses
            .iter()
            .find(|url| transports.lacks_tls_for(parts(url).0));
        return Err(match (tls, host_and_port(&addresses[0])) {
            (Some(tls), _) => UrlError::NoTls(tls.to_string()),
            (None, Some(place)) => UrlError::MissingProtocol(place),
            (None, None) => UrlError::UnknownProtocol(addresses[0].to_string()),
        }
        .into());
    }
    Ok(Ior {
        type_id: String::new(),
        profiles,
    })
}
