//! The client process: blocks of calls or of the raw ping-pong.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use punctual::{Orb, Priority, any::Any};
use punctual_cdr::{CharSet, Decode, Encode, Encoder, Endian};
use punctual_giop::{
    IiopProfile, MessageType, MessageWriter, OutgoingRequest, Profile, ReplyStatus, ResponseFlags,
    ServiceContext, TAG_INTERNET_IOP, TargetAddress, Version, begin_body, encode_reply_header,
    encode_request, end_body,
};
use punctual_harness::{
    ChildSpec, Latencies, Span,
    child::{Process, Role, Task, TaskEntry},
};
use punctual_os::{CpuSet, alloc_counter, clock};
use serde::{Deserialize, Serialize};

use super::{
    operation::Operation,
    raw::{RawAddress, RawClient, Sizes},
    server::{Fault, PRIORITY, Ready},
    transport::Transport,
};
use crate::{
    error::Error,
    idl::cubit::bench::{CubitRef, Many},
    orb::throughput,
};

/// Timeout of a block.
pub(super) const BLOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// A block of calls, as the driver requests it.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Block {
    pub(crate) operation: Operation,
    pub(crate) kind: Kind,
    pub(crate) length: Length,
    /// Whether the result contains every latency; without them, its size does not depend on the number of
    /// calls.
    pub(crate) with_latencies: bool,
}

/// The kind of exchange in a block.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Kind {
    /// Calls through the ORB.
    Ours,
    /// The raw ping-pong of the operation's octets.
    Raw(Transport),
}

/// The length of a block.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) enum Length {
    Calls(u32),
    Seconds(u64),
}

/// The result of a block.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Measured {
    pub(crate) latencies: Option<Latencies>,
    pub(crate) calls: u64,
    /// Number of wrong results.
    pub(crate) errors: u64,
    pub(crate) elapsed_ns: u64,
    /// Time from the first counted call to the end of the last.
    pub(crate) span: Span,
    /// Heap allocations of the calling thread.
    pub(crate) client_allocations: u64,
    /// Heap allocations of the lane's thread.
    pub(crate) server_allocations: u64,
    pub(crate) sizes: Sizes,
}

/// Parameters of the client process.
#[derive(Deserialize, Serialize)]
pub(crate) struct ClientSetup {
    ior: String,
    raw_addresses: Vec<RawAddress>,
    fault: Option<Fault>,
}

/// Starts the client process of a server.
pub(crate) fn spawn(
    server: &Ready,
    cpus: &CpuSet,
    environment: &[(&str, String)],
    timeout: Duration,
) -> Result<Process<Caller>, Error> {
    let setup = ClientSetup {
        ior: server.ior.clone(),
        raw_addresses: server.raw.clone(),
        fault: server.fault,
    };
    let client = ChildSpec::of::<Caller>("client").environments(environment);
    let (client, ()) = client.affinity(cpus.clone()).start::<Caller>(&setup, timeout)?;
    Ok(client)
}

/// The client process.
pub(crate) struct Caller {
    /// References work as long as it exists.
    _orb: Orb,
    cubit: CubitRef,
    raw_addresses: Vec<RawAddress>,
    raw: HashMap<(Transport, Operation), RawClient>,
    values: Values,
    fault: Option<Fault>,
    /// State of `orb.throughput`.
    throughput: throughput::State,
}

impl Role for Caller {
    const NAME: &'static str = "__cubit-client";
    type Setup = ClientSetup;
    type Ready = ();
    const TASKS: &'static [TaskEntry<Self>] = &[
        TaskEntry::of::<Block>(),
        TaskEntry::of::<throughput::TimedBlock>(),
    ];

    fn start(setup: ClientSetup) -> Result<(Self, ()), Error> {
        let orb = Orb::builder().build()?;
        let cubit: CubitRef = orb.resolve(&setup.ior)?;
        orb.current().set_priority(Priority::new(PRIORITY)?)?;
        // Warm-up: buffers and connection reach their final size.
        cubit.allocations()?;
        let caller = Self {
            _orb: orb,
            cubit,
            raw_addresses: setup.raw_addresses,
            raw: HashMap::new(),
            values: Values::new()?,
            fault: setup.fault,
            throughput: throughput::State::new(),
        };
        Ok((caller, ()))
    }
}

impl Task<Caller> for Block {
    const NAME: &'static str = "block";
    type Reply = Measured;

    fn perform(self, caller: &mut Caller) -> Result<Measured, Error> {
        caller.measure(self)
    }
}

