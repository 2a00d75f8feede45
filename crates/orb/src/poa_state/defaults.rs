//! Policies of adapters whose builders do not set them.

use std::sync::Arc;

use punctual_sched::PriorityTransform;
use punctual_types::{Priority, PriorityBand};

use crate::{OnExcess, Peers, PriorityModel, pools::info::PoolInfo};

/// Policies of the ORB, used by adapters whose builders do not set them.
#[derive(Clone, Default)]
pub(crate) struct PoaDefaults {
    pub(crate) pool: Option<Arc<PoolInfo>>,
    pub(crate) model: Option<PriorityModel>,
    pub(crate) bands: Option<Vec<PriorityBand>>,
    pub(crate) transform: Option<Arc<dyn PriorityTransform>>,
    /// Rules that apply after those of the adapter.
    pub(crate) accepted: Vec<(Peers, Priority)>,
    pub(crate) highest_accepted: Option<Priority>,
    pub(crate) on_excess: Option<OnExcess>,
}
