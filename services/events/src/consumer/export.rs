//! A consumer that is a gateway of another process, which takes events to where the channel cannot look.

use std::sync::atomic::Ordering::Relaxed;

use super::Consumer;
use crate::{GatewayStatistics, gateway::Counters, rtec::punctual_events::ExportTotals};

impl Consumer {
    /// Takes over what the gateway has counted.
    pub(crate) fn report_export(&self, totals: &ExportTotals) {
        let counters = self.export.get_or_init(|| Counters::new(self.name()));
        counters.take_export_totals(totals);
    }

    /// Fates of the events that the gateway has got; `None`: nothing was reported.
    pub(crate) fn export(&self) -> Option<GatewayStatistics> {
        let reported = self.export.get()?.statistics();
        let others = [reported.returned, reported.expired, reported.lost];
        let others = others.into_iter().fold(0, u64::saturating_add);
        let delivered = self.counters.delivered.load(Relaxed);
        Some(GatewayStatistics {
            forwarded: delivered.saturating_sub(others),
            ..reported
        })
    }
}
