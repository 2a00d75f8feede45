use std::sync::Arc;

use punctual_sched::PriorityTransform;
use punctual_types::{Priority, PriorityBand};

use crate::{OnExcess, Peers, PriorityModel, pool_info::PoolInfo};

/// What an adapter has where its builder says nothing: the ORB's own policies.
#[derive(Clone, Default)]
pub(crate) struct PoaDefaults {
    pub(crate) pool: Option<Arc<PoolInfo>>,
    pub(crate) model: Option<PriorityModel>,
    pub(crate) bands: Option<Vec<PriorityBand>>,
    pub(crate) transform: Option<Arc<dyn PriorityTransform>>,
    /// These hold after the adapter's own.
    pub(crate) accepted: Vec<(Peers, Priority)>,
    pub(crate) highest_accepted: Option<Priority>,
    pub(crate) on_excess: Option<OnExcess>,
}
