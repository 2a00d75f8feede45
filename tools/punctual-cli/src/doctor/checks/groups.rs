//! Control groups: limits of the group of this process.

use crate::doctor::{
    finding::{Finding, Remedy, Subject, quoted},
    system::System,
};

/// Checks the real-time budget, if the kernel divides real-time CPU time among groups.
pub fn realtime_budget(system: &System) -> Finding {
    let subject = Subject {
        id: "group-budget",
        title: "Real-time budget of the control group",
        why: "Some kernels (RT_GROUP_SCHED) divide the CPU time of real-time threads among control groups, \
              and a new group, such as that of a service or a container, gets none. SCHED_FIFO is then \
              refused even to root, with an error that does not mention groups.",
    };
    let Some(group) = Group::of(system, "cpu") else {
        return subject.passed("this kernel has no real-time budgets for groups");
    };
    let budgets: Vec<_> = group
        .upwards()
        .filter_map(|folder| {
            Some((
                system.number(&format!("{folder}/cpu.rt_runtime_us")).ok()?,
                folder,
            ))
        })
        .collect();
    let Some((least, folder)) = budgets
        .iter()
        .filter(|(runtime, _)| *runtime >= 0)
        .min_by_key(|(runtime, _)| *runtime)
    else {
        return subject.passed("this kernel has no real-time budgets for groups");
    };
    let period = system
        .number(&format!("{folder}/cpu.rt_period_us"))
        .unwrap_or(1_000_000);
    match least {
        0 => {
            // A group can get what its parent has.
            let from_above = budgets
                .iter()
                .map(|(runtime, _)| *runtime)
                .find(|runtime| *runtime > 0);
            let runtime = from_above.unwrap_or(950_000);
            let file = format!("{folder}/cpu.rt_runtime_us");
            let found = format!("none: {file} is 0");
            let file = quoted(&file);
            subject.failed(
                found,
                Remedy::lasting(
                    format!("echo {runtime} | sudo tee {file}"),
                    format!(
                        "# As long as the group exists. It shares its parent's budget with its siblings.\n\
                         echo {runtime} > {file}"
                    ),
                ),
            )
        }
        _ => subject.passed(format!(
            "{} of each {} ms",
            *least as f64 / 1e3,
            period as f64 / 1e3
        )),
    }
}

/// Checks the limits of the container or service.
pub fn container_limits(system: &System) -> Finding {
    let subject = Subject {
        id: "container-limits",
        title: "Limits of the container or service",
        why: "A CPU quota stops every ordinary thread of a container or service until the next period \
              begins, tens of milliseconds later, including threads that real-time threads wait for. A \
              memory limit ends the program when it locks more than that.",
    };
    if system.read("/proc/self/cgroup").is_err() {
        return subject.unknown("/proc/self/cgroup cannot be read", Remedy::advice("mount /proc"));
    }
    let quota = cpu_quota(system);
    let memory = memory_limit(system);
    let memory = memory.map_or_else(String::new, |octets| {
        format!("; memory up to {} MiB", octets >> 20)
    });
    let place = if system.is_container() {
        "a container"
    } else {
        "no container"
    };
    match quota {
        Some(Quota { share, file, lift }) => {
            let remedy = if system.is_container() {
                Remedy::advice(
                    "start the container without --cpus and --cpu-quota (Kubernetes: no limits.cpu) and \
                     give it its own CPUs with --cpuset-cpus",
                )
            } else {
                let file = quoted(&file);
                Remedy::lasting(
                    format!("echo {lift} | sudo tee {file}"),
                    format!(
                        "# As long as the group exists; in a systemd unit file: CPUQuota= (empty value)\n\
                         echo {lift} > {file}"
                    ),
                )
            };
            subject.failed(
                format!("{place}; CPU time is limited to {share:.2} CPUs{memory}"),
                remedy,
            )
        }
        None => subject.passed(format!("{place}; no CPU quota{memory}")),
    }
}

struct Quota {
    /// CPU time in CPUs.
    share: f64,
    file: String,
    /// Text that lifts the quota when it is written to the file.
    lift: &'static str,
}

