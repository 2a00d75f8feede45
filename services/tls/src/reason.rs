//! Reasons for which a connection is not trusted, in words that fit into an exception.

use punctual::transport::Distrust;
use rustls::{AlertDescription as Alert, CertificateError as Bad, Error, InvalidMessage};

/// The peer has closed the connection in the handshake.
pub(crate) const CLOSED: &str = "the server ended the handshake; does it have TLS at this port?";
/// The peer has sent nothing but empty records.
pub(crate) const EMPTY: &str = "the peer sends records without content";

/// Returns the reason of an error. The texts are short: an exception has room for some 60 characters.
#[cold]
pub(crate) fn reason(error: &Error) -> Distrust {
    Distrust(match error {
        Error::InvalidCertificate(bad) => certificate(bad),
        Error::AlertReceived(alert) => refused(*alert),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "the peer does not speak TLS at this port".to_owned()
        }
        Error::PeerIncompatible(_) => "no version of TLS or no cipher in common".to_owned(),
        Error::NoCertificatesPresented => "the peer has shown no certificate".to_owned(),
        other => other.to_string(),
    })
}

/// Returns whether the peer has refused the certificate of this side, or its absence.
pub(crate) fn refuses_certificate(error: &Error) -> bool {
    matches!(
        error,
        Error::AlertReceived(
            Alert::CertificateRequired
                | Alert::UnknownCA
                | Alert::BadCertificate
                | Alert::CertificateExpired
                | Alert::CertificateUnknown
                | Alert::UnsupportedCertificate
                | Alert::CertificateRevoked
                | Alert::AccessDenied
        )
    )
}

fn certificate(bad: &Bad) -> String {
    let text = match bad {
        Bad::Expired | Bad::ExpiredContext { .. } => "its certificate has expired",
        Bad::NotValidYet | Bad::NotValidYetContext { .. } => "its certificate is not valid yet",
        Bad::UnknownIssuer => "its certificate is not from a trusted root",
        Bad::NotValidForName | Bad::NotValidForNameContext { .. } => {
            "its certificate does not have this host name"
        }
        Bad::BadSignature => "its certificate has a wrong signature",
        Bad::Revoked => "its certificate was revoked",
        Bad::InvalidPurpose | Bad::InvalidPurposeContext { .. } => "its certificate is for another purpose",
        other => return format!("its certificate: {other}"),
    };
    text.to_owned()
}

/// Meaning of an alert of the peer for this side.
fn refused(alert: Alert) -> String {
    let text = match alert {
        Alert::CertificateRequired => "it requires a certificate of the client",
        Alert::UnknownCA => "it does not trust the root of our certificate",
        Alert::CertificateExpired => "our certificate has expired",
        Alert::BadCertificate | Alert::CertificateUnknown | Alert::UnsupportedCertificate => {
            "it does not accept our certificate, or requires one"
        }
        Alert::ProtocolVersion => "it has no version of TLS that we accept",
        Alert::HandshakeFailure | Alert::InsufficientSecurity => {
            "it has no cipher in common, or requires a certificate"
        }
        other => return format!("it refused the connection: {other:?}"),
    };
    text.to_owned()
}
