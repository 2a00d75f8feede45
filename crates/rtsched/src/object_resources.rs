//! Objects that are resources: `RTScheduling::Scheduler::set_scheduling_parameter`.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicUsize, Ordering},
};

use punctual_os::PiMutex;
use punctual_sched::dynamic::{SchedulingParameters, resource::ResourceId};
use punctual_stub::ObjectRef;
use punctual_types::{Minor, SystemException};

use crate::{dispatcher::Dispatcher, error::bad_param};

/// The objects of this endsystem that are resources.
#[derive(Default)]
pub(crate) struct ObjectResources {
    /// Length of the longest key; 0 without any. Requests with longer keys, which any peer can send, skip the
    /// table.
    longest: AtomicUsize,
    by_key: PiMutex<HashMap<Vec<u8>, ResourceId>>,
}

impl ObjectResources {
    /// Returns the resource of the object that a request is for.
    pub(crate) fn find(&self, object_key: Option<&[u8]>) -> Option<ResourceId> {
        let key = object_key.filter(|key| key.len() <= self.longest.load(Ordering::Acquire))?;
        self.by_key.lock().get(key).copied()
    }

    /// Makes the object a resource with these parameters as its ceiling; BAD_PARAM if its reference has no
    /// known profile.
    pub(crate) fn set(
        &self,
        dispatcher: &Dispatcher,
        object: &ObjectRef,
        parameters: SchedulingParameters,
    ) -> Result<(), SystemException> {
        let profiles = object.orb().profiles(object.ior());
        let mut keys: Vec<Vec<u8>> = profiles.map(|profile| profile.object_key).collect();
        keys.dedup();
        if keys.is_empty() {
            return Err(bad_param(Minor::NONE));
        }
        let mut by_key = self.by_key.lock();
        let known = keys.iter().find_map(|key| by_key.get(key).copied());
        let resource = match known {
            Some(resource) => {
                dispatcher.set_ceiling(resource, parameters);
                resource
            }
            None => dispatcher.create_resource(Some(parameters)),
        };
        for key in keys {
            by_key.insert(key, resource);
        }
        let longest = by_key.keys().map(Vec::len).max().unwrap_or_default();
        self.longest.store(longest, Ordering::Release);
        Ok(())
    }
}
