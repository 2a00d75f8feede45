//! Object references as text: `IOR:`, `corbaloc:`, `corbaname:` and `file:`. Source: CORBA 3.3 part 2, 7.6.9
//! and 7.6.10; Naming Service 1.3, 2.5.3 (`corbaname:`).

use alloc::{
    boxed::Box,
    string::{String, ToString},
    vec::Vec,
};
use core::{fmt, str::FromStr};

use punctual_cdr::{Decode, Encode, Endian, Ior};

use crate::{
    Name, UrlError, Version,
    encapsulation::{encapsulate, open},
};

/// Default port of a `corbaloc:` or `corbaname:` address.
pub const DEFAULT_IIOP_PORT: u16 = 2809;

/// Default key, and name of the initial reference, of a naming context.
///
/// ```
/// # mod punctual { pub(crate) use punctual_giop as naming; }
/// # use punctual_giop::ObjectUrl;
/// use punctual::naming::NAME_SERVICE;
///
/// let url = format!("corbaname::radar:2809/{NAME_SERVICE}#track");
/// # assert_eq!(url.parse::<ObjectUrl>(), "corbaname::radar#track".parse());
/// assert!(url.ends_with("/NameService#track"));
/// ```
pub const NAME_SERVICE: &str = "NameService";

/// An object reference as text.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum ObjectUrl {
    /// `IOR:` and hexadecimal digits: a complete reference.
    Ior(Ior),
    /// `corbaloc:` with addresses, each of which leads to the object with this key.
    Corbaloc {
        /// Addresses in order of preference; at least one.
        addresses: Vec<UrlAddress>,
        /// Object key; may be empty.
        key: Vec<u8>,
    },
    /// `corbaloc:rir:`: an initial reference of the local ORB.
    Rir {
        /// Name of the initial reference, not empty. Default: `NameService`.
        name: String,
    },
    /// `corbaname:`: what a naming context has bound to a name.
    Corbaname {
        /// The context: [`Self::Corbaloc`], by default with the key `NameService`, or [`Self::Rir`].
        context: Box<ObjectUrl>,
        /// The name; `None`: the context itself.
        name: Option<Name>,
    },
    /// `file:`: a file of this host with another reference as its text.
    File {
        /// Absolute path.
        path: String,
    },
}

/// One address of a `corbaloc:`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum UrlAddress {
    /// `iiop:`, or `:` alone.
    Iiop(IiopAddress),
    /// An address of another protocol, `PROTOCOL:[major.minor@]ADDRESS`.
    Other {
        /// Name of the protocol, in lower case.
        protocol: String,
        /// Highest GIOP version to use. Default: 1.0.
        version: Version,
        /// Address in the form of this protocol. In the text, `/`, `,`, `@` and all characters not permitted
        /// in URLs are escaped as `%xx`.
        address: String,
    },
}

/// One IIOP address of a `corbaloc:`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct IiopAddress {
    /// Highest GIOP version to use. Default: 1.0, according to the specification.
    pub version: Version,
    /// A host name or address; an IPv6 address has no brackets.
    pub host: String,
    /// A TCP port.
    pub port: u16,
}

impl FromStr for ObjectUrl {
    type Err = UrlError;

    /// Parses a URL; the scheme is case-insensitive.
    fn from_str(text: &str) -> Result<Self, UrlError> {
        let text = text.trim();
        if strip_scheme(text, "ior:").is_some() {
            ior_from_string(text).map(Self::Ior)
        } else if let Some(rest) = strip_scheme(text, "corbaloc:") {
            corbaloc(rest)
        } else if let Some(rest) = strip_scheme(text, "corbaname:") {
            corbaname(rest)
        } else if let Some(rest) = strip_scheme(text, "file:") {
            file(rest)
        } else {
            Err(match strip_scheme(text, "iiop://") {
                Some(address) => UrlError::Endpoint(excerpt(address)),
                None => UrlError::UnknownScheme(excerpt(text)),
            })
        }
    }
}

