//! Peers of the other byte order: omniORB has only the machine's own, so both sides are written by hand here.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

use punctual::{
    Interface, Ior, ior_to_string,
    rt::{CdrError, Decode, Decoder, Encode, Encoder},
};
use punctual_cdr::{CharSet, Endian};
use punctual_giop::{
    CodeSetComponentInfo, Component, HEADER_SIZE, IiopProfile, LocateReplyHeader, LocateStatus,
    MessageHeader, MessageType, MessageWriter, OutgoingRequest, ReplyHeader, ReplyStatus, RequestHeader,
    ResponseFlags, ServiceContext, TargetAddress, UTF_8, UTF_16, Version, align_body, begin_body,
    encode_locate_request, encode_reply_header, encode_request, end_body,
};
use punctual_interop::{
    checks::{Context, limits},
    interop::*,
    sample::Sample,
    server::{Served, Server},
};

const FOREIGN: Endian = match Endian::NATIVE {
    Endian::Big => Endian::Little,
    Endian::Little => Endian::Big,
};
const VERSIONS: [Version; 3] = [Version::V1_0, Version::V1_1, Version::V1_2];
const MAX_SIZE: usize = 1 << 20;

macro_rules! rotations {
    ($($operation:ident: $value:ty),* $(,)?) => {
        /// Serves `rotate_x`.
        fn serve(
            operation: &str,
            decoder: &mut Decoder<'_>,
            encoder: &mut Encoder<'_>,
        ) -> Result<(), CdrError> {
            match operation {
                $(stringify!($operation) => serve_one::<$value>(decoder, encoder),)*
                other => panic!("{other} is not among the rotations"),
            }
        }

        /// Calls every `rotate_x`.
        fn call_each(peer: &mut ForeignClient) {
            $(peer.rotate::<$value>(stringify!($operation));)*
        }
    };
}

rotations! {
    rotate_boolean: bool, rotate_char: char, rotate_octet: u8, rotate_short: i16, rotate_ushort: u16,
    rotate_long: i32,
    rotate_ulong: u32, rotate_longlong: i64, rotate_ulonglong: u64, rotate_float: f32, rotate_double: f64,
    rotate_colour: Colour, rotate_distance: Distance, rotate_string: String, rotate_title: Title,
    rotate_label: Label,
    rotate_point: Point, rotate_mixed: Mixed, rotate_nothing: Nothing, rotate_leaf: Leaf,
    rotate_branch: Branch,
    rotate_shape: Shape, rotate_maybe: Maybe, rotate_either: Either, rotate_numbered: Numbered,
    rotate_lettered: Lettered, rotate_wide: Wide, rotate_tiny: Tiny, rotate_tree: Tree, rotate_chain: Chain,
    rotate_booleans: BooleanSeq, rotate_chars: CharSeq, rotate_octets: OctetSeq, rotate_shorts: ShortSeq,
    rotate_ushorts: UShortSeq, rotate_longs: LongSeq, rotate_ulongs: ULongSeq, rotate_longlongs: LongLongSeq,
    rotate_ulonglongs: ULongLongSeq, rotate_floats: FloatSeq, rotate_doubles: DoubleSeq,
    rotate_strings: StringSeq,
    rotate_colours: ColourSeq, rotate_distances: DistanceSeq, rotate_points: PointSeq,
    rotate_mixeds: MixedSeq,
    rotate_leaves: LeafSeq, rotate_shapes: ShapeSeq, rotate_long_rows: LongSeqSeq, rotate_table: StringTable,
    rotate_vectors: VectorSeq, rotate_few_longs: FewLongs, rotate_few_labels: FewLabels,
    rotate_few_points: FewPoints,
    rotate_vector: Vector, rotate_digest: Digest, rotate_matrix: Matrix, rotate_triangle: Triangle,
    rotate_point_grid: PointGrid, rotate_words: Words, rotate_rows: Rows,
}

#[test]
fn foreign_client_our_server() {
    let server = Server::start(limits(), Served::ByTheOrb);
    let profile = IiopProfile::decode(&server.peer.ior().profiles[0]).expect("our own profile");
    for version in VERSIONS {
        let mut client = ForeignClient::connect(&profile, version);
        client.locate();
        call_each(&mut client);
    }
}

#[test]
fn our_client_foreign_server() {
    for version in VERSIONS {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("a bound socket").port();
        // It ends when the client's connection does.
        let server = thread::spawn(move || serve_connection(&listener.accept().expect("a client").0));
        let code_sets = Component::CodeSets(CodeSetComponentInfo::ours())
            .encode()
            .expect("a component");
        let profile = IiopProfile {
            version,
            host: "127.0.0.1".to_owned(),
            port,
            object_key: b"foreign".to_vec(),
            components: if version == Version::V1_0 {
                vec![]
            } else {
                vec![code_sets]
            },
        };
        let ior = Ior {
            type_id: PeerRef::REPOSITORY_ID.to_owned(),
            profiles: vec![profile.encode_in(FOREIGN).expect("a profile")],
        };
        // On a thread of its own, whose end closes its connection.
        thread::spawn(move || {
            let context = Context::new(&ior_to_string(&ior)).expect("a reference");
            context.run_rotations(&[]);
        })
        .join()
        .expect("the checks pass");
        server.join().expect("the server understands all requests");
    }
}

