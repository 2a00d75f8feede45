use std::sync::Arc;

use punctual_sched::PriorityTransform;
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

/// A priority transform, and the object it is applied for.
pub(crate) struct ObjectTransform {
    pub(crate) transform: Arc<dyn PriorityTransform>,
    pub(crate) object_id: Box<[u8]>,
}

impl ObjectTransform {
    /// The priority at which a request runs that came with this one; INTERNAL where the transform refuses.
    pub(crate) fn inbound(&self, priority: Priority) -> Result<Priority, SystemException> {
        self.transform
            .inbound(priority, &self.object_id)
            .ok_or_else(refused)
    }

    /// The priority that a call of the servant carries; INTERNAL where the transform refuses.
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