/// Formats the text that [`FromStr`] parses.
impl fmt::Display for ObjectUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ior(ior) => f.write_str(&ior_to_string(ior)),
            Self::Corbaloc { addresses, key } => {
                f.write_str("corbaloc:")?;
                write_place(f, addresses, key)
            }
            Self::Rir { name } => {
                f.write_str("corbaloc:rir:/")?;
                write_text(f, name)
            }
            Self::Corbaname { context, name } => {
                f.write_str("corbaname:")?;
                match &**context {
                    Self::Corbaloc { addresses, key } => write_place(f, addresses, key)?,
                    Self::Rir { name } => {
                        f.write_str("rir:/")?;
                        write_text(f, name)?;
                    }
                    other => other.fmt(f)?,
                }
                let name = name.iter().map(|name| ("#", name.to_string()));
                { name }.try_for_each(|(mark, name)| {
                    f.write_str(mark)?;
                    write_text(f, &name)
                })
            }
            Self::File { path } => {
                f.write_str("file://")?;
                write_text(f, path)
            }
        }
    }
}

/// Writes the addresses and the key of a `corbaloc:`.
fn write_place(f: &mut fmt::Formatter<'_>, addresses: &[UrlAddress], key: &[u8]) -> fmt::Result {
    for (index, address) in addresses.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { "," })?;
        write!(f, "{address}")?;
    }
    f.write_str("/")?;
    key.iter().try_for_each(|octet| write_escaped(f, *octet))
}

fn write_text(f: &mut impl fmt::Write, text: &str) -> fmt::Result {
    text.bytes().try_for_each(|octet| write_escaped(f, octet))
}

impl fmt::Display for UrlAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iiop(IiopAddress { version, host, port }) => {
                let (open, close) = if host.contains(':') { ("[", "]") } else { ("", "") };
                write!(f, "iiop:{version}@{open}{host}{close}:{port}")
            }
            Self::Other {
                protocol,
                version,
                address,
            } => {
                write!(f, "{protocol}:{version}@")?;
                address.bytes().try_for_each(|octet| match octet {
                    b'/' | b',' | b'@' => write!(f, "%{octet:02x}"),
                    _ => write_escaped(f, octet),
                })
            }
        }
    }
}

/// Writes an octet of a key or name verbatim or, if not permitted, as `%` with two digits.
fn write_escaped(f: &mut impl fmt::Write, octet: u8) -> fmt::Result {
    if octet.is_ascii_alphanumeric() || b";/:?@&=+$,-_.!~*'()".contains(&octet) {
        write!(f, "{}", char::from(octet))
    } else {
        write!(f, "%{octet:02x}")
    }
}

/// Returns the reference as `IOR:` and hexadecimal digits, in the native byte order.
///
/// # Panics
/// If the type id contains a NUL, which no decoder yields, or if a profile has 4 GiB.
///
/// ```
/// # mod punctual { pub use {punctual_cdr::*, punctual_giop::*}; }
/// use punctual::{Ior, TaggedProfile, ior_from_string, ior_to_string};
///
/// let ior = Ior {
///     type_id: "IDL:radar/Tracker:1.0".to_owned(),
///     profiles: vec![TaggedProfile { tag: 0, data: vec![0, 1, 2, 0] }],
/// };
/// let text = ior_to_string(&ior);
/// assert!(text.starts_with("IOR:0"));
/// assert_eq!(ior_from_string(&text), Ok(ior));
/// ```
pub fn ior_to_string(ior: &Ior) -> String {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let octets =
        encapsulate(Endian::NATIVE, |encoder| ior.encode(encoder)).expect("a reference can be encoded");
    let mut text = String::with_capacity(4 + octets.len() * 2);
    text.push_str("IOR:");
    for octet in octets {
        text.push(DIGITS[usize::from(octet >> 4)].into());
        text.push(DIGITS[usize::from(octet & 15)].into());
    }
    text
}

/// Parses `IOR:` and hexadecimal digits, both case-insensitive; surrounding white space is ignored.
///
/// # Errors
/// [`UrlError::UnknownScheme`], [`UrlError::BadHex`], and [`UrlError::BadReference`] if the octets are not a
/// reference.
///
/// ```
/// # use punctual_giop as punctual;
/// use punctual::{UrlError, ior_from_string};
///
/// let nil = ior_from_string("IOR:00000000000000010000000000000000")?;
/// assert!(nil.is_nil());
/// assert_eq!(ior_from_string("IOR:00zz"), Err(UrlError::BadHex { at: 6 }));
/// # Ok::<(), UrlError>(())
/// ```
pub fn ior_from_string(text: &str) -> Result<Ior, UrlError> {
    let text = text.trim();
    let digits = strip_scheme(text, "ior:").ok_or_else(|| UrlError::UnknownScheme(excerpt(text)))?;
    let mut octets = Vec::with_capacity(digits.len() / 2);
    for (index, pair) in digits.as_bytes().chunks(2).enumerate() {
        let octet = match *pair {
            [high, low] => hex_octet(high, low),
            _ => None,
        };
        octets.push(octet.ok_or(UrlError::BadHex { at: 4 + index * 2 })?);
    }
    open(&octets)
        .and_then(|mut decoder| Ior::decode(&mut decoder))
        .map_err(UrlError::BadReference)
}

