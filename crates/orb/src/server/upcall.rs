//! Step 13 of a call, its upcall: the servant, and the operations of `CORBA::Object`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use punctual_cdr::{Encode, Ior};
use punctual_flight::{Event, Record, record};
use punctual_stub::{Servant, Upcall};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use crate::current;

/// Runs an operation of the object itself or of `CORBA::Object`. A panic of the servant becomes UNKNOWN.
#[inline(always)]
pub(crate) fn run_servant(servant: &dyn Servant, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
    // Operations of `CORBA::Object` begin with an underscore; so do attributes, which `object_operation`
    // leaves alone.
    if upcall.operation().starts_with('_')
        && !servant.executes_object_operations()
        && let Some(result) = object_operation(servant, upcall)
    {
        return result;
    }
    dispatch(servant, upcall)
}

#[inline(always)]
fn dispatch(servant: &dyn Servant, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
    // The servant is shared and the next request overwrites the buffers: no inconsistent state remains
    // visible.
    record(|| Record::new(Event::UpcallBegin).priority(current::explicit_priority().map(Priority::value)));
    let dispatched = guarded(|| servant.dispatch(upcall));
    record(|| Record::new(Event::UpcallEnd));
    dispatched?.map_err(SystemException::relayed)
}

/// Runs code of the servant. A panic becomes UNKNOWN.
#[inline(always)]
fn guarded<R>(run: impl FnOnce() -> R) -> Result<R, SystemException> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| {
        let (kind, minor) = (SystemExceptionKind::Unknown, Minor::SERVANT_PANICKED);
        SystemException::new(kind, minor, Completion::Maybe)
    })
}

/// Runs an operation of `CORBA::Object`; `None` for other operations.
///
/// Source: CORBA 3.3 part 2, 9.4.2.2 (names on the wire).
fn object_operation(
    servant: &dyn Servant,
    upcall: &mut Upcall<'_, '_>,
) -> Option<Result<(), SystemException>> {
    Some(match upcall.operation() {
        "_is_a" => upcall
            .argument::<&str>()
            .and_then(|id| guarded(|| servant.is_a(id)))
            .and_then(|answer| upcall.reply(|reply| answer.encode(reply))),
        // The second spelling is that of GIOP 1.0.
        "_non_existent" | "_not_existent" => upcall.reply(|reply| false.encode(reply)),
        "_repository_id" => upcall.reply(|reply| servant.repository_id().encode(reply)),
        "_component" => upcall.reply(|reply| Ior::default().encode(reply)),
        "_interface" => guarded(|| servant.interface()).and_then(|interface| {
            let unknown =
                || SystemException::new(SystemExceptionKind::IntfRepos, Minor::NONE, Completion::No);
            let interface = interface.ok_or_else(unknown)?;
            upcall.reply(|reply| interface.ior().encode(reply))
        }),
        _ => return None,
    })
}
