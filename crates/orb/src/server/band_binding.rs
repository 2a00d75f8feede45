//! The implicit request `_bind_priority_band`: a client binds its connection to one of its bands.
//!
//! Source: Real-time CORBA 1.2, binding of priority banded connections. Cases that it leaves open are treated
//! as in a client: INV_POLICY for an unavailable band.

use punctual_giop::{RT_CORBA_PRIORITY_RANGE, ServiceContexts, decode_priority_range};
use punctual_types::{
    Completion, Minor, Priority, PriorityBand, SystemException, SystemExceptionKind as Kind,
};

use super::ActiveObject;
use crate::{
    PriorityModel,
    pools::{accepted_priorities::Origin, lane_data::LaneContext},
};

/// Binds the connection from `origin`, accepted by `lane`, to the band in the request's service context.
/// Fails with MARSHAL or BAD_PARAM if the band is missing or malformed; with INV_POLICY if the object's
/// adapter has other bands, no lane serves it, or it does not contain the object's own priority; with
/// BAD_INV_ORDER if the connection is bound to another band.
///
/// A client can bind a banded connection at the server (`_bind_priority_band` with service context 11;
/// `PolicyOverrides::binds_bands`), which costs one round trip per connection. The band is one word in the
/// connection; requests outside it get INV_POLICY.
pub(super) fn bind(
    (object, model): (&ActiveObject, PriorityModel),
    lane: &LaneContext,
    origin: &Origin,
    contexts: ServiceContexts<'_>,
) -> Result<(), SystemException> {
    let failure = |kind, minor| Err(SystemException::new(kind, minor, Completion::No));
    let Some(data) = contexts.find(RT_CORBA_PRIORITY_RANGE) else {
        return failure(Kind::BadParam, Minor::BAND_MISSING);
    };
    let (low, high) = decode_priority_range(data).map_err(|error| error.system_exception(Completion::No))?;
    let (Ok(low), Ok(high)) = (Priority::new(low), Priority::new(high)) else {
        return failure(Kind::BadParam, Minor::NONE);
    };
    let band = PriorityBand::new(low, high);
    if low > high {
        return failure(Kind::BadParam, Minor::BAND_MALFORMED);
    }
    object
        .poa
        .check_band(lane, band)
        .or_else(|minor| failure(Kind::InvPolicy, minor))?;
    if matches!(model, PriorityModel::ServerDeclared(own) if !band.contains(own)) {
        return failure(Kind::InvPolicy, Minor::PRIORITY_OUTSIDE_BANDS);
    }
    if !origin.band.bind(band) {
        return failure(Kind::BadInvOrder, Minor::CONNECTION_BOUND_ALREADY);
    }
    Ok(())
}