/// Returns the `corbaname:` URL of a name below an address as `CosNaming::NamingContextExt::to_url` gets it:
/// the part of a `corbaloc:` behind the scheme, such as `:myhost:2809/NameService`. The name may be empty.
///
/// # Errors
/// As for parsing the result.
///
/// ```
/// # mod punctual { pub(crate) use punctual_giop as naming; }
/// use punctual::naming::corbaname_url;
///
/// assert_eq!(corbaname_url(":radar:2809", "a b/c")?, "corbaname::radar:2809#a%20b/c");
/// assert!(corbaname_url("radar", "a").is_err());
/// # Ok::<(), punctual_giop::UrlError>(())
/// ```
pub fn corbaname_url(address: &str, name: &str) -> Result<String, UrlError> {
    corbaloc(address)?;
    let mut url = String::from("corbaname:");
    url.push_str(address);
    if !name.is_empty() {
        url.push('#');
        let _ = write_text(&mut url, name);
    }
    url.parse::<ObjectUrl>()?;
    Ok(url)
}

/// `corbaloc_obj[#string_name]`
fn corbaname(rest: &str) -> Result<ObjectUrl, UrlError> {
    let (context, name) = rest.split_once('#').unwrap_or((rest, ""));
    let mut context = corbaloc(context)?;
    if let ObjectUrl::Corbaloc { key, .. } = &mut context
        && key.is_empty()
    {
        *key = NAME_SERVICE.as_bytes().to_vec();
    }
    let octets = unescape(name).map_err(|_| UrlError::BadNameEscape(excerpt(name)))?;
    let text = String::from_utf8(octets).map_err(|_| UrlError::BadNameEscape(excerpt(name)))?;
    let name = match &*text {
        "" => None,
        text => Some(
            text.parse()
                .map_err(|error| UrlError::BadName(excerpt(text), error))?,
        ),
    };
    Ok(ObjectUrl::Corbaname {
        context: Box::new(context),
        name,
    })
}

/// `///path`, `//localhost/path`, or `/path`
fn file(rest: &str) -> Result<ObjectUrl, UrlError> {
    let bad_path = || UrlError::BadPath(excerpt(rest));
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
        None => rest,
    };
    let octets = unescape(path).map_err(|_| bad_path())?;
    let path = String::from_utf8(octets).map_err(|_| bad_path())?;
    match path.starts_with('/') && !path.contains('\0') {
        true => Ok(ObjectUrl::File { path }),
        false => Err(bad_path()),
    }
}

fn corbaloc(rest: &str) -> Result<ObjectUrl, UrlError> {
    let (addresses, key) = rest.split_once('/').unwrap_or((rest, ""));
    let key = unescape(key)?;
    if let Some(address) = strip_scheme(addresses, "rir:") {
        if !address.is_empty() {
            return Err(UrlError::BadRir);
        }
        let name = String::from_utf8(key).map_err(|_| UrlError::BadKey(excerpt(rest)))?;
        return Ok(ObjectUrl::Rir {
            name: if name.is_empty() {
                NAME_SERVICE.to_string()
            } else {
                name
            },
        });
    }
    let mut known = Vec::new();
    for address in addresses.split(',') {
        if strip_scheme(address, "rir:").is_some() {
            return Err(UrlError::BadRir);
        }
        known.push(
            match strip_scheme(address, "iiop:").or_else(|| address.strip_prefix(':')) {
                Some(address) => UrlAddress::Iiop(iiop_address(address)?),
                None => other_address(address)?,
            },
        );
    }
    Ok(ObjectUrl::Corbaloc {
        addresses: known,
        key,
    })
}

