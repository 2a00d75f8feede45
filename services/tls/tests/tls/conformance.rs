//! The checks of all transports.

use std::sync::LazyLock;

use punctual_tls::{ClientCertificates, MinimumVersion, Tls};

use crate::pki::Root;

/// TLS 1.3, with certificates on both sides.
static MUTUAL: LazyLock<Tls> = LazyLock::new(|| {
    // Its files have been read at the end.
    let root = Root::new("tls-conformance");
    let settings = root
        .certified("mutual")
        .minimum_version(MinimumVersion::V1_3)
        .client_certificates(ClientCertificates::Required);
    Tls::new(&settings).unwrap()
});

punctual_transport::conformance_tests!(*MUTUAL, "localhost:0");

mod traced {
    use punctual_transport::{Layered, Trace};

    use super::MUTUAL;

    punctual_transport::conformance_tests!(Layered::new(MUTUAL.clone(), Trace::new(100)), "127.0.0.1:0");
}
