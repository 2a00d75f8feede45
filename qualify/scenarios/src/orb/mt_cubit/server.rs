use punctual::{LaneSpec, Orb, Poa, Priority, PriorityModel};
use punctual_harness::{Child, ChildSpec, child::Control};
use serde::{Deserialize, Serialize};

use super::START;
use crate::{cubit::Servant, error::Error, idl::cubit::bench::CubitRef};

pub(crate) const SERVER_ROLE: &str = "__mt-cubit-server";

/// A thread pool of the server, with servants behind it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Pool {
    pub(crate) threads: Threads,
    /// How many; clients name them by number.
    pub(crate) servants: usize,
}

/// What serves the requests of a pool.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Threads {
    /// A lane of one thread for each of these CORBA priorities. Clients propagate theirs.
    Lanes(Vec<i16>),
    /// So many threads at one priority, which take requests in order of arrival.
    Classic { threads: usize, priority: i16 },
}

/// Enough for an upcall that cubes an octet, unoptimised too; a hundred threads have their stacks locked.
pub(in crate::orb) const STACK_BYTES: usize = 512 << 10;

/// Starts a server with these pools; gives the references of each pool's servants.
pub(in crate::orb) fn spawn(server: ChildSpec, pools: &[Pool]) -> Result<(Child, Vec<Vec<String>>), Error> {
    Ok(server.argument(serde_json::to_string(pools)?).spawn(START)?)
}

/// The server process. Argument: its pools. It says the references of each pool's servants.
pub(crate) fn server(arguments: &[String]) -> Result<(), Error> {
    let pools = arguments.first().ok_or("the server needs its pools")?;
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
        Threads::Classic { threads, priority } => {
            let pool = orb
                .threadpool()
                .threads(*threads)
                .default_priority(Priority::new(*priority)?)
                .stack_bytes(STACK_BYTES);
            poa.threadpool(&pool.build()?).build()?
        }
    })
}
