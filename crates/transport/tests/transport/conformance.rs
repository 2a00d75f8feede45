//! Conformance checks of the transports of this crate.

mod tcp {
    punctual_transport::conformance_tests!(punctual_transport::Tcp, "127.0.0.1:0");
}

mod tcp_by_name {
    punctual_transport::conformance_tests!(punctual_transport::Tcp, "localhost:0");
}

mod tcp_v6 {
    punctual_transport::conformance_tests!(punctual_transport::Tcp, "[::1]:0");
}

mod unix {
    punctual_transport::conformance_tests!(punctual_transport::Unix, "");
}

mod shm {
    punctual_transport::conformance_tests!(punctual_transport::Shm, "");
}

mod unix_traced {
    use punctual_transport::{Layered, Trace, Unix};

    punctual_transport::conformance_tests!(Layered::new(Unix, Trace::new(100)), "");
}

/// Slow and fragmented transfers conform, too.
mod tcp_with_faults {
    use std::time::Duration;

    use punctual_transport::{FaultInjector, Faults, Layered, Tcp};

    fn faults() -> FaultInjector {
        FaultInjector::new(Faults {
            seed: 7,
            short_per_mille: 300,
            delay_per_mille: 5,
            delay: Duration::from_millis(1),
            ..Faults::default()
        })
    }

    punctual_transport::conformance_tests!(Layered::new(Tcp, faults()), "127.0.0.1:0");
}

mod shm_with_faults {
    use std::time::Duration;

    use punctual_transport::{FaultInjector, Faults, Layered, Shm};

    fn faults() -> FaultInjector {
        FaultInjector::new(Faults {
            seed: 11,
            short_per_mille: 300,
            delay_per_mille: 5,
            delay: Duration::from_millis(1),
            ..Faults::default()
        })
    }

    punctual_transport::conformance_tests!(Layered::new(Shm, faults()), "");
}
