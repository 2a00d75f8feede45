//! IIOP over TLS from outside: the transport's conformance, trust, hostile peers, references and calls.

mod conformance;
mod hostile;
mod orbs;
mod pki;
mod recipes;
mod references;
mod trust;
