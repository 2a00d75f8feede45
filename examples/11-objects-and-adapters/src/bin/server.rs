//! A rack of 10,000 channels, each an object, of which only those that are called have a servant.

use punctual::prelude::*;
use punctual::{
    AnyServant, Completion, Declined, Etherealized, Poa, ServantActivator, SystemException,
    SystemExceptionKind,
};

punctual::include_idl!("rack");
use plant::{Channel, ChannelRef, NoChannel, Rack, RackRef, rack::FindError};

const CHANNELS: i32 = 10_000;

struct Sensor {
    number: i32,
}

impl Channel for Sensor {
    fn number(&self) -> Result<i32, SystemException> {
        Ok(self.number)
    }

    // A result and `out` parameters are returned together; an `inout` parameter is a reference.
    fn read(&self, readings: &mut i32) -> Result<(f64, bool), SystemException> {
        *readings += 1;
        Ok((f64::from(self.number) / 8.0, self.number % 2 == 0))
    }
}

/// Makes the servant of a channel when the channel is first called.
struct Sensors;

impl ServantActivator for Sensors {
    fn incarnate(&self, id: &[u8], _: &Poa) -> Result<AnyServant, Declined> {
        let number = id.try_into().map(i32::from_be_bytes);
        let number = number.map_err(|_| Declined::no_object())?;
        println!("channel {number} begins");
        Ok(AnyServant::new::<ChannelRef, _>(Sensor { number }))
    }

    fn etherealize(&self, id: &[u8], _: Etherealized) {
        let number = id.try_into().map(i32::from_be_bytes);
        println!("channel {} ends", number.unwrap_or(-1));
    }
}

struct Shelf {
    channels: Poa,
}

impl Rack for Shelf {
    fn find(&self, number: i32) -> Result<Option<ChannelRef>, FindError> {
        if !(0..CHANNELS).contains(&number) {
            let channels = CHANNELS;
            return Err(NoChannel { number, channels }.into());
        }
        // The id is all that the adapter needs to know: the reference costs no servant.
        let reference = self.channels.reference().id(number.to_be_bytes());
        Ok(Some(reference.create().map_err(refused)?))
    }

    fn reset(&self, one: Option<ChannelRef>) -> Result<(), SystemException> {
        if let Some(one) = one {
            self.channels.deactivate(&one).map_err(refused)?;
        }
        Ok(())
    }
}

/// Exception that a caller gets for an error of the adapter.
fn refused(_: OrbError) -> SystemException {
    SystemException::new(SystemExceptionKind::ObjAdapter, 0, Completion::No)
}

fn main() -> Result<(), OrbError> {
    let orb = Orb::builder().listen("iiop://localhost:2911").build()?;
    let poa = orb.root_poa().child("rack").build()?;
    // With ids of its own and `persistent`, a reference is valid in the server's next run, too.
    let channels = poa.child("channels").persistent().user_ids();
    let channels = channels.servant_activator(Sensors).build()?;
    let rack: RackRef = poa.activate(Shelf { channels })?;
    println!("Rack at {}", orb.publish("Rack", &rack)?);
    orb.run();
    Ok(())
}