/// The smallest quota of the group and its ancestors.
fn cpu_quota(system: &System) -> Option<Quota> {
    let mut quotas = Vec::new();
    for folder in Group::of(system, "cpu").iter().flat_map(Group::upwards) {
        let quota = system.number(&format!("{folder}/cpu.cfs_quota_us"));
        let period = system.number(&format!("{folder}/cpu.cfs_period_us"));
        if let (Ok(quota @ 1..), Ok(period @ 1..)) = (quota, period) {
            quotas.push(Quota {
                share: quota as f64 / period as f64,
                file: format!("{folder}/cpu.cfs_quota_us"),
                lift: "-1",
            });
        }
    }
    for folder in Group::unified(system).iter().flat_map(Group::upwards) {
        let text = system.read(&format!("{folder}/cpu.max")).unwrap_or_default();
        let mut numbers = text.split(' ').map(str::parse::<f64>);
        if let (Some(Ok(quota)), Some(Ok(period))) = (numbers.next(), numbers.next()) {
            quotas.push(Quota {
                share: quota / period,
                file: format!("{folder}/cpu.max"),
                lift: "max",
            });
        }
    }
    quotas
        .into_iter()
        .min_by(|one, other| one.share.total_cmp(&other.share))
}

/// The smallest memory limit of the group and its ancestors, in octets.
fn memory_limit(system: &System) -> Option<u64> {
    /// Smallest value that version 1 of control groups writes for "no limit".
    const NONE: i64 = 1 << 60;
    let first = Group::of(system, "memory");
    let first = first
        .iter()
        .flat_map(Group::upwards)
        .map(|folder| format!("{folder}/memory.limit_in_bytes"));
    let unified = Group::unified(system);
    let second = unified
        .iter()
        .flat_map(Group::upwards)
        .map(|folder| format!("{folder}/memory.max"));
    let limits = first.chain(second).filter_map(|file| system.number(&file).ok());
    limits
        .filter(|limit| (0..NONE).contains(limit))
        .min()
        .map(i64::cast_unsigned)
}

/// Control group of this process and the mount point of its tree.
struct Group {
    mount: String,
    path: String,
}

impl Group {
    /// The group in the tree of a version 1 controller.
    fn of(system: &System, controller: &str) -> Option<Self> {
        Self::where_(
            system,
            |controllers| controllers.split(',').any(|other| other == controller),
            |fields| fields.kind == "cgroup" && fields.options.split(',').any(|option| option == controller),
        )
    }

    /// The group in the single tree of version 2.
    fn unified(system: &System) -> Option<Self> {
        Self::where_(system, str::is_empty, |fields| fields.kind == "cgroup2")
    }

    fn where_(
        system: &System,
        is_meant: impl Fn(&str) -> bool,
        is_mounted: impl Fn(&Mount<'_>) -> bool,
    ) -> Option<Self> {
        let groups = system.read("/proc/self/cgroup").ok()?;
        let mut lines = groups.lines().map(|line| line.splitn(3, ':'));
        let path = lines.find_map(|mut fields| {
            let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
            is_meant(controllers).then(|| path.to_owned())
        })?;
        let mounts = system.read("/proc/self/mountinfo").ok()?;
        let mount = mounts
            .lines()
            .filter_map(Mount::parse)
            .find(|mount| is_mounted(mount))?;
        // In a container, the mount may start at the group itself.
        let path = path
            .strip_prefix(mount.root.trim_end_matches('/'))
            .unwrap_or("")
            .trim_end_matches('/');
        Some(Self {
            mount: mount.point.to_owned(),
            path: path.to_owned(),
        })
    }

    /// Folders of the group and its ancestors, up to the mount point.
    fn upwards(&self) -> impl Iterator<Item = String> + '_ {
        let groups = std::iter::successors(Some(&self.path[..]), |path| Some(path.rsplit_once('/')?.0));
        groups.map(|path| format!("{}{path}", self.mount))
    }
}

/// One line of mountinfo.
struct Mount<'m> {
    root: &'m str,
    point: &'m str,
    kind: &'m str,
    options: &'m str,
}

impl<'m> Mount<'m> {
    fn parse(line: &'m str) -> Option<Self> {
        let (before, behind) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let mut behind = behind.split(' ');
        Some(Self {
            root: before.next()?,
            point: before.next()?,
            kind: behind.next()?,
            options: behind.nth(1).unwrap_or_default(),
        })
    }
}
