use std::{fmt, str::FromStr};

/// Where an ORB listens: `iiop://HOST:PORT`.
///
/// A host name or address, IPv6 addresses in brackets; `0.0.0.0` and `[::]` are all interfaces. Port 0, or none: any free one.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Address {
    /// A host name or address, IPv6 addresses without brackets.
    pub host: String,
    /// A TCP port.
    pub port: u16,
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let bad = || AddressError(text.to_owned());
        let rest = text.strip_prefix("iiop://").ok_or_else(bad)?;
        let (host, port) = match rest.strip_prefix('[') {
            Some(rest) => rest.split_once(']').ok_or_else(bad)?,
            None => rest.split_at(rest.find(':').unwrap_or(rest.len())),
        };
        let port = match port.strip_prefix(':') {
            Some(port) => port.parse().map_err(|_| bad())?,
            None if port.is_empty() => 0,
            None => return Err(bad()),
        };
        if host.is_empty() {
            return Err(bad());
        }
        Ok(Self {
            host: host.to_owned(),
            port,
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "iiop://[{}]:{}", self.host, self.port)
        } else {
            write!(f, "iiop://{}:{}", self.host, self.port)
        }
    }
}

/// A text that is no [`Address`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AddressError(pub String);

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no endpoint; write `iiop://HOST:PORT`, such as `iiop://localhost:2809`",
            self.0
        )
    }
}

impl std::error::Error for AddressError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_they_are_written() {
        for text in ["iiop://localhost:2809", "iiop://[::1]:2809", "iiop://127.0.0.1:0"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        assert_eq!(
            "iiop://radar".parse(),
            Ok(Address {
                host: "radar".into(),
                port: 0
            })
        );
        for text in [
            "localhost:2809",
            "iiop://",
            "iiop://:1",
            "iiop://a:x",
            "iiop://[::1",
            "iiop://[::1]x",
            "iiop://a:70000",
        ] {
            assert_eq!(text.parse::<Address>(), Err(AddressError(text.into())));
        }
    }
}
