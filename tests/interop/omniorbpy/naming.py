"""An omniORBpy client of a naming service: checks its operations, exceptions and URLs.

    python3 naming.py -ORBInitRef NameService=URL

Prints "all checks passed", or fails.
"""

import os
import sys

import CosNaming
from omniORB import CORBA

NC = CosNaming.NamingContext


def name(text):
    """`a/b.c` without escapes."""
    return [CosNaming.NameComponent(*(one.split(".") + [""])[:2]) for one in text.split("/")]


def text(components):
    return "/".join(one.id + ("." + one.kind if one.kind else "") for one in components)


def raises(exception, call, *arguments):
    try:
        call(*arguments)
    except exception as raised:
        return raised
    raise AssertionError("no " + exception.__name__)


def not_found(why, rest, call, *arguments):
    raised = raises(NC.NotFound, call, *arguments)
    assert (raised.why, text(raised.rest_of_name)) == (why, rest), raised


def check(orb, root):
    a = root.bind_new_context(name("a"))
    b = a.bind_new_context(name("b.k"))
    root.bind(name("a/b.k/o"), root)
    root.rebind(name("a/b.k/o"), a)
    assert root.resolve(name("a/b.k/o"))._is_equivalent(a)
    assert root.resolve_str("a/b.k")._is_equivalent(b)

    not_found(NC.missing_node, "x/y", root.resolve, name("a/x/y"))
    not_found(NC.missing_node, "b", root.resolve, name("a/b"))
    not_found(NC.not_context, "o/x/y", root.resolve, name("a/b.k/o/x/y"))
    not_found(NC.not_object, "a", root.rebind, name("a"), root)
    not_found(NC.not_context, "o", b.rebind_context, name("o"), root)
    not_found(NC.missing_node, "x", a.unbind, name("x"))
    raises(NC.AlreadyBound, root.bind, name("a"), root)
    raises(NC.AlreadyBound, root.bind_new_context, name("a"))
    raises(NC.InvalidName, root.resolve, [])
    raises(NC.InvalidName, root.resolve_str, "a//b")
    raises(NC.NotEmpty, a.destroy)

    # Iterators.
    bound = ["n%d" % number for number in range(25)]
    for one in bound:
        b.bind(name(one), a)
    bindings, rest = b.list(10)
    assert len(bindings) == 10 and rest is not None
    more = True
    while more:
        more, some = rest.next_n(4)
        bindings += some
    listed = sorted(text(one.binding_name) for one in bindings)
    assert listed == sorted(bound + ["o"]), listed
    assert all(one.binding_type == CosNaming.nobject for one in bindings)
    assert not rest.next_one()[0]
    rest.destroy()
    raises(CORBA.OBJECT_NOT_EXIST, rest.next_n, 1)
    bindings, rest = a.list(5)
    assert rest is None and [one.binding_type for one in bindings] == [CosNaming.ncontext]

    # Text and URLs.
    assert root.to_string([CosNaming.NameComponent("a/b", "c.d")]) == "a\\/b.c\\.d"
    assert text(root.to_name("a/b.k")) == "a/b.k"
    assert root.to_url(":h:1/K", "a b") == "corbaname::h:1/K#a%20b"
    raises(CosNaming.NamingContextExt.InvalidAddress, root.to_url, "", "a")
    a.bind([CosNaming.NameComponent("c d/.", "")], b)
    for url in ["corbaname:rir:#a/b.k", "corbaname:rir:#a/c%20d%5c/%5c."]:
        assert orb.string_to_object(url)._is_equivalent(b), url
    a.unbind([CosNaming.NameComponent("c d/.", "")])

    for one in bound + ["o"]:
        b.unbind(name(one))
    b.destroy()
    raises(CORBA.OBJECT_NOT_EXIST, b.list, 1)
    a.unbind(name("b.k"))
    a.destroy()
    root.unbind(name("a"))


orb = CORBA.ORB_init(sys.argv, CORBA.ORB_ID)
check(orb, orb.resolve_initial_references("NameService")._narrow(CosNaming.NamingContextExt))
print("all checks passed", flush=True)
# Its threads may abort an interpreter that ends gracefully.
os._exit(0)