/// A client that writes everything in the other byte order.
struct ForeignClient {
    stream: TcpStream,
    version: Version,
    object_key: Vec<u8>,
    next_id: u32,
}

impl ForeignClient {
    fn connect(profile: &IiopProfile, version: Version) -> Self {
        let stream = TcpStream::connect((profile.host.as_str(), profile.port)).expect("our server listens");
        set_deadline(&stream);
        Self {
            stream,
            version,
            object_key: profile.object_key.clone(),
            next_id: 1,
        }
    }

    fn locate(&mut self) {
        let message = write(self.version, MessageType::LocateRequest, |encoder| {
            encode_locate_request(encoder, self.version, 77, TargetAddress::Key(&self.object_key))
        });
        self.stream.write_all(&message).expect("the server reads");
        let (header, message) = read(&self.stream).expect("a reply");
        let reply = LocateReplyHeader::decode(&message, &header).expect("a LocateReply");
        assert_eq!((reply.request_id, reply.status), (77, LocateStatus::ObjectHere));
    }

    fn rotate<T>(&mut self, operation: &str)
    where
        T: Sample + Encode + for<'a> Decode<'a> + PartialEq + std::fmt::Debug,
    {
        let [a, b, c] = [0, 1, 2].map(T::sample);
        let request = OutgoingRequest {
            request_id: self.next_id,
            response: ResponseFlags::WithTarget,
            target: TargetAddress::Key(&self.object_key),
            operation,
            contexts: &[ServiceContext::CodeSets {
                char: UTF_8,
                wchar: UTF_16,
            }],
        };
        let message = write(self.version, MessageType::Request, |encoder| {
            encode_request(encoder, self.version, &request)?;
            let body = begin_body(encoder, self.version)?;
            for argument in [&a, &b, &c] {
                argument.encode(encoder)?;
            }
            end_body(encoder, body);
            Ok(())
        });
        self.stream.write_all(&message).expect("the server reads");
        let (header, message) = read(&self.stream).expect("a reply");
        assert_eq!(
            (header.version, header.message_type),
            (self.version, MessageType::Reply)
        );
        let (reply, body) = ReplyHeader::decode(&message, &header).expect("a reply header");
        let answer = (reply.request_id, reply.status);
        assert_eq!(answer, (self.next_id, ReplyStatus::NoException), "{operation}");
        let mut decoder = decoder(&message, &header, body);
        let mut value = || T::decode(&mut decoder).expect("a result");
        assert_eq!(
            [value(), value(), value()],
            [a, c, b],
            "{operation}, GIOP {}",
            self.version
        );
        assert_eq!(decoder.remaining(), 0, "{operation}");
        self.next_id += 1;
    }
}

/// Answers requests in the other byte order until the client closes the connection.
fn serve_connection(mut stream: &TcpStream) {
    set_deadline(stream);
    while let Some((header, message)) = read(stream) {
        if header.message_type == MessageType::CloseConnection {
            assert!(header.version >= Version::V1_2, "not the client's to say before");
            return;
        }
        assert_eq!(header.message_type, MessageType::Request);
        let (request, body) = RequestHeader::decode(&message, &header).expect("a request header");
        let reply = write(header.version, MessageType::Reply, |encoder| {
            let status = ReplyStatus::NoException;
            encode_reply_header(encoder, header.version, request.request_id, status, &[])?;
            align_body(encoder, header.version)?;
            serve(request.operation, &mut decoder(&message, &header, body), encoder)
        });
        stream.write_all(&reply).expect("the client reads");
    }
}

fn serve_one<T: Encode + for<'a> Decode<'a>>(
    decoder: &mut Decoder<'_>,
    encoder: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    let [a, b, c] = [T::decode(decoder)?, T::decode(decoder)?, T::decode(decoder)?];
    assert_eq!(decoder.remaining(), 0);
    [a, c, b].iter().try_for_each(|value| value.encode(encoder))
}

/// The values of the tests are ASCII but for what is a `char`, which is ASCII too, so that UTF-8 serves
/// everywhere.
const CHAR_SET: CharSet = CharSet::Utf8;

fn decoder<'a>(message: &'a [u8], header: &MessageHeader, body: usize) -> Decoder<'a> {
    Decoder::new(message, header.endian)
        .with_char_set(CHAR_SET)
        .at(body)
}

fn write(
    version: Version,
    message_type: MessageType,
    fill: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Vec<u8> {
    let mut message = Vec::new();
    let mut writer = MessageWriter::new(&mut message, version, message_type, FOREIGN, CHAR_SET, MAX_SIZE);
    fill(writer.encoder()).expect("values that can be encoded");
    writer.finish().expect("a message within the limit");
    message
}

/// The next message; `None` at the end of the stream.
fn read(mut stream: &TcpStream) -> Option<(MessageHeader, Vec<u8>)> {
    let mut message = vec![0; HEADER_SIZE];
    stream.read_exact(&mut message).ok()?;
    let header = MessageHeader::parse(&message, MAX_SIZE).expect("a GIOP header");
    message.resize(header.total_size(), 0);
    stream
        .read_exact(&mut message[HEADER_SIZE..])
        .expect("the rest of the message");
    Some((header, message))
}

fn set_deadline(stream: &TcpStream) {
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a deadline");
}