/// `protocol:[major.minor@]address`
fn other_address(text: &str) -> Result<UrlAddress, UrlError> {
    let unknown = || UrlError::UnknownProtocol(excerpt(text));
    let (protocol, rest) = text.split_once(':').ok_or_else(unknown)?;
    // As in the schemes of URLs.
    let is_of_scheme = |octet: u8| octet.is_ascii_alphanumeric() || b"+-.".contains(&octet);
    if protocol.is_empty() || !protocol.bytes().all(is_of_scheme) {
        return Err(unknown());
    }
    let (version, address) = match rest.split_once('@') {
        Some((version, rest)) => (iiop_version(version)?, rest),
        None => (Version::V1_0, rest),
    };
    if address.is_empty() {
        return Err(UrlError::NoAddress(excerpt(protocol)));
    }
    let address = unescape(address)
        .ok()
        .and_then(|octets| String::from_utf8(octets).ok());
    Ok(UrlAddress::Other {
        protocol: protocol.to_ascii_lowercase(),
        version,
        address: address.ok_or_else(unknown)?,
    })
}

/// `[major.minor@]host[:port]`
fn iiop_address(text: &str) -> Result<IiopAddress, UrlError> {
    let (version, host_port) = match text.split_once('@') {
        Some((version, rest)) => (iiop_version(version)?, rest),
        None => (Version::V1_0, text),
    };
    let bad_host = || UrlError::BadHost(excerpt(text));
    let (host, port) = match host_port.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or_else(bad_host)?;
            let port = if rest.is_empty() {
                None
            } else {
                Some(rest.strip_prefix(':').ok_or_else(bad_host)?)
            };
            (host, port)
        }
        None => match host_port.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (host_port, None),
        },
    };
    // A number is a port without a host, although `inet_aton` would accept it as an address.
    let is_number = host.bytes().all(|octet| octet.is_ascii_digit());
    // A zone follows a `%` in brackets.
    let others: &[u8] = if host_port.starts_with('[') {
        b":.-_%"
    } else {
        b".-_"
    };
    let is_of_host = |octet: u8| octet.is_ascii_alphanumeric() || others.contains(&octet);
    if host.is_empty() || is_number || !host.bytes().all(is_of_host) {
        return Err(bad_host());
    }
    if port.is_some_and(|port| port.contains(':')) {
        // An IPv6 address without brackets.
        return Err(bad_host());
    }
    let port = match port {
        None | Some("") => DEFAULT_IIOP_PORT,
        Some(port) => port
            .parse()
            .ok()
            .filter(|number| *number != 0 && !port.starts_with('+'))
            .ok_or_else(|| UrlError::BadPort(excerpt(port)))?,
    };
    Ok(IiopAddress {
        version,
        host: host.to_string(),
        port,
    })
}

fn iiop_version(text: &str) -> Result<Version, UrlError> {
    text.split_once('.')
        .and_then(|(major, minor)| {
            Some(Version {
                major: major.parse().ok()?,
                minor: minor.parse().ok()?,
            })
        })
        .filter(|version| version.negotiated().is_some())
        .ok_or_else(|| UrlError::BadVersion(excerpt(text)))
}

fn unescape(key: &str) -> Result<Vec<u8>, UrlError> {
    let bad_key = || UrlError::BadKey(excerpt(key));
    let mut octets = Vec::with_capacity(key.len());
    let mut rest = key.as_bytes().iter().copied();
    while let Some(octet) = rest.next() {
        octets.push(match octet {
            b'%' => {
                let (high, low) = (rest.next().ok_or_else(bad_key)?, rest.next().ok_or_else(bad_key)?);
                hex_octet(high, low).ok_or_else(bad_key)?
            }
            _ if octet.is_ascii_alphanumeric() || b";/:?@&=+$,-_.!~*'()".contains(&octet) => octet,
            _ => return Err(bad_key()),
        });
    }
    Ok(octets)
}

fn hex_octet(high: u8, low: u8) -> Option<u8> {
    let digit = |octet: u8| char::from(octet).to_digit(16);
    // Two digits of 4 bits each.
    Some((digit(high)? << 4 | digit(low)?) as u8)
}

/// Returns the text after the scheme; `scheme` is lower case, the text is case-insensitive.
fn strip_scheme<'t>(text: &'t str, scheme: &str) -> Option<&'t str> {
    let start = text.get(..scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then(|| &text[scheme.len()..])
}

/// Returns the start of a text, for an error message.
fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        None => text.to_string(),
        Some((end, _)) => {
            let mut cut = text[..end].to_string();
            cut.push('…');
            cut
        }
    }
}
