"""An omniORBpy server of Dynamics::Exchange (see ../idl/dynamics.idl).

    python3 dynamics.py --ior FILE [--proxy REFERENCE] [-ORBoption value ...]
"""

import os
import sys
import threading

from omniORB import CORBA, PortableServer

import Dynamics
import Dynamics__POA


class Exchange(Dynamics__POA.Exchange):
    def __init__(self, orb, target):
        self.orb = orb
        self.target = target

    def echo_titled(self, value):
        return value if self.target is None else self.target.echo_titled(value)

    def echo_base(self, value):
        return value if self.target is None else self.target.echo_base(value)

    def shutdown(self):
        threading.Timer(0.2, lambda: self.orb.shutdown(False)).start()


def rotating(name):
    def rotate(self, a, b, c):
        if self.target is not None:
            return getattr(self.target, name)(a, b, c)
        return a, c, b
    return rotate


for operation in ["any", "wchar", "wstring", "amount", "loaded", "label", "node", "family", "figure", "type"]:
    setattr(Exchange, "rotate_" + operation, rotating("rotate_" + operation))


def main():
    arguments = sys.argv[:]
    orb = CORBA.ORB_init(arguments, CORBA.ORB_ID)
    options = dict(zip(arguments[1::2], arguments[2::2]))
    orb.register_value_factory("IDL:Dynamics/Board:1.0", lambda: Dynamics.Board(0))
    poa = orb.resolve_initial_references("RootPOA")
    poa._get_the_POAManager().activate()
    target = None
    if "--proxy" in options:
        target = orb.string_to_object(options["--proxy"])._narrow(Dynamics.Exchange)
    exchange = Exchange(orb, target)._this()
    part = options["--ior"] + ".part"
    with open(part, "w") as file:
        file.write(orb.object_to_string(exchange))
    os.rename(part, options["--ior"])
    orb.run()
    sys.stdout.flush()
    os._exit(0)


main()