impl Task<Caller> for throughput::TimedBlock {
    const NAME: &'static str = "timed-block";
    type Reply = throughput::Measured;

    fn perform(self, caller: &mut Caller) -> Result<throughput::Measured, Error> {
        self.measure(&caller.cubit, &mut caller.throughput)
    }
}

/// Arguments and buffers for results.
struct Values {
    text: String,
    longs: Vec<i32>,
    octets: Vec<u8>,
    many: Vec<Many>,
    text_result: String,
    long_results: Vec<i32>,
    octet_results: Vec<u8>,
    many_results: Vec<Many>,
    any: Any,
    any_result: Any,
}

impl Values {
    fn new() -> Result<Self, Error> {
        Ok(Self {
            text: "the quick brown fox jumps over the lazy dog".into(),
            longs: (0..1024).collect(),
            octets: (0..4096_u32).map(|value| value as u8).collect(),
            many: (0..4)
                .map(|value| Many {
                    o: value,
                    l: value.into(),
                    s: value.into(),
                })
                .collect(),
            text_result: String::new(),
            long_results: Vec::new(),
            octet_results: Vec::new(),
            many_results: Vec::new(),
            any: Any::new(&Many::default())?,
            any_result: Any::default(),
        })
    }
}

impl Caller {
    fn measure(&mut self, block: Block) -> Result<Measured, Error> {
        let Block {
            operation,
            kind,
            length,
            with_latencies,
        } = block;
        let sizes = self.sizes(operation)?;
        let mut client = match kind {
            Kind::Ours => None,
            Kind::Raw(transport) => Some(match self.raw.remove(&(transport, operation)) {
                Some(client) => client,
                None => RawClient::connect(transport, &self.raw_addresses, sizes)?,
            }),
        };
        let raw = client.is_some();
        // The first call after the other kind finds cold caches and is not counted.
        self.exchange(operation, client.as_mut())?;

        let mut latencies = Latencies::new();
        let server_before = if raw { 0 } else { self.cubit.allocations()? };
        let client_before = alloc_counter::allocations_of_this_thread();
        let (mut calls, mut errors) = (0, 0);
        let begin = clock::monotonic();
        let start = Instant::now();
        let mut before = start;
        loop {
            let complete = match length {
                Length::Calls(count) => calls >= u64::from(count),
                Length::Seconds(seconds) => before - start >= Duration::from_secs(seconds),
            };
            if complete {
                break;
            }
            let correct = self.exchange(operation, client.as_mut())?;
            let after = Instant::now();
            latencies.record((after - before).as_nanos() as u64);
            before = after;
            calls += 1;
            errors += u64::from(!correct);
        }
        let elapsed_ns = (before - start).as_nanos() as u64;
        let client_allocations = alloc_counter::allocations_of_this_thread() - client_before;
        let server_after = if raw { 0 } else { self.cubit.allocations()? };
        if let (Some(client), Kind::Raw(transport)) = (client, kind) {
            self.raw.insert((transport, operation), client);
        }
        Ok(Measured {
            latencies: with_latencies.then_some(latencies),
            calls,
            errors,
            elapsed_ns,
            span: Span::between(begin, begin + Duration::from_nanos(elapsed_ns)),
            client_allocations,
            server_allocations: server_after - server_before,
            sizes,
        })
    }

    /// Makes one call or one raw exchange; returns whether the result is correct.
    fn exchange(&mut self, operation: Operation, raw: Option<&mut RawClient>) -> Result<bool, Error> {
        if let Some(raw) = raw {
            raw.exchange()?;
            return Ok(true);
        }
        match self.fault {
            Some(Fault::Twice) if operation != Operation::Struct => {
                self.call(operation)?;
            }
            Some(Fault::Boxes) => drop(std::hint::black_box(Box::new(operation))),
            _ => {}
        }
        self.call(operation)
    }

