//! The server process: pools with servants.

use punctual::{LaneSpec, Orb, Poa, Priority, PriorityModel};
use punctual_harness::{Child, ChildSpec, child::Control};
use serde::{Deserialize, Serialize};

use super::START;
use crate::{cubit::Servant, error::Error, idl::cubit::bench::CubitRef};

pub(crate) const SERVER_ROLE: &str = "__mt-cubit-server";

/// A thread pool of the server, with its servants.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Pool {
    pub(crate) threads: Threads,
    /// Number of servants; clients select them by index.
    pub(crate) servants: usize,
}

/// The threads of a pool.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Threads {
    /// A lane of one thread for each of these CORBA priorities. Clients propagate theirs.
    Lanes(Vec<i16>),
    /// Threads at one priority without lanes, which serve requests in order of arrival.
    WithoutLanes { threads: usize, priority: i16 },
}

/// Enough for a simple upcall even without optimisation, and small enough for a hundred locked stacks.
pub(in crate::orb) const STACK_BYTES: usize = 512 << 10;

/// Starts a server with these pools; returns the references of each pool's servants.
pub(in crate::orb) fn spawn(server: ChildSpec, pools: &[Pool]) -> Result<(Child, Vec<Vec<String>>), Error> {
    Ok(server.argument(serde_json::to_string(pools)?).spawn(START)?)
}

/// Runs the server process. Argument: its pools. It reports the references of each pool's servants when it is
/// ready.
pub(crate) fn server(arguments: &[String]) -> Result<(), Error> {
    let pools = arguments.first().ok_or("the server process needs its pools")?;
    let pools: Vec<Pool> = serde_json::from_str(pools)?;
    let orb = Orb::builder().listen("iiop://127.0.0.1:0").build()?;
    let mut references = Vec::new();
    for (number, pool) in pools.iter().enumerate() {
        let poa = poa(&orb, &format!("pool-{number}"), &pool.threads)?;
        let activate = |_| -> Result<String, Error> {
            let servant: CubitRef = poa.activate(Servant)?;
            Ok(servant.to_ior())
        };
        references.push((0..pool.servants).map(activate).collect::<Result<Vec<_>, _>>()?);
    }
    let control = Control::ready(&references)?;
    control.serve(|()| Ok::<(), String>(()))?;
    Ok(())
}

fn poa(orb: &Orb, name: &str, threads: &Threads) -> Result<Poa, Error> {
    let poa = orb.root_poa().child(name);
    Ok(match threads {
        Threads::Lanes(priorities) => {
            let mut pool = orb.threadpool();
            for &priority in priorities {
                pool = pool.lane_with(LaneSpec::new(Priority::new(priority)?).stack_bytes(STACK_BYTES));
            }
            let lowest = priorities.iter().min().ok_or("lanes need priorities")?;
            let model = PriorityModel::ClientPropagated {
                default: Priority::new(*lowest)?,
            };
            poa.threadpool(&pool.build()?).priority_model(model).build()?
        }
        Threads::WithoutLanes { threads, priority } => {
            let pool = orb
                .threadpool()
                .threads(*threads)
                .default_priority(Priority::new(*priority)?)
                .stack_bytes(STACK_BYTES);
            poa.threadpool(&pool.build()?).build()?
        }
    })
}
