//! `punctual scheduler serve`: the scheduler as an object.

use std::{error::Error, process::ExitCode, thread, time::Duration};

use punctual::Orb;
use punctual_scheduling::rtec::{SchedulerLimits, SchedulerServant, idl::punctual_scheduling::SchedulerRef};
use punctual_system::signals::Termination;

use super::Serve;

/// Name of the published object.
const NAME: &str = "Scheduler";
/// Longest delay until a signal is noticed.
const SLICE: Duration = Duration::from_millis(100);

/// Serves until a signal ends it.
pub fn run(options: &Serve) -> Result<ExitCode, Box<dyn Error>> {
    let termination = Termination::watch()?;
    let orb = Orb::builder().listen(options.listen.as_str()).build()?;
    let thresholds = (options.critical_threshold, options.threshold);
    let pool = orb.threadpool().threads(1).build()?;
    let adapter = orb.root_poa().child("scheduling").threadpool(&pool).build()?;
    let servant = SchedulerServant::with(options.strategy, thresholds, SchedulerLimits::default());
    let scheduler: SchedulerRef = adapter.activate(servant)?;
    println!(
        "{} scheduler at {}",
        options.strategy,
        orb.publish(NAME, &scheduler)?
    );
    while termination.requested().is_none() {
        thread::sleep(SLICE);
    }
    orb.shutdown_and_wait()?;
    Ok(ExitCode::SUCCESS)
}
