//! An ORB without network: calls of stubs go to skeletons in the same process.

use std::sync::{Arc, Mutex, Weak};

use punctual_cdr::{Arena, CharSet, Decode, Decoder, Encode, Encoder, Endian, Ior, TaggedProfile};
use punctual_stub::{
    Call, ObjectRef, Orb, OrbContext, Outcome, Phase, PoliciesInForce, PolicyConflict, PolicyOverrides,
    Response, ReusePool, Servant, Skeleton, Target, Upcall, servant,
};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

/// An ORB without a network: a call encodes its request, dispatches it to the servant, and decodes the reply.
pub struct MemoryOrb {
    itself: Weak<Self>,
    endian: Endian,
    servants: Mutex<Vec<Arc<dyn Servant>>>,
    pool: Mutex<ReusePool>,
}

impl MemoryOrb {
    /// An ORB whose messages have this byte order.
    pub fn new(endian: Endian) -> Arc<Self> {
        Arc::new_cyclic(|itself| Self {
            itself: itself.clone(),
            endian,
            servants: Mutex::default(),
            pool: Mutex::default(),
        })
    }

    /// Makes an object of a servant.
    pub fn activate<R, S>(&self, implementation: S) -> R
    where
        R: Skeleton<S> + 'static,
        S: Send + Sync + 'static,
    {
        let mut servants = self.servants.lock().unwrap();
        let ior = Ior {
            type_id: String::from(R::REPOSITORY_ID),
            profiles: vec![TaggedProfile {
                tag: 0,
                data: vec![servants.len() as u8],
            }],
        };
        servants.push(servant::<R, S>(implementation));
        R::from_object(ObjectRef::new(self.bind(ior).unwrap()))
    }

    /// Returns the context in which decoders bind references.
    pub fn context(&self) -> OrbContext {
        OrbContext(self.itself.upgrade().expect("the ORB is alive"))
    }

    fn invoke(&self, ior: &Ior, call: &mut Call<'_>) -> Result<(), SystemException> {
        let object = usize::from(ior.profiles[0].data[0]);
        let servant = self.servants.lock().unwrap()[object].clone();
        let context = self.context();

        let mut request = Vec::new();
        let mut encoder = Encoder::new(&mut request, self.endian).with_char_set(CharSet::Utf8);
        (call.perform)(Phase::Arguments(&mut encoder))
            .map_err(|error| error.system_exception(Completion::No))?;

        let arena = Arena::new();
        let decoder = |octets| {
            Decoder::new(octets, self.endian)
                .with_char_set(CharSet::Utf8)
                .with_context(&context)
        };
        let mut arguments = decoder(&request).with_arena(&arena);
        if call.operation == "_is_a" {
            let id = <&str>::decode(&mut arguments).unwrap();
            let mut reply = Vec::new();
            servant
                .is_a(id)
                .encode(&mut Encoder::new(&mut reply, self.endian))
                .unwrap();
            let results = &mut decoder(&reply);
            return (call.perform)(Phase::Results(results))
                .map_err(|error| error.system_exception(Completion::Yes));
        }

        let mut reply = Vec::new();
        let encoder = Encoder::new(&mut reply, self.endian).with_char_set(CharSet::Utf8);
        let mut pool = std::mem::take(&mut *self.pool.lock().unwrap());
        let response_expected = call.response == Response::WithTarget;
        let mut upcall = Upcall::new(
            call.operation,
            arguments,
            encoder,
            8,
            response_expected,
            &mut pool,
        );
        let dispatched = servant.dispatch(&mut upcall);
        let outcome = upcall.outcome();
        *self.pool.lock().unwrap() = pool;
        if !response_expected {
            assert!(reply.is_empty(), "a oneway call has no reply");
            return Ok(());
        }
        dispatched?;

        let mut results = decoder(&reply);
        match outcome {
            Outcome::NoException => {
                (call.perform)(Phase::Results(&mut results))
                    .map_err(|error| error.system_exception(Completion::Yes))?;
                assert_eq!(results.remaining(), 0, "{} left octets behind", call.operation);
                Ok(())
            }
            Outcome::Deferred | Outcome::Forwarded => unreachable!("no test does so"),
            Outcome::UserException => {
                let id = String::decode(&mut results).unwrap();
                let known = (call.raised)(&id, &mut results);
                let known = known.map_err(|error| error.system_exception(Completion::Yes))?;
                if known {
                    return Ok(());
                }
                let minor = Minor::EXCEPTION_UNDECLARED;
                Err(SystemException::new(
                    SystemExceptionKind::Unknown,
                    minor,
                    Completion::Yes,
                ))
            }
        }
    }
}

impl Orb for MemoryOrb {
    fn bind(&self, ior: Ior) -> Result<Arc<dyn Target>, SystemException> {
        Ok(Arc::new(MemoryTarget {
            orb: self.context(),
            itself: self.itself.clone(),
            ior,
        }))
    }
}

struct MemoryTarget {
    orb: OrbContext,
    itself: Weak<MemoryOrb>,
    ior: Ior,
}

impl Target for MemoryTarget {
    fn ior(&self) -> &Ior {
        &self.ior
    }

    fn orb(&self) -> &OrbContext {
        &self.orb
    }

    fn invoke(&self, call: &mut Call<'_>) -> Result<(), SystemException> {
        self.itself
            .upgrade()
            .expect("the ORB is alive")
            .invoke(&self.ior, call)
    }

    fn locate(&self) -> Result<bool, SystemException> {
        Ok(true)
    }

    fn with_policies(&self, _: PolicyOverrides) -> Arc<dyn Target> {
        Arc::new(Self {
            orb: self.orb.clone(),
            itself: self.itself.clone(),
            ior: self.ior.clone(),
        })
    }

    fn policies_in_force(&self) -> PoliciesInForce {
        PoliciesInForce::default()
    }

    fn inconsistent_policies(&self) -> Vec<PolicyConflict> {
        Vec::new()
    }
}
