//! Objects whose operations use a resource of their own: `RTScheduling::Scheduler::set_scheduling_parameter`.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicUsize, Ordering},
};

use punctual_cdr::{Decode, TaggedProfile};
use punctual_giop::{IiopProfile, Profile, TAG_INTERNET_IOP, TAG_PUNCTUAL_SHM, TAG_UIOP};
use punctual_os::PiMutex;
use punctual_sched::dynamic::{SchedulingParameters, resource::ResourceId};
use punctual_stub::ObjectRef;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use crate::{RtScheduling, SchedulingError, dispatcher::Dispatcher};

/// Which objects of this endsystem are resources.
#[derive(Default)]
pub(crate) struct ObjectResources {
    /// Without one, requests do not look.
    number: AtomicUsize,
    by_key: PiMutex<HashMap<Vec<u8>, ResourceId>>,
}

impl RtScheduling {
    /// `Scheduler::set_scheduling_parameter`: from now on one distributable thread at a time is in operations of the object, and
    /// is scheduled by at least these parameters there: those of the most eligible thread that calls it. Set again, it gets other
    /// parameters, for threads that come from then on.
    ///
    /// As a [`ResourceManager`](crate::ResourceManager) that each request locks before the servant is called, and releases before
    /// the reply is sent. A thread that is called back finds that it has it. Threads wait without a deadline, on the thread of the lane
    /// that serves them, so the lane wants as many threads as there are callers. A request without a distributable thread has one for
    /// as long as it lasts, with the endsystem's default parameters.
    ///
    /// # Errors
    /// The parameters are for another scheduler; BAD_PARAM: the reference has no profile that is known here.
    pub fn set_scheduling_parameter(
        &self,
        object: &ObjectRef,
        parameters: SchedulingParameters,
    ) -> Result<(), SchedulingError> {
        self.endsystem.check(&parameters)?;
        let mut keys: Vec<Vec<u8>> = object.ior().profiles.iter().filter_map(object_key).collect();
        keys.dedup();
        if keys.is_empty() {
            let unknown = SystemException::new(SystemExceptionKind::BadParam, Minor::NONE, Completion::No);
            return Err(unknown.into());
        }
        self.endsystem
            .objects
            .set(&self.endsystem.dispatcher, keys, parameters);
        Ok(())
    }
}

impl ObjectResources {
    /// The resource that a request for the object uses.
    pub(crate) fn find(&self, object_key: Option<&[u8]>) -> Option<ResourceId> {
        if self.number.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.by_key.lock().get(object_key?).copied()
    }

    fn set(&self, dispatcher: &Dispatcher, keys: Vec<Vec<u8>>, parameters: SchedulingParameters) {
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
        self.number.store(by_key.len(), Ordering::Release);
    }
}

fn object_key(profile: &TaggedProfile) -> Option<Vec<u8>> {
    match profile.tag {
        TAG_INTERNET_IOP => IiopProfile::decode(profile)
            .ok()
            .map(|profile| profile.object_key),
        TAG_UIOP | TAG_PUNCTUAL_SHM => Profile::decode_with(profile, String::decode)
            .ok()
            .map(|profile| profile.object_key),
        _ => None,
    }
}
