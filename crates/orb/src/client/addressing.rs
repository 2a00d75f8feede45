//! Form in which requests address their object: by key, by profile, or by the whole reference.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use punctual_cdr::Ior;
use punctual_giop::{AddressingDisposition, TargetAddress, Version};

/// How requests along a route name their object: by its key, until the server requests another form.
pub(crate) struct Addressing {
    ior: Arc<Ior>,
    /// Number of the profile that was chosen.
    profile: usize,
    /// An `AddressingDisposition`.
    form: AtomicU32,
}

const KEY: u32 = AddressingDisposition::KeyAddr as u32;
const PROFILE: u32 = AddressingDisposition::ProfileAddr as u32;

impl Addressing {
    /// Addresses the object by its key.
    pub(crate) fn new(ior: &Arc<Ior>, profile: usize) -> Self {
        Self {
            ior: Arc::clone(ior),
            profile,
            form: AtomicU32::new(KEY),
        }
    }

    /// Returns the reference.
    pub(crate) fn ior(&self) -> &Ior {
        &self.ior
    }

    pub(crate) fn target<'r>(&'r self, object_key: &'r [u8]) -> TargetAddress<'r> {
        match self.form() {
            KEY => TargetAddress::Key(object_key),
            PROFILE => TargetAddress::Profile(&self.ior.profiles[self.profile]),
            _ => TargetAddress::Reference {
                index: self.profile as u32,
                ior: &self.ior,
            },
        }
    }

    /// Returns an `AddressingDisposition`.
    pub(crate) fn form(&self) -> u32 {
        self.form.load(Ordering::Relaxed)
    }

    /// Changes the form; `false` if it is this form already, or messages of this version cannot have it.
    pub(crate) fn change(&self, form: AddressingDisposition, version: Version) -> bool {
        let form = form as u32;
        version >= Version::V1_2 && self.form.swap(form, Ordering::Relaxed) != form
    }
}
