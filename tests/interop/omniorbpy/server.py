"""An omniORBpy server of Interop::Peer (see ../idl/interop.idl for what every operation does).

    python3 server.py --ior FILE [--proxy REFERENCE] [-ORBoption value ...]

With --proxy every operation is passed on to that Peer by an omniORBpy client: what arrives there, and what comes
back, has been decoded and encoded again. Ends by Peer::shutdown().
"""

import os
import sys
import threading
import time

# `codesets` for those beyond ISO-8859-1 and UTF-8.
from omniORB import BiDirPolicy, CORBA, PortableServer, codesets  # noqa: F401

import Interop
import Interop__POA


class Counter(Interop__POA.Counter):
    def __init__(self, start):
        self.now = start
        self.lock = threading.Lock()

    def _get_value(self):
        return self.now

    def increase(self, n):
        with self.lock:
            self.now += n
            return self.now

    def destroy(self):
        poa = self._default_POA()
        poa.deactivate_object(poa.servant_to_id(self))


class Bottom(Interop__POA.Bottom):
    def __init__(self, name):
        self.name = name

    def _get_given_name(self):
        return self.name

    def greet(self, whom):
        return self.name + " greets " + whom

    def twice(self, n):
        return 2 * n

    def square(self, n):
        return n * n

    def both(self, n):
        return self.twice(n) + self.square(n)


class Versioned(Interop__POA.Prefixed.Versioned):
    def who(self):
        return "versioned"

    def fail_odd(self, number):
        raise Interop.Prefixed.Odd(number)


KINDS = [("counter", Interop.Counter), ("bottom", Interop.Bottom), ("left", Interop.LeftSide),
         ("listener", Interop.Listener), ("peer", Interop.Peer)]

COMPLETION = [CORBA.COMPLETED_YES, CORBA.COMPLETED_NO, CORBA.COMPLETED_MAYBE]


