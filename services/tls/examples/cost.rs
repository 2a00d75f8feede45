//! Time and allocations of a call over TCP and over TLS, in alternating blocks, with all threads on one CPU:
//! `cargo run --release -p punctual-tls --example cost`. It makes its certificates itself.

use std::{fs, hint::black_box, time::Instant};

use punctual::Orb;
use punctual_fixtures::{
    Folder,
    conformance::ProbeRef,
    real_time::ordinary,
    server::{Server, Setup, client},
};
use punctual_os::{CountingAllocator, alloc_counter};
use punctual_tls::{Tls, TlsSettings};
use rcgen::generate_simple_self_signed;
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const BLOCKS: usize = 60;
const CALLS: usize = 500;

fn main() {
    // Otherwise the kernel's placement of the threads decides: wake-ups across CPUs take most of a call.
    // Threads that start later inherit it.
    let mut one = CpuSet::new();
    one.set(sched_getcpu());
    sched_setaffinity(None, &one).expect("one CPU");
    let folder = Folder::new("tls-cost");
    let own = generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let (chain, key) = (folder.join("own.pem"), folder.join("own.key"));
    fs::write(&chain, own.cert.pem()).expect("a file");
    fs::write(&key, own.signing_key.serialize_pem()).expect("a file");
    let settings = TlsSettings::new().certificate(&chain, &key).trust(&chain);
    let tls = Tls::new(&settings).expect("settings");

    let orb = ordinary()
        .transport(tls.clone())
        .listen("ssliop://localhost:0")
        .build()
        .expect("an ORB");
    let pool = orb.threadpool().build().expect("a pool");
    let poa = orb.root_poa().child("probes").threadpool(&pool).build();
    let secured = Server::with_poa(orb, pool, poa.expect("an adapter"));
    let plain = Setup::default().start();
    let plain_client = client();
    let secured_client = Orb::builder()
        .transport(tls)
        .lock_memory(false)
        .build()
        .expect("an ORB");
    let probes = [
        plain.reference_for(&plain_client),
        secured.reference_for(&secured_client),
    ];
    for (what, call) in [("a long", twice as fn(&ProbeRef)), ("10,000 octets back", filled)] {
        compare(what, &probes, call);
    }
}

fn twice(probe: &ProbeRef) {
    black_box(probe.twice(21)).expect("an answer");
}

fn filled(probe: &ProbeRef) {
    black_box(probe.filled(10_000)).expect("an answer");
}

fn compare(what: &str, probes: &[ProbeRef; 2], call: fn(&ProbeRef)) {
    let block = |probe: &ProbeRef| {
        let start = Instant::now();
        (0..CALLS).for_each(|_| call(probe));
        start.elapsed().as_nanos() as f64 / CALLS as f64 / 1000.0
    };
    probes.iter().for_each(|probe| {
        block(probe);
    });
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..BLOCKS {
        for (probe, times) in probes.iter().zip(&mut times) {
            times.push(block(probe));
        }
    }
    let mut ratios: Vec<f64> = times[1]
        .iter()
        .zip(&times[0])
        .map(|(tls, tcp)| tls / tcp)
        .collect();
    let allocations = probes.each_ref().map(|probe| {
        let before = alloc_counter::allocations_of_this_process();
        (0..CALLS).for_each(|_| call(probe));
        (alloc_counter::allocations_of_this_process() - before) as f64 / CALLS as f64
    });
    let [tcp, tls] = times.each_mut().map(|times| median(times));
    println!(
        "{what}: TCP {tcp:.1} us, TLS {tls:.1} us, median of ratios {:.2}; allocations of both sides per call: \
         {} and {}",
        median(&mut ratios),
        allocations[0],
        allocations[1]
    );
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
