//! Calls to objects of the same ORB: encoded and decoded like any other, but on the calling thread and without a connection.
//!
//! So a servant cannot tell who calls, and arguments are never shared between caller and servant.

use punctual_cdr::{CharSet, Decode, Decoder, Encoder, Endian};
use punctual_stub::{Call, OrbContext, Outcome, Phase, Response, Upcall};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::{Route, thread_state::CallFrame};
use crate::{
    current,
    orb_core::OrbCore,
    server::{Demultiplexed, run_servant},
};

pub(super) fn call(
    core: &OrbCore,
    orb: &OrbContext,
    route: &Route,
    frame: &mut CallFrame,
    call: &mut Call<'_>,
) -> Result<(), SystemException> {
    let CallFrame {
        request,
        reply,
        arena,
        pool,
        ..
    } = frame;
    let object = match core.demultiplex(&route.object_key) {
        Demultiplexed::Object(object) => object,
        _ => return Err(not_exist()),
    };
    let request = request.clear();
    let limit = core.limits.max_message_size;
    let mut encoder = Encoder::new(request, Endian::NATIVE)
        .with_char_set(CharSet::Utf8)
        .with_limit(limit);
    (call.perform)(Phase::Arguments(&mut encoder)).map_err(|error| error.system_exception(Completion::No))?;

    reply.clear();
    arena.reset();
    let decoder = |octets| {
        Decoder::new(octets, Endian::NATIVE)
            .with_char_set(CharSet::Utf8)
            .with_nesting_limit(core.limits.max_nesting)
            .with_context(orb)
    };
    let two_way = call.response == Response::WithTarget;
    let arguments = decoder(request.as_slice()).with_arena(arena);
    let results = Encoder::new(reply, Endian::NATIVE)
        .with_char_set(CharSet::Utf8)
        .with_limit(limit);
    let mut upcall = Upcall::new(call.operation, arguments, results, 1, two_way, pool);
    let outcome = {
        let placement = object.placement_collocated(core)?;
        let _native = placement.enter();
        let _current = current::during_upcall(placement.current, object.transform.as_ref());
        run_servant(&*object.servant, &mut upcall).map(|()| upcall.outcome())
    };
    drop(object);
    match outcome {
        _ if !two_way => Ok(()),
        Err(exception) => Err(exception),
        Ok(outcome) => decode_results(outcome, decoder(reply.as_slice()), call),
    }
}

pub(super) fn locate(core: &OrbCore, route: &Route) -> bool {
    matches!(core.demultiplex(&route.object_key), Demultiplexed::Object(_))
}

fn decode_results(
    outcome: Outcome,
    mut decoder: Decoder<'_>,
    call: &mut Call<'_>,
) -> Result<(), SystemException> {
    let result = match outcome {
        Outcome::NoException => (call.perform)(Phase::Results(&mut decoder)).map(|()| true),
        Outcome::UserException => {
            String::decode(&mut decoder).and_then(|id| (call.raised)(&id, &mut decoder))
        }
    };
    match result {
        Ok(true) => Ok(()),
        Ok(false) => {
            let minor = Minor::EXCEPTION_UNDECLARED;
            Err(SystemException::new(
                SystemExceptionKind::Unknown,
                minor,
                Completion::Yes,
            ))
        }
        Err(error) => Err(error.system_exception(Completion::Yes)),
    }
}

fn not_exist() -> SystemException {
    SystemException::new(
        SystemExceptionKind::ObjectNotExist,
        Minor::OBJECT_DEACTIVATED,
        Completion::No,
    )
}
