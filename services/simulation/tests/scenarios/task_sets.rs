//! Random schedules of all kinds, independent of the analysis: chains over hosts with mixed priorities, pools
//! with and without lanes, declared adapters, nested calls, resources, best cases, CPUs, hosts by deadline.

use std::fmt::Write;

/// A linear congruential generator: equal seeds give equal sets everywhere.
pub struct Random(pub u64);

impl Random {
    /// Returns a number from 0 to `most`.
    pub fn up_to(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % (most + 1)
    }

    /// Returns whether something happens that does once in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.up_to(times - 1) == 0
    }

    fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.up_to(items.len() as u64 - 1) as usize]
    }
}

/// Periods in microseconds.
const PERIODS: [u64; 8] = [2_000, 3_000, 4_000, 5_000, 8_000, 10_000, 15_000, 20_000];
/// CORBA priorities, whose native ones differ.
const PRIORITIES: [u16; 6] = [3_000, 6_000, 9_000, 12_000, 20_000, 30_000];

/// Kinds of sets, whose ratios are stated separately.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Single steps on one host.
    Steps,
    /// Chains of calls.
    Chains,
    /// Chains whose lanes also make calls, and resources.
    Everything,
    /// Chains where deadlines order the threads.
    Deadlines,
}

struct Set {
    random: Random,
    kind: Kind,
    hosts: u64,
    /// Whether each host's pool has lanes.
    lanes: Vec<bool>,
    /// Whether host 0 has two CPUs.
    two_cpus: bool,
    resources: u64,
    best_cases: bool,
    /// Work is multiplied by this, in thousandths.
    load: u64,
    activities: u64,
}

/// Returns the text of a random schedule.
pub fn schedule(kind: Kind, seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ kind as u64);
    random.up_to(1);
    let hosts = if kind == Kind::Steps {
        1
    } else {
        1 + random.up_to(2)
    };
    let lanes = (0..hosts).map(|_| !random.once_in(4)).collect();
    let everything = kind == Kind::Everything;
    let mut set = Set {
        kind,
        hosts,
        lanes,
        two_cpus: everything && random.once_in(3),
        resources: if everything || random.once_in(4) {
            1 + random.up_to(1)
        } else {
            0
        },
        best_cases: random.once_in(3),
        load: 300 + random.up_to(900),
        activities: 2 + random.up_to(3),
        random,
    };
    set.text()
}

impl Set {
    fn text(&mut self) -> String {
        let mut text = String::from("hosts = [");
        for host in 0..self.hosts {
            let cpus = if host == 0 && self.two_cpus {
                ", cpus = [4, 5]"
            } else {
                ""
            };
            let order = if self.kind == Kind::Deadlines {
                ", order = \"deadline\""
            } else {
                ""
            };
            write!(text, "{{ name = \"h{host}\"{cpus}{order} }}, ").unwrap();
        }
        text += "]\n";
        for resource in 0..self.resources {
            let ceiling = self.kind != Kind::Deadlines && self.random.once_in(2);
            let protocol = if ceiling { "ceiling" } else { "inheritance" };
            writeln!(
                text,
                "[[resource]]\nname = \"r{resource}\"\nprotocol = \"{protocol}\""
            )
            .unwrap();
        }
        for host in 0..self.hosts {
            text += &self.pool(host);
        }
        for number in 0..self.activities {
            text += &self.activity(number);
        }
        text
    }

    /// Returns a pool with a lane for each priority or none, and two adapters.
    fn pool(&mut self, host: u64) -> String {
        let mut text = format!("[[pool]]\nname = \"p{host}\"\nhost = \"h{host}\"\n");
        if host == 0 && self.two_cpus {
            text += "cpus = [4]\n";
        }
        if self.lanes[host as usize] {
            let threads = if self.random.once_in(3) { 1 } else { 16 };
            let lane = |priority| format!("{{ priority = {priority}, threads = {threads} }}, ");
            let lanes: String = PRIORITIES.iter().map(lane).collect();
            writeln!(text, "lanes = [{lanes}]").unwrap();
        } else {
            let priority = self.random.of(&PRIORITIES);
            writeln!(text, "threads = 64\npriority = {priority}").unwrap();
        }
        for (name, model) in [("a", "client-propagated"), ("d", "server-declared")] {
            let priority = self.random.of(&PRIORITIES);
            writeln!(
                text,
                "[[adapter]]\nname = \"{name}{host}\"\npool = \"p{host}\"\nmodel = \"{model}\"\n\
                 priority = {priority}"
            )
            .unwrap();
        }
        text
    }

    fn activity(&mut self, number: u64) -> String {
        let period = *self.random.of(&PERIODS);
        let priority = *self.random.of(&PRIORITIES);
        let deadline = period * (50 + self.random.up_to(100)) / 100;
        let mut text = format!(
            "[[activity]]\nname = \"t{number}\"\npriority = {priority}\nperiod = \"{period} us\"\n\
             deadline = \"{deadline} us\"\n"
        );
        if self.random.once_in(5) {
            writeln!(text, "jitter = \"{} us\"", self.random.up_to(period / 4)).unwrap();
        }
        let home = self.random.up_to(self.hosts - 1);
        let length = if self.kind == Kind::Steps {
            1
        } else {
            1 + self.random.up_to(3)
        };
        let share = period * self.load / 1000 / self.activities / length;
        text += "step = [\n";
        for _ in 0..length {
            let step = self.step(home, share, 1);
            writeln!(text, "  {step},").unwrap();
        }
        text + "]\n"
    }

    /// Returns a step of a client at home, or a call.
    fn step(&mut self, home: u64, share: u64, depth: u64) -> String {
        let wcet = (share / 2 + self.random.up_to(share)).max(10);
        let is_call = depth > 1 || (self.kind != Kind::Steps && self.random.once_in(2));
        let mut text = String::from("{ ");
        let mut host = home;
        if is_call {
            host = self.random.up_to(self.hosts - 1);
            let how = *self
                .random
                .of(&["adapter = \"a", "adapter = \"a", "adapter = \"d", "pool = \"p"]);
            // A call to any adapter of a pool may go to several lanes.
            write!(text, "{how}{host}\"").unwrap();
        } else {
            write!(text, "host = \"h{home}\"").unwrap();
            if home == 0 && self.two_cpus {
                write!(text, ", cpu = {}", 4 + self.random.up_to(1)).unwrap();
            }
        }
        write!(text, ", wcet = \"{wcet} us\"").unwrap();
        if self.best_cases {
            write!(text, ", bcet = \"{} us\"", wcet * (5 + self.random.up_to(5)) / 10).unwrap();
        }
        if is_call && self.random.once_in(2) {
            let delay = 20 + self.random.up_to(200);
            let least = if self.best_cases { delay } else { 0 };
            write!(text, ", delay = \"{delay} us\", least_delay = \"{least} us\"").unwrap();
        }
        if self.resources > 0 && self.random.once_in(2) {
            let length = 1 + self.random.up_to(wcet / 3);
            let resource = self.random.up_to(self.resources - 1);
            write!(
                text,
                ", locks = [{{ resource = \"r{resource}\", length = \"{length} us\" }}]"
            )
            .unwrap();
        }
        let is_nested = is_call && self.kind == Kind::Everything && depth < 3 && self.random.once_in(3);
        if is_nested && self.lanes[host as usize] {
            let call = self.step(home, share / 2, depth + 1);
            write!(
                text,
                ", calls = [{call}], after = {{ wcet = \"{} us\" }}",
                1 + share / 8
            )
            .unwrap();
        }
        text + " }"
    }
}
