//! Priority transform of an object.

use std::sync::Arc;

use punctual_sched::PriorityTransform;
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

/// Priority transform and the object that it is applied to.
pub(crate) struct ObjectTransform {
    pub(crate) transform: Arc<dyn PriorityTransform>,
    pub(crate) object_id: Box<[u8]>,
}

impl ObjectTransform {
    /// Returns the priority at which a request with this priority runs; fails with INTERNAL if the transform
    /// refuses.
    pub(crate) fn inbound(&self, priority: Priority) -> Result<Priority, SystemException> {
        self.transform
            .inbound(priority, &self.object_id)
            .ok_or_else(refused)
    }

    /// Returns the priority that a call of the servant propagates; fails with INTERNAL if the transform
    /// refuses.
    pub(crate) fn outbound(&self, priority: Priority) -> Result<Priority, SystemException> {
        self.transform
            .outbound(priority, &self.object_id)
            .ok_or_else(refused)
    }
}

fn refused() -> SystemException {
    let minor = Minor::PRIORITY_NOT_TRANSFORMED;
    SystemException::new(SystemExceptionKind::Internal, minor, Completion::No)
}
