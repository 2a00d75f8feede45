//! The process that publishes, starts the others, and answers the benchmark.

use std::{
    env,
    io::{self, BufRead},
    net::TcpListener,
    process::{Child, Command, Stdio, id},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use punctual_os::clock;

use crate::{
    Result,
    engine::{Engine, OCTETS, Octets, Publish},
    subscriber::Kind,
};

/// Time between events.
const INTERVAL: Duration = Duration::from_micros(500);
/// Events at the beginning of a block that are not measured.
const FIRST: u32 = 10;
/// How long the way to the subscriber may take to open, and an answer after the last event.
const TIMEOUT: Duration = Duration::from_secs(10);

pub fn run(engine: Engine) -> Result<()> {
    let address = match engine {
        Engine::Iceoryx2 => format!("punctual/pubsub/{}", id()),
        Engine::ZenohPeer | Engine::ZenohRouter => {
            let free = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
            free.to_string()
        }
    };
    let _router = (engine == Engine::ZenohRouter)
        .then(|| Other::start(&["__router", &address]))
        .transpose()?;
    let mut subscriber = Other::start(&["__subscriber", engine.name(), &address])?;
    let answers = subscriber.answers();
    let mut publish = connect(engine, &address)?;
    open(&mut publish, &answers)?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let events = line
            .trim()
            .parse()
            .map_err(|_| format!("`{line}` is not a number of events"))?;
        println!("{}", block(events, &mut publish, &answers)?);
    }
    Ok(())
}

/// Tries again until the process at the other end listens.
fn connect(engine: Engine, address: &str) -> Result<Publish> {
    let until = Instant::now() + TIMEOUT;
    loop {
        match engine.publisher(address) {
            Ok(publish) => return Ok(publish),
            Err(error) if Instant::now() > until => return Err(error),
            Err(_) => thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// Publishes until the subscriber answers, and takes all of its answers.
fn open(publish: &mut Publish, answers: &Receiver<String>) -> Result<()> {
    let until = Instant::now() + TIMEOUT;
    while answers.recv_timeout(Duration::from_millis(200)).is_err() {
        if Instant::now() > until {
            return Err(format!("no event arrived within {} s", TIMEOUT.as_secs()).into());
        }
        publish(event(Kind::Opener))?;
    }
    while answers.recv_timeout(Duration::from_millis(200)).is_ok() {}
    Ok(())
}

fn block(events: u32, publish: &mut Publish, answers: &Receiver<String>) -> Result<String> {
    let mut due = Instant::now();
    for number in 0..FIRST + events {
        let kind = match number {
            number if number < FIRST => Kind::First,
            number if number + 1 == FIRST + events => Kind::Last,
            _ => Kind::Measured,
        };
        publish(event(kind))?;
        due += INTERVAL;
        clock::sleep_until(due);
    }
    answers.recv_timeout(TIMEOUT).map_err(|_| {
        format!(
            "the last of {events} events did not arrive within {} s",
            TIMEOUT.as_secs()
        )
        .into()
    })
}

fn event(kind: Kind) -> Octets {
    let mut octets = [0; OCTETS];
    octets[0] = kind as u8;
    octets[8..16].copy_from_slice(&(clock::monotonic().as_nanos() as u64).to_le_bytes());
    octets
}

/// Another process of this program. It ends with this one: its standard input ends then.
struct Other(Child);

impl Other {
    fn start(arguments: &[&str]) -> Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        let child = command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        Ok(Self(child.spawn()?))
    }

    /// The lines that it writes.
    fn answers(&mut self) -> Receiver<String> {
        let output = self.0.stdout.take().expect("it is piped");
        let (sender, answers) = channel();
        thread::spawn(move || {
            for line in io::BufReader::new(output).lines().map_while(io::Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        answers
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // It may have ended itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