class Peer(Interop__POA.Peer):
    def __init__(self, orb):
        self.orb = orb
        self.lock = threading.Lock()
        self.sum = self.notes = self.writes = 0

    def ping(self):
        pass

    def add(self, a, b):
        return a + b

    def collect(self, flag, real, letter, small, raw, huge, usmall, single, normal, big, unormal):
        return Interop.Mixed(flag, real, letter, small, raw, huge, usmall, single, normal, raw, big, unormal,
                             Interop.BLUE, Interop.Point(normal, normal + 1))

    def spread(self, m):
        return (m.flag, m.real, m.letter, m.small, m.raw, m.huge, m.usmall, m.single, m.normal, m.big, m.unormal)

    def get_constants(self):
        names = ["YES", "NO", "LETTER", "NEWLINE", "OCTET_TOP", "SHORT_LOW", "USHORT_TOP", "LONG_LOW", "ULONG_TOP",
                 "LONGLONG_LOW", "ULONGLONG_TOP", "QUARTER", "AVOGADRO", "GREETING", "FAVOURITE", "BITS",
                 "ARITHMETIC", "BOUND", "HALF_BITS"]
        return Interop.Constants(*[getattr(Interop, name) for name in names], Interop.Basics.INNER)

    def concat(self, a, b):
        return a + b

    def code_points(self, text):
        return [ord(character) for character in text]

    def from_code_points(self, points):
        if any(point == 0 or point > 0x10FFFF for point in points):
            raise CORBA.DATA_CONVERSION(0, CORBA.COMPLETED_NO)
        return "".join(map(chr, points))

    def count_nodes(self, root):
        return 1 + sum(map(self.count_nodes, root.children))

    def describe_shape(self, shape):
        if shape._d == Interop.RED:
            return "width %d" % shape.width
        if shape._d == Interop.GREEN:
            return "caption " + shape.caption
        return "corner %d,%d" % (shape.corner.x, shape.corner.y)

    def sum_longs(self, values):
        return sum(values)

    def reverse_strings(self, values):
        return values[::-1]

    def make_matrix(self):
        return [[0.0, 1.0, 2.0], [10.0, 11.0, 12.0]]

    def _get_favourite(self):
        return Interop.FAVOURITE

    def _get_writes(self):
        return self.writes

    def fail_empty(self):
        raise Interop.Empty()

    def divide(self, a, b):
        if b == 0:
            raise Interop.DivideByZero()
        if a < 0:
            raise Interop.Rejected("negative", a)
        quotient = abs(a) // abs(b) * (1 if b > 0 else -1)
        return quotient, a - quotient * b

    def fail_detailed(self, what, item):
        raise Interop.Detailed(what, item, Interop.BLUE, item.values, Interop.Point(1, 2))

    def fail_system(self, which, minor, completed):
        kind = getattr(CORBA, which._n[len("FAIL_"):])
        raise kind(minor, COMPLETION[completed._v])

    def crash(self):
        raise ValueError("crash was asked for")

    def note(self, value):
        with self.lock:
            self.sum += value
            self.notes += 1

    def note_all(self, text, values):
        self.note(len(text) + sum(values))

    def noted(self):
        with self.lock:
            return self.sum, self.notes

    def reset_notes(self):
        with self.lock:
            self.sum = self.notes = 0

    def bounce(self, other, depth):
        return 0 if depth <= 0 else 1 + other.bounce(self._this(), depth - 1)

    def make_counter(self, start):
        return Counter(start)._this()

    def make_bottom(self, called):
        return Bottom(called)._this()

    def myself(self):
        return self._this()

    def no_counter(self):
        return None

    def total(self, counters):
        return sum(counter._get_value() for counter in counters if counter is not None)

    def increase_held(self, held, by):
        held.after += 1
        return (-1 if held.counter_ref is None else held.counter_ref.increase(by)), held

    def kind_of(self, ref):
        if ref is None:
            return "nil"
        return next((name for name, kind in KINDS if ref._is_a(kind._NP_RepositoryId)), "other")

    def equivalent(self, a, b):
        return a is b if a is None or b is None else a._is_equivalent(b)

    def use_left(self, side, n):
        return side.twice(n)

    def widen(self, whole):
        return whole

    def call_back(self, who, times, text):
        return sum(who.heard(i, text) for i in range(times))

    def call_back_oneway(self, who, times):
        for i in range(times):
            who.told(i)

    def make_octets(self, count):
        return (bytes(range(251)) * (count // 251 + 1))[:count]

    def make_longs(self, count):
        return [i * 3 - 1000 for i in range(count)]

    def make_words(self, count):
        return ["word-%d" % i for i in range(count)]

    def checksum(self, octets):
        checksum = 0
        for octet in octets:
            checksum = (checksum * 31 + octet) & 0xFFFFFFFF
        return checksum

    def large(self, octets, numbers, count):
        return self.checksum(octets), numbers[::-1], self.make_words(count)

    def pause(self, milliseconds):
        time.sleep(milliseconds / 1000)

    def type(self, n):
        return n + 1

    def match(self, a, b):
        return a == b

    def self(self, n):
        return -n

    def loop(self, n):
        return 2 * n, n

    def move(self, crate, mood):
        return crate, Interop.dyn

    def fn(self, n):
        return Interop.impl.use(n + Interop.impl.unsafe)

    def clone(self):
        return "clone"

    def drop(self, n):
        return n - 1

    def interface(self, n):
        return 3 * n

    def make_versioned(self):
        return Versioned()._this()

    def shutdown(self):
        self.orb.shutdown(False)


def rotate(_, a, b, c):
    return a, c, b


def attribute(name, first):
    """Adds what gets and what sets the attribute."""
    def get(peer):
        return peer.__dict__.get(name, first)

    def put(peer, value):
        peer.__dict__[name] = value
        if name != "yield":
            peer.writes += 1
    setattr(Peer, "_get_" + name, get)
    setattr(Peer, "_set_" + name, put)


OPERATIONS = list(Interop__POA.Peer._omni_op_d)
for operation in OPERATIONS:
    if operation.startswith("rotate_"):
        setattr(Peer, operation, rotate)
for named, value in [("level", 0), ("wide_part", 0), ("high_part", 0), ("heading", ""),
                     ("origin", Interop.Point(0, 0)), ("history", []), ("setting", [0] * 4), ("anything", None),
                     ("yield", 0)]:
    attribute(named, value)


def passing_on(kind, target, **others):
    """A servant whose operations are those of the target, but for others."""
    def passed_on(operation):
        return lambda _, *arguments: getattr(target, operation)(*arguments)
    operations = {name: passed_on(name) for name in kind._omni_op_d}
    return type("Proxy", (kind,), {**operations, **others})()


def proxy(target, orb, callbacks):
    """A servant that passes all on, but for the call that ends this server. With an adapter of callbacks the
    target calls objects in it back, which pass this on."""
    others = {"shutdown": lambda _: orb.shutdown(False)}

    def stand_in(operation, kind):
        def call(_, who, *arguments):
            servant = passing_on(kind, who)
            reference = callbacks.id_to_reference(callbacks.activate_object(servant))
            return getattr(target, operation)(reference, *arguments)
        others[operation] = call
    if callbacks is not None:
        stand_in("bounce", Interop__POA.Bouncer)
        stand_in("call_back", Interop__POA.Listener)
        stand_in("call_back_oneway", Interop__POA.Listener)
    return passing_on(Interop__POA.Peer, target, **others)


def bidirectional(root):
    """An adapter whose objects are called over the connections that this program has opened."""
    policies = [BiDirPolicy.BidirectionalPolicy(BiDirPolicy.BOTH),
                root.create_implicit_activation_policy(PortableServer.IMPLICIT_ACTIVATION)]
    return root.create_POA("callbacks", root._get_the_POAManager(), policies)


def main():
    defaults = {"-ORBgiopMaxMsgSize": "67108864", "-ORBendPoint": "giop:tcp:127.0.0.1:"}
    arguments = sys.argv + [word for pair in defaults.items() if pair[0] not in sys.argv for word in pair]
    orb = CORBA.ORB_init(arguments, CORBA.ORB_ID)
    options = dict(zip(arguments[1::2], arguments[2::2]))
    root = orb.resolve_initial_references("RootPOA")
    plain = orb.resolve_initial_references("omniINSPOA")
    callbacks = bidirectional(root) if any("BiDirectionalGIOP" in word for word in sys.argv) else None
    if "--proxy" in options:
        servant = proxy(orb.string_to_object(options["--proxy"])._narrow(Interop.Peer), orb, callbacks)
    else:
        servant = Peer(orb)
    plain.activate_object_with_id(b"Interop", servant)
    main_poa = callbacks or root
    reference = main_poa.id_to_reference(main_poa.activate_object(servant))
    for poa in root, plain:
        poa._get_the_POAManager().activate()
    file = options["--ior"]
    with open(file + ".part", "w", encoding="ascii") as part:
        part.write(orb.object_to_string(reference))
    os.rename(file + ".part", file)
    orb.run()
    # Threads of the ORB do not always survive an orderly end of the interpreter.
    os._exit(0)


main()
