//! A portable interceptor for the requests of a client.

use std::sync::Arc;

use punctual::interceptors::*;

/// Interceptor that adds a service context to each request.
#[derive(Clone)]
pub struct Badge;

impl ClientRequestInterceptor for Badge {
    fn name(&self) -> &str {
        "badge"
    }

    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(info.add_request_service_context(0x5a5a_0001, b"radar")?)
    }
}

impl OrbInitializer for Badge {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        // No other interceptor has this name.
        let _ = info.add_client_request_interceptor(Arc::new(self.clone()));
    }
}
