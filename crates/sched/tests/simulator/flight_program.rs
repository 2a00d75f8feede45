use std::time::Duration;
use punctual_sched::simulator::{Shedding, studies::operational_flight_program};
use crate::support::simulate;

#[test]
fn look() {
    for load in [1.18, 1.2, 1.22] {
        for scheduler in ["RMS"] {
          for seed in [1,2,3,4,5] {
            for shedding in [Shedding::None, Shedding::NonCritical] {
                let model = operational_flight_program(load, shedding);
                let (_, s) = simulate(&model, scheduler, seed, Duration::from_secs(20));
                let sum = |critical: bool, what: &dyn Fn(&punctual_sched::simulator::TaskStatistics) -> u64| -> u64 {
                    s.tasks.iter().zip(&model.tasks).filter(|(_, t)| t.parameters.unwrap().is_critical() == critical).map(|(t, _)| what(t)).sum()
                };
                println!("{load} {scheduler:4} {shedding:?}: critical made {} missed {} (skip {}) | other made {} missed {} late {} shed {} skip {} disp+missed {} | utility {} dec {} sw {} util {:.2}",
                    sum(true, &|t| t.made), sum(true, &|t| t.missed()), sum(true,&|t| t.skipped),
                    sum(false, &|t| t.made), sum(false, &|t| t.missed()), sum(false, &|t| t.late), sum(false,&|t| t.shed), sum(false,&|t| t.skipped),
                    sum(false, &|t| t.dispatched_and_missed), s.tasks.iter().map(|t| t.utility).sum::<u64>(), s.hosts[0].decisions, s.hosts[0].switches, s.hosts[0].utilization(1, s.until));
            }
          }
        }
    }
}
