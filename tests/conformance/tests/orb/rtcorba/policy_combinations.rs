//! Every combination of policies is either refused when the adapter is made, or its objects work, from inside
//! and from outside: TAO's `Policy_Combinations`.

use punctual::{InvalidPolicy, Orb, OrbError, Poa, PoaBuilder, PriorityBand, PriorityModel, ThreadPool};
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    priorities::{HIGH, LOW, MIDDLE},
    priority,
    real_time::{RealTime, class, orb_of_class, ordinary_client},
    rights::realtime_or_skip_part,
    server::{Servant, Server},
};

#[derive(Clone, Copy, Debug)]
struct Combination {
    /// None: the threads that call `run`.
    lanes: Option<bool>,
    /// Propagated, or declared at this priority.
    model: Option<Result<(), i16>>,
    bands: Option<&'static [(i16, i16)]>,
    user_ids: bool,
    persistent: bool,
}

const MODELS: [Option<Result<(), i16>>; 4] = [None, Some(Ok(())), Some(Err(LOW)), Some(Err(MIDDLE))];
const BANDS: [Option<&[(i16, i16)]>; 4] = [
    None,
    Some(&[]),
    Some(&[(0, LOW), (30_000, HIGH)]),
    Some(&[(100, 200)]),
];

fn combinations() -> impl Iterator<Item = Combination> {
    let mut all = Vec::new();
    for lanes in [None, Some(false), Some(true)] {
        for model in MODELS {
            for bands in BANDS {
                for (user_ids, persistent) in [(false, false), (true, false), (true, true), (false, true)] {
                    all.push(Combination {
                        lanes,
                        model,
                        bands,
                        user_ids,
                        persistent,
                    });
                }
            }
        }
    }
    all.into_iter()
}

impl Combination {
    /// Whether the rules allow it, in words of the rules rather than of the code.
    fn is_valid(&self) -> bool {
        let with_lanes = self.lanes == Some(true);
        let lanes = [LOW, HIGH];
        let contains = |band: &(i16, i16), priority: i16| band.0 <= priority && priority <= band.1;
        let bands = self.bands.unwrap_or(&[(0, HIGH)]);
        let model_where_needed = self.model.is_some() || !with_lanes && self.bands.is_none();
        let bands_have_lanes = !with_lanes
            || bands
                .iter()
                .all(|band| lanes.iter().any(|lane| contains(band, *lane)));
        let declared_fits = match self.model {
            Some(Err(declared)) => {
                bands.iter().any(|band| contains(band, declared))
                    && (!with_lanes || lanes.contains(&declared))
            }
            _ => true,
        };
        let ids_fit = self.user_ids || !self.persistent;
        model_where_needed && !bands.is_empty() && bands_have_lanes && declared_fits && ids_fit
    }

    fn build(&self, orb: &Orb, pools: &[ThreadPool; 2], name: &str) -> Result<Poa, OrbError> {
        let mut poa: PoaBuilder = orb.root_poa().child(name).highest_priority(priority(HIGH));
        if let Some(lanes) = self.lanes {
            poa = poa.threadpool(&pools[usize::from(lanes)]);
        }
        if let Some(model) = self.model {
            poa = poa.priority_model(match model {
                Ok(()) => client_propagated(priority(LOW)),
                Err(declared) => PriorityModel::ServerDeclared(priority(declared)),
            });
        }
        if let Some(bands) = self.bands {
            let band = |(low, high): &(i16, i16)| PriorityBand::new(priority(*low), priority(*high));
            poa = poa.priority_bands(bands.iter().map(band));
        }
        if self.user_ids {
            poa = poa.user_ids();
        }
        if self.persistent {
            poa = poa.persistent();
        }
        poa.build()
    }

    fn activate(&self, poa: &Poa, servant: Servant) -> ProbeRef {
        match self.user_ids {
            true => poa.object(servant).id("probe").activate().unwrap(),
            false => poa.activate(servant).unwrap(),
        }
    }
}

#[test]
fn each_combination_is_refused_or_works() {
    let realtime = realtime_or_skip_part();
    let orb = orb_of_class(class(realtime))
        .listen("iiop://127.0.0.1:0")
        .build()
        .unwrap();
    let plain = orb.threadpool().default_priority(priority(LOW)).build().unwrap();
    let lanes = orb
        .threadpool()
        .lane(priority(LOW), 1)
        .lane(priority(HIGH), 1)
        .build()
        .unwrap();
    let pools = [plain, lanes];
    let server = Server::with_poa(orb.clone(), pools[0].clone(), orb.root_poa());
    let runner = {
        let orb = orb.clone();
        std::thread::spawn(move || orb.run())
    };
    let client = ordinary_client();
    let (mut valid, mut refused) = (0, 0);
    for (number, combination) in combinations().enumerate() {
        match combination.build(&orb, &pools, &format!("combination{number}")) {
            Ok(poa) => {
                assert!(combination.is_valid(), "{combination:?}");
                let probe = combination.activate(&poa, server.servant());
                let within = combination.bands.map_or(LOW, |bands| bands[0].1);
                client.current().set_priority(priority(within)).unwrap();
                assert_eq!(probe.twice(21), Ok(42), "collocated: {combination:?}");
                let remote: ProbeRef = client.resolve(&probe.to_ior()).unwrap();
                assert_eq!(remote.twice(21), Ok(42), "remote: {combination:?}");
                assert_eq!(RealTime::of(&probe).model.is_some(), combination.model.is_some());
                valid += 1;
            }
            Err(OrbError::InvalidPolicy { conflict: rule, .. }) => {
                assert!(!combination.is_valid(), "{combination:?}: {rule}");
                assert_ne!(rule, InvalidPolicy::NothingAccepted);
                refused += 1;
            }
            Err(other) => panic!("{combination:?}: {other}"),
        }
    }
    assert_eq!(valid + refused, 3 * 4 * 4 * 4);
    assert!(valid >= 30, "{valid}");
    server.orb.shutdown();
    runner.join().unwrap();
}
