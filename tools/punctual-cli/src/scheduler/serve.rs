//! `punctual scheduler serve`: the scheduler as an object.

use std::{error::Error, process::ExitCode, thread, time::Duration};

use punctual::{Inspection, Orb};
use punctual_scheduling::rtec::{SchedulerLimits, SchedulerServant, idl::punctual_scheduling::SchedulerRef};
use punctual_system::signals::Termination;

use super::Serve;
use crate::tls;

/// Name of the published object.
const NAME: &str = "Scheduler";
/// Longest delay until a signal is noticed.
const SLICE: Duration = Duration::from_millis(100);

/// Serves until a signal ends it.
pub fn run(options: &Serve) -> Result<ExitCode, Box<dyn Error>> {
    let termination = Termination::watch()?;
    let builder = options.tls.applied_to(Orb::builder())?;
    let mut builder = builder.listen(options.listen.as_str());
    if let Some(socket) = &options.inspection {
        builder = builder.inspection(Inspection::at(socket));
    }
    let orb = builder.build().map_err(|error| {
        tls::missing_to_listen(&options.listen, &error).unwrap_or_else(|| error.to_string())
    })?;
    let thresholds = (options.critical_threshold, options.threshold);
    let servant = SchedulerServant::with(options.strategy, thresholds, SchedulerLimits::default())?;
    servant.show(&orb, NAME);
    let scheduler: SchedulerRef = orb.root_poa().activate(servant)?;
    println!(
        "{} scheduler at {}",
        options.strategy,
        orb.publish(NAME, &scheduler)?
    );
    thread::scope(|scope| {
        scope.spawn(|| orb.run());
        while termination.requested().is_none() {
            thread::sleep(SLICE);
        }
        orb.shutdown();
    });
    Ok(ExitCode::SUCCESS)
}
