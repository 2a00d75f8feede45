//! The process of the channel.

mod collocated;

use punctual::{Orb, Poa, Priority, PriorityModel};
use punctual_events::{ChannelLimits, EventChannel, Filter, Gateway, Overflow, RemoteChannel};
use punctual_harness::child::{Role, RoleError, TaskEntry};
use serde::{Deserialize, Serialize};

use super::{HIGH, LOW, TIMEOUT};
use crate::cubit::transport::Transport;

pub(super) use collocated::Collocated;

/// Configuration of a channel.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct ChannelSetup {
    pub(super) transport: Transport,
    /// Otherwise one lane serves all suppliers and consumers.
    pub(super) has_low_lane: bool,
    /// Length of the consumers' queues.
    pub(super) queue: usize,
    /// Whether suppliers wait for room in them; otherwise new events are lost.
    pub(super) blocks: bool,
    /// Channel whose events this one gets.
    pub(super) import: Option<String>,
}

/// References to the channel: clients of each push and connect with its priority.
#[derive(Deserialize, Serialize)]
pub(crate) struct References {
    pub(super) high: String,
    pub(super) low: String,
}

pub(crate) struct Channel {
    pub(super) orb: Orb,
    _channel: EventChannel,
    _gateway: Option<Gateway>,
}

impl Role for Channel {
    const NAME: &'static str = "__events-channel";
    type Setup = ChannelSetup;
    type Ready = References;
    const TASKS: &'static [TaskEntry<Self>] = &[TaskEntry::of::<Collocated>()];

    fn start(setup: ChannelSetup) -> Result<(Self, References), RoleError> {
        let (high, low) = (Priority::new(HIGH)?, Priority::new(LOW)?);
        let orb = Orb::builder().listen(setup.transport.endpoint()).build()?;
        let limits = ChannelLimits {
            // On one CPU, consumers of a low priority do not read while others run.
            send_timeout: TIMEOUT,
            ..ChannelLimits::default()
        };
        let rule = match setup.blocks {
            true => Overflow::Block(TIMEOUT),
            false => Overflow::DropNewest,
        };
        let builder = EventChannel::builder().orb(&orb).lane(high, 1);
        let builder = builder.limits(limits).queue(setup.queue, rule);
        let channel = match setup.has_low_lane {
            true => builder.lane(low, 1).build()?,
            false => builder.build()?,
        };
        let highs = adapter(&orb, high)?;
        let lows = match setup.has_low_lane {
            true => adapter(&orb, low)?,
            false => highs.clone(),
        };
        let gateway = setup.import.map(|from| {
            let from = RemoteChannel::new(orb.resolve(&from)?);
            Ok::<_, RoleError>(channel.import(&from, &highs, &Filter::every_event())?)
        });
        let references = References {
            high: channel.serve(&orb, &highs)?.reference().to_ior(),
            low: channel.serve(&orb, &lows)?.reference().to_ior(),
        };
        let channel = Self {
            orb,
            _channel: channel,
            _gateway: gateway.transpose()?,
        };
        Ok((channel, references))
    }
}

/// An adapter with a lane of one thread, whose requests all have this priority.
pub(super) fn adapter(orb: &Orb, priority: Priority) -> Result<Poa, RoleError> {
    let pool = orb.threadpool().lane(priority, 1).build()?;
    let name = format!("priority {}", priority.value());
    let poa = orb.root_poa().child(&name).threadpool(&pool);
    Ok(poa
        .priority_model(PriorityModel::ServerDeclared(priority))
        .build()?)
}
