//! What every transport must do, done by those that are here.

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
