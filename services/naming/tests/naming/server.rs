//! A served naming service and a client of another ORB.

use std::path::Path;

use punctual::{Interface, ObjectRef, Orb, SchedulingClass, naming::Name};
use punctual_naming::{
    NamingContext, NamingLimits, NamingService,
    idl::cos_naming::{self, NamingContextExtRef},
};

pub fn orb(listen: Option<&str>) -> Orb {
    let builder = Orb::builder()
        .scheduling_class(SchedulingClass::Other)
        .lock_memory(false);
    let builder = listen
        .into_iter()
        .fold(builder, |builder, endpoint| builder.listen(endpoint));
    builder.build().unwrap()
}

pub struct Server {
    pub service: NamingService,
    /// `corbaloc:` of the root.
    pub url: String,
    pub orb: Orb,
}

impl Server {
    pub fn start(limits: NamingLimits) -> Self {
        Self::start_at("iiop://127.0.0.1", limits, None)
    }

    pub fn start_at(endpoint: &str, limits: NamingLimits, store: Option<&Path>) -> Self {
        let orb = orb(Some(endpoint));
        let pool = orb
            .threadpool()
            .threads(3)
            .listen(second(endpoint))
            .build()
            .unwrap();
        let builder = NamingService::builder().limits(limits).threadpool(&pool);
        let builder = store
            .into_iter()
            .fold(builder, |builder, file| builder.store(file));
        let service = builder.build(&orb).unwrap();
        let url = orb.publish("NameService", service.root()).unwrap();
        let run = orb.clone();
        // Serves the published name; ends with `stop`.
        std::thread::spawn(move || run.run());
        Self { service, url, orb }
    }

    /// Ends it, and releases address and store.
    pub fn stop(self) {
        self.orb.shutdown_and_wait().unwrap();
    }

    /// `HOST:PORT`.
    pub fn address(&self) -> &str {
        self.url.split(['@', '/']).nth(1).unwrap()
    }

    pub fn corbaname(&self, name: &str) -> String {
        format!("corbaname::1.2@{}#{name}", self.address())
    }

    /// The root as seen by another ORB.
    pub fn root(&self, client: &Orb) -> NamingContextExtRef {
        client.resolve(&self.url).unwrap()
    }

    pub fn naming(&self, client: &Orb) -> NamingContext {
        NamingContext::find(client, &self.url).unwrap()
    }
}

/// The endpoint of the pool beside that of the ORB.
fn second(endpoint: &str) -> String {
    match endpoint.strip_prefix("iiop://127.0.0.1:") {
        Some(port) => format!("iiop://127.0.0.1:{}", port.parse::<u16>().unwrap() + 1),
        None => endpoint.to_owned(),
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.orb.shutdown();
    }
}

/// A name as the generated code has it.
pub fn name(text: &str) -> cos_naming::Name {
    let name: Name = text.parse().unwrap();
    let components = name.components().iter().cloned();
    components
        .map(|one| cos_naming::NameComponent {
            id: one.id,
            kind: one.kind,
        })
        .collect()
}

/// Names as texts.
pub fn texts(bindings: &[cos_naming::Binding]) -> Vec<String> {
    let names = bindings.iter().map(|binding| {
        let [component] = &binding.binding_name[..] else {
            panic!("{binding:?}")
        };
        punctual::naming::NameComponent::new(&*component.id, &*component.kind).to_string()
    });
    names.collect()
}

/// A reference to an object that does not exist.
pub fn object(orb: &Orb, key: &str) -> ObjectRef {
    let poa = orb.root_poa().find("objects");
    let poa = poa.unwrap_or_else(|| {
        let child = orb.root_poa().child("objects").user_ids().persistent();
        child.build().unwrap()
    });
    let reference: NamingContextExtRef = poa.reference().id(key).create().unwrap();
    reference.as_object().clone()
}
