//! Components that interceptors add to references.

use std::sync::{Arc, Mutex};

use punctual::{Interface as _, Orb, PoaManagerState, PriorityModel, TaggedComponent, interceptors::*};
use punctual_fixtures::{
    real_time::ordinary,
    server::{Profile, Server},
};

const FIRST: u32 = 0x5000_0001;
const SECOND: u32 = 0x5000_0002;
const ELSEWHERE: u32 = 0x5000_0003;

/// A policy of the test's.
struct Site(u8);

#[derive(Clone, Default)]
struct Sites {
    tag: u32,
    adapters: Arc<Mutex<Vec<String>>>,
}

impl IorInterceptor for Sites {
    fn name(&self) -> &str {
        ""
    }

    fn establish_components(&self, info: &mut IorInfo<'_>) {
        self.adapters
            .lock()
            .unwrap()
            .push(format!("{}{:x}", info.adapter(), self.tag));
        assert_eq!(info.priority_model(), None::<PriorityModel>);
        if let Some(Site(number)) = info.policy() {
            let data = vec![*number];
            info.add_component(TaggedComponent {
                tag: self.tag,
                data: data.clone(),
            });
            // 77 is the tag of no known profile.
            info.add_component_to_profile(TaggedComponent { tag: ELSEWHERE, data }, 77);
        }
    }
}

impl OrbInitializer for Sites {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        for tag in [FIRST, SECOND] {
            let interceptor = Self { tag, ..self.clone() };
            info.add_ior_interceptor(Arc::new(interceptor)).unwrap();
        }
        struct Named;
        impl IorInterceptor for Named {
            fn name(&self) -> &str {
                "named"
            }
            fn establish_components(&self, _: &mut IorInfo<'_>) {}
        }
        info.add_ior_interceptor(Arc::new(Named)).unwrap();
        let again = info.add_ior_interceptor(Arc::new(Named));
        assert_eq!(again, Err(DuplicateName("named".into())));
    }
}

#[test]
fn references_have_the_components_of_their_adapters() {
    let sites = Sites::default();
    let orb = ordinary()
        .listen("iiop://127.0.0.1:0")
        .initializer(&sites)
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    let plain = orb.root_poa().child("plain").threadpool(&pool).build().unwrap();
    let north = orb
        .root_poa()
        .child("north")
        .threadpool(&pool)
        .policy(Site(1))
        .policy(Site(7));
    let north = north.build().unwrap();
    let called = sites.adapters.lock().unwrap().clone();
    let expected = [
        "50000001",
        "50000002",
        "plain50000001",
        "plain50000002",
        "north50000001",
        "north50000002",
    ];
    assert_eq!(
        called, expected,
        "once for each adapter, the root included, in order"
    );
    let server = Server::with_poa(orb, pool, plain);
    let components = |profile: &Profile| -> Vec<(u32, Vec<u8>)> {
        let all = profile.components.iter();
        all.filter(|(tag, _)| *tag >= FIRST && *tag <= ELSEWHERE)
            .cloned()
            .collect()
    };
    assert_eq!(components(&Profile::of(&server.probe)), []);
    let other = server.another_in(&north);
    let expected = [(FIRST, vec![7]), (SECOND, vec![7])];
    assert_eq!(components(&Profile::of(other.as_object())), expected);
    let client = punctual_fixtures::server::client();
    let other: punctual_fixtures::conformance::ProbeRef = client.resolve(&other.to_ior()).unwrap();
    assert_eq!(other.twice(4), Ok(8));
}

/// Records what happens to adapters.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn write(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }
}

impl IorInterceptor for Diary {
    fn name(&self) -> &str {
        "diary"
    }

    fn establish_components(&self, info: &mut IorInfo<'_>) {
        self.write(format!("{} before {}", info.adapter(), info.components().count()));
    }

    fn components_established(&self, info: &IorInfo<'_>) {
        self.write(format!("{} after {}", info.adapter(), info.components().count()));
    }

    fn adapter_manager_state_changed(&self, manager: usize, state: PoaManagerState) {
        assert_ne!(manager, 0);
        self.write(format!("{state:?}"));
    }

    fn adapters_destroyed(&self, adapters: &[String]) {
        self.write(format!("end of {}", adapters.join(" ")));
    }
}

impl OrbInitializer for Diary {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        info.add_ior_interceptor(Arc::new(self.clone())).unwrap();
        let sites = Sites {
            tag: FIRST,
            adapters: Arc::default(),
        };
        info.add_ior_interceptor(Arc::new(sites)).unwrap();
    }
}

#[test]
fn interceptors_see_the_life_of_adapters() {
    let diary = Diary::default();
    let builder = Orb::builder().lock_memory(false).initializer(&diary);
    let orb = builder.build().unwrap();
    assert_eq!(diary.take(), [" before 0", " after 0"]);
    let outer = orb.root_poa().child("outer").policy(Site(1)).build().unwrap();
    let inner = outer.child("inner").manager(&outer.manager()).build().unwrap();
    let expected = [
        "outer before 0",
        "outer after 2",
        "outer/inner before 0",
        "outer/inner after 0",
    ];
    assert_eq!(diary.take(), expected);
    outer.manager().discard().unwrap();
    inner.manager().activate().unwrap();
    assert_eq!(
        diary.take(),
        ["Discarding", "Active"],
        "of both: it is one manager"
    );
    inner.destroy().unwrap();
    outer.destroy().unwrap();
    outer.destroy().unwrap();
    assert_eq!(
        diary.take(),
        ["end of outer/inner", "end of outer"],
        "once for each"
    );
    let outer = orb.root_poa().child("outer").build().unwrap();
    let _inner = outer.child("inner").build().unwrap();
    diary.take();
    outer.destroy().unwrap();
    outer.manager().deactivate();
    assert_eq!(diary.take(), ["end of outer outer/inner", "Inactive"]);
}
