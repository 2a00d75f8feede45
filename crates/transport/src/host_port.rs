//! Addresses of the form `HOST:PORT`.

use std::{fmt, str::FromStr};

/// A host and a port, 0 by default. IPv6 addresses have brackets in the text, but not in `host`. A number is
/// not accepted as a host: it is most likely a port (`inet_aton` would take 4710 for 0.0.18.102).
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct HostPort {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl FromStr for HostPort {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => rest.split_once(']').ok_or(())?,
            None => text.split_at(text.find(':').unwrap_or(text.len())),
        };
        let port = match port.strip_prefix(':') {
            Some(port) => port.parse().map_err(drop)?,
            None if port.is_empty() => 0,
            None => return Err(()),
        };
        let is_number = host.bytes().all(|octet| octet.is_ascii_digit());
        if host.is_empty() || is_number || host.contains(|c: char| c.is_control() || c.is_whitespace()) {
            return Err(());
        }
        Ok(Self {
            host: host.to_owned(),
            port,
        })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_round_trip() {
        for text in ["localhost:2809", "[::1]:2809", "127.0.0.1:0"] {
            assert_eq!(text.parse::<HostPort>().unwrap().to_string(), text);
        }
        assert_eq!(
            "radar".parse(),
            Ok(HostPort {
                host: "radar".into(),
                port: 0
            })
        );
        for text in [
            "", ":1", "a:x", "[::1", "[::1]x", "a:70000", "a b", "a\n:1", "4710", "1:2",
        ] {
            assert_eq!(text.parse::<HostPort>(), Err(()), "{text}");
        }
    }
}