    /// Makes one call; returns whether the result is correct.
    fn call(&mut self, operation: Operation) -> Result<bool, Error> {
        let Self { cubit, values, .. } = self;
        Ok(match operation {
            Operation::Void => cubit.cube_void().map(|()| true)?,
            Operation::Octet => cubit.cube_octet(3)? == 27,
            Operation::Short => cubit.cube_short(-3)? == -27,
            Operation::Long => cubit.cube_long(-30)? == -27_000,
            Operation::Struct => {
                cubit.cube_struct(&Many { o: 2, l: 3, s: 4 })? == (Many { o: 8, l: 27, s: 64 })
            }
            Operation::String => {
                cubit.cube_string_into(&values.text, &mut values.text_result)?;
                values.text_result == values.text
            }
            Operation::SmallLongSequence => {
                cubit.cube_long_sequence_into(&values.longs[..4], &mut values.long_results)?;
                values.long_results == [0, 1, 8, 27]
            }
            Operation::LargeLongSequence => {
                cubit.cube_long_sequence_into(&values.longs, &mut values.long_results)?;
                values.long_results.len() == 1024 && values.long_results[1023] == 1_070_599_167
            }
            Operation::LargeOctetSequence => {
                cubit.cube_octet_sequence_into(&values.octets, &mut values.octet_results)?;
                values.octet_results.len() == 4096 && values.octet_results[3] == 27
            }
            Operation::SmallManySequence => {
                cubit.cube_many_sequence_into(&values.many, &mut values.many_results)?;
                values.many_results.len() == 4 && values.many_results[3] == (Many { o: 27, l: 27, s: 27 })
            }
            // A caller inserts and extracts a value for each call.
            Operation::AnyStruct => {
                values.any = Any::new(&Many { o: 2, l: 3, s: 4 })?;
                cubit.cube_any_into(&values.any, &mut values.any_result)?;
                values.any_result.get() == Ok(Many { o: 8, l: 27, s: 64 })
            }
            Operation::Oneway => cubit.cube_oneway().map(|()| true)?,
        })
    }

    /// Returns the sizes of an operation's request and reply, after negotiation of code sets.
    fn sizes(&self, operation: Operation) -> Result<Sizes, Error> {
        let profile = self.cubit.ior().profiles.first().ok_or("the reference is nil")?;
        let key = match profile.tag {
            TAG_INTERNET_IOP => IiopProfile::decode(profile)?.object_key,
            _ => Profile::decode_with(profile, String::decode)?.object_key,
        };
        let mut octets = Vec::new();
        let response = if operation == Operation::Oneway {
            ResponseFlags::None
        } else {
            ResponseFlags::WithTarget
        };
        let request = OutgoingRequest {
            request_id: 0,
            response,
            target: TargetAddress::Key(&key),
            operation: operation.idl_name(),
            contexts: &[ServiceContext::Priority(PRIORITY)],
        };
        let whole =
            |octets: &mut Vec<u8>,
             kind,
             header: &dyn Fn(&mut Encoder<'_>) -> Result<(), punctual_cdr::CdrError>| {
                octets.clear();
                let mut writer = MessageWriter::new(
                    octets,
                    Version::V1_2,
                    kind,
                    Endian::NATIVE,
                    CharSet::Utf8,
                    usize::MAX,
                );
                let encoder = writer.encoder();
                header(encoder)?;
                let body = begin_body(encoder, Version::V1_2)?;
                self.encode_argument(operation, encoder)?;
                end_body(encoder, body);
                writer.finish()
            };
        whole(&mut octets, MessageType::Request, &|encoder| {
            encode_request(encoder, Version::V1_2, &request)
        })?;
        let request = octets.len() as u32;
        if operation == Operation::Oneway {
            return Ok(Sizes { request, reply: 0 });
        }
        // The result of every operation has the argument's type and length.
        whole(&mut octets, MessageType::Reply, &|encoder| {
            encode_reply_header(encoder, Version::V1_2, 0, ReplyStatus::NoException, &[])
        })?;
        Ok(Sizes {
            request,
            reply: octets.len() as u32,
        })
    }

    fn encode_argument(
        &self,
        operation: Operation,
        encoder: &mut Encoder<'_>,
    ) -> Result<(), punctual_cdr::CdrError> {
        let values = &self.values;
        match operation {
            Operation::Void | Operation::Oneway => Ok(()),
            Operation::Octet => 0_u8.encode(encoder),
            Operation::Short => 0_i16.encode(encoder),
            Operation::Long => 0_i32.encode(encoder),
            Operation::Struct => values.many[0].encode(encoder),
            Operation::String => values.text.encode(encoder),
            Operation::SmallLongSequence => values.longs[..4].encode(encoder),
            Operation::LargeLongSequence => values.longs.encode(encoder),
            Operation::LargeOctetSequence => values.octets.encode(encoder),
            Operation::SmallManySequence => values.many.encode(encoder),
            Operation::AnyStruct => values.any.encode(encoder),
        }
    }
}
