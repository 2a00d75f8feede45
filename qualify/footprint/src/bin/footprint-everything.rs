//! Client and server with the features of all other programs; value types, Any, a servant without
//! generated code and one that answers later besides. It prints a result, and waits until its standard input
//! ends.

use punctual::{
    ResponseHandler,
    any::{Any, AnyView, Kind, TypeCode},
    dynamic::{DynamicServant, RequestError, Upcall},
    prelude::*,
    rtscheduling::*,
    value::Shared,
};
use punctual_events::EventChannel;
use punctual_footprint::{Done, badge::Badge, served, wait};

punctual::include_idl!("everything");
use everything::{Alarm, Entry, Log, LogRef};

struct Host;

impl Log for Host {
    fn add(&self, one: Option<Shared<Entry>>) -> Result<Option<Shared<Entry>>, SystemException> {
        Ok(one)
    }

    fn keep(&self, value: AnyView<'_>) -> Result<Any, SystemException> {
        Ok(value.to_owned())
    }

    fn count(&self, from: i32, response: ResponseHandler<i32, SystemException>) {
        response.respond(Ok(from + 1));
    }
}

/// A servant without generated code.
struct Constant;

impl DynamicServant for Constant {
    fn repository_id(&self) -> String {
        "IDL:Constant:1.0".into()
    }

    fn invoke(&self, _: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError> {
        Ok(vec![Any::new(&7_i32)?])
    }
}

fn main() -> Done {
    let scheduling = RtScheduling::builder()
        .scheduler(MostImportantFirst::new())
        .build()?;
    let orb = Orb::builder()
        .listen("iiop://localhost:0")
        .initializer(&scheduling)
        .initializer(&Badge)
        .build()?;
    let low = Priority::MIN;
    let pool = orb.threadpool().lane(low, 1).lane(Priority::MAX, 1).build()?;
    let model = PriorityModel::ClientPropagated { default: low };
    let poa = orb.root_poa().child("lanes").threadpool(&pool);
    let poa = poa.priority_model(model).build()?;
    let echo = served(&orb, &poa)?;
    assert_eq!(echo.repeat_async(4).wait()?, 4);
    let important = SchedulingParameters::Importance { importance: 5 };
    let number = scheduling
        .current()
        .segment("echo", important, |_| Ok::<_, SchedulingError>(echo.repeat(4)?))?;
    assert_eq!(number, 4);
    let channel = EventChannel::builder().lane(low, 1).build()?;
    channel.serve(&orb, &orb.root_poa())?;
    typed_at_run_time(&orb, &poa)?;
    println!("{number}");
    wait()
}

/// Value types, Any, and calls without generated code.
fn typed_at_run_time(orb: &Orb, poa: &Poa) -> Done {
    let log: LogRef = poa.activate(Host)?;
    let log: LogRef = orb.resolve(&log.to_ior())?;
    let base = Entry {
        text: "hot".to_owned(),
    };
    let alarm = Shared::new(Alarm { base, severity: 3 }).widen();
    let entry = log.add(Some(&alarm))?.ok_or("null instead of the alarm")?;
    assert_eq!(entry.narrow::<Alarm>().map(|alarm| alarm.severity), Some(3));
    assert_eq!(log.keep(&Any::new("none")?)?.get::<String>()?, "none");
    assert_eq!(log.count(1)?, 2);
    let constant: ObjectRef = poa.activate(Constant)?;
    let long = TypeCode::basic(Kind::Long);
    let reply = constant.request("value").returns(long).invoke()?;
    assert_eq!(reply.result().get::<i32>()?, 7);
    Ok(())
}
