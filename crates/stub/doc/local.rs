// A minimal runtime for the examples of this crate: the calling thread executes the call.

use std::sync::Arc;

use punctual_cdr::{Decode, Decoder, Encode, Encoder, Endian, Ior, TaggedProfile};
use punctual_stub::{
    Call, ObjectRef, Orb, OrbContext, Outcome, Phase, PoliciesInForce, PolicyConflict, PolicyOverrides,
    Response, ReusePool, Servant, Skeleton, Target, Upcall, servant,
};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

/// Activates `implementation` and returns a reference to it.
pub fn activate<R, S>(implementation: S) -> R
where
    R: Skeleton<S> + 'static,
    S: Send + Sync + 'static,
{
    let ior = Ior {
        type_id: R::REPOSITORY_ID.to_owned(),
        profiles: vec![TaggedProfile::default()],
    };
    let target = Local {
        ior,
        orb: OrbContext(Arc::new(NoOrb)),
        servant: servant::<R, S>(implementation),
    };
    R::from_object(ObjectRef::new(Arc::new(target)))
}

#[derive(Clone)]
struct Local {
    ior: Ior,
    orb: OrbContext,
    servant: Arc<dyn Servant>,
}

impl Target for Local {
    fn ior(&self) -> &Ior {
        &self.ior
    }

    fn orb(&self) -> &OrbContext {
        &self.orb
    }

    fn invoke(&self, call: &mut Call<'_>) -> Result<(), SystemException> {
        let (mut request, mut reply, mut pool) = (Vec::new(), Vec::new(), ReusePool::default());
        (call.perform)(Phase::Arguments(&mut Encoder::new(&mut request, Endian::NATIVE)))
            .map_err(|error| error.system_exception(Completion::No))?;
        let arguments = Decoder::new(&request, Endian::NATIVE);
        let results = Encoder::new(&mut reply, Endian::NATIVE);
        let two_way = call.response == Response::WithTarget;
        let mut upcall = Upcall::new(call.operation, arguments, results, 1, two_way, &mut pool);
        match call.operation {
            "_is_a" => {
                let result = upcall.argument().map(|id| self.servant.is_a(id))?;
                upcall.reply(|reply| result.encode(reply))?;
            }
            "_non_existent" => upcall.reply(|reply| false.encode(reply))?,
            _ => self.servant.dispatch(&mut upcall)?,
        }
        let outcome = upcall.outcome();
        drop(upcall);
        if !two_way {
            return Ok(());
        }
        let mut decoder = Decoder::new(&reply, Endian::NATIVE);
        let declared = match outcome {
            Outcome::Deferred | Outcome::Forwarded => unreachable!("it answers itself"),
            Outcome::NoException => (call.perform)(Phase::Results(&mut decoder)).map(|()| true),
            Outcome::UserException => {
                String::decode(&mut decoder).and_then(|id| (call.raised)(&id, &mut decoder))
            }
        };
        match declared {
            Ok(true) => Ok(()),
            Ok(false) => Err(failure(SystemExceptionKind::Unknown, Minor::EXCEPTION_UNDECLARED)),
            Err(error) => Err(error.system_exception(Completion::Yes)),
        }
    }

    fn locate(&self) -> Result<bool, SystemException> {
        Ok(true)
    }

    fn with_policies(&self, _: PolicyOverrides) -> Arc<dyn Target> {
        Arc::new(self.clone())
    }

    fn policies_in_force(&self) -> PoliciesInForce {
        PoliciesInForce::default()
    }

    fn inconsistent_policies(&self) -> Vec<PolicyConflict> {
        Vec::new()
    }
}

struct NoOrb;

impl Orb for NoOrb {
    fn bind(&self, _: Ior) -> Result<Arc<dyn Target>, SystemException> {
        Err(failure(SystemExceptionKind::InvObjref, Minor::NO_USABLE_PROFILE))
    }
}

fn failure(kind: SystemExceptionKind, minor: Minor) -> SystemException {
    SystemException::new(kind, minor, Completion::No)
}
