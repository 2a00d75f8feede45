// A JacORB client of a naming service: checks its operations, exceptions and URLs.
//
//     java -DORBInitRef.NameService=URL NamingClient URL

import java.util.ArrayList;
import java.util.List;
import org.omg.CORBA.OBJECT_NOT_EXIST;
import org.omg.CORBA.ORB;
import org.omg.CosNaming.Binding;
import org.omg.CosNaming.BindingIteratorHolder;
import org.omg.CosNaming.BindingListHolder;
import org.omg.CosNaming.BindingType;
import org.omg.CosNaming.NameComponent;
import org.omg.CosNaming.NamingContext;
import org.omg.CosNaming.NamingContextExt;
import org.omg.CosNaming.NamingContextExtHelper;
import org.omg.CosNaming.NamingContextPackage.AlreadyBound;
import org.omg.CosNaming.NamingContextPackage.InvalidName;
import org.omg.CosNaming.NamingContextPackage.NotEmpty;
import org.omg.CosNaming.NamingContextPackage.NotFound;
import org.omg.CosNaming.NamingContextPackage.NotFoundReason;

public final class NamingClient {
    private interface Call {
        void run() throws Exception;
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    /** `a/b.c` without escapes. */
    private static NameComponent[] name(String text) {
        String[] parts = text.split("/");
        NameComponent[] components = new NameComponent[parts.length];
        for (int i = 0; i < parts.length; i++) {
            String[] part = parts[i].split("\\.", 2);
            components[i] = new NameComponent(part[0], part.length > 1 ? part[1] : "");
        }
        return components;
    }

    private static Exception raised(Class<? extends Exception> exception, Call call) {
        try {
            call.run();
        } catch (Exception other) {
            check(exception.isInstance(other), "not " + exception + " but " + other);
            return other;
        }
        throw new AssertionError("no " + exception);
    }

    private static void notFound(NotFoundReason why, int rest, Call call) {
        NotFound error = (NotFound) raised(NotFound.class, call);
        check(error.why.value() == why.value(), "why: " + error.why.value());
        check(error.rest_of_name.length == rest, "rest: " + error.rest_of_name.length);
    }

    public static void main(String[] arguments) throws Exception {
        ORB orb = ORB.init(arguments, System.getProperties());
        NamingContextExt root =
            NamingContextExtHelper.narrow(orb.resolve_initial_references("NameService"));
        NamingContext a = root.bind_new_context(name("a"));
        NamingContext b = root.bind_new_context(name("a/b.k"));
        root.bind(name("a/b.k/o"), root);
        root.rebind(name("a/b.k/o"), a);
        check(root.resolve(name("a/b.k/o"))._is_equivalent(a), "a/b.k/o");
        check(root.resolve_str("a/b.k")._is_equivalent(b), "a/b.k");

        notFound(NotFoundReason.missing_node, 2, () -> root.resolve(name("a/x/y")));
        notFound(NotFoundReason.missing_node, 1, () -> root.resolve(name("a/b")));
        notFound(NotFoundReason.not_context, 3, () -> root.resolve(name("a/b.k/o/x/y")));
        notFound(NotFoundReason.not_object, 1, () -> root.rebind(name("a"), root));
        notFound(NotFoundReason.not_context, 1, () -> b.rebind_context(name("o"), root));
        notFound(NotFoundReason.missing_node, 1, () -> root.unbind(name("x")));
        raised(AlreadyBound.class, () -> root.bind(name("a"), root));
        raised(AlreadyBound.class, () -> root.bind_new_context(name("a")));
        raised(InvalidName.class, () -> root.resolve(new NameComponent[0]));
        raised(InvalidName.class, () -> root.to_name("a//b"));
        raised(NotEmpty.class, () -> a.destroy());

        for (int i = 0; i < 25; i++) {
            b.bind(name("n" + i), a);
        }
        BindingListHolder bindings = new BindingListHolder();
        BindingIteratorHolder rest = new BindingIteratorHolder();
        b.list(10, bindings, rest);
        check(bindings.value.length == 10 && rest.value != null, "the first ten");
        List<String> names = new ArrayList<>();
        do {
            for (Binding one : bindings.value) {
                check(one.binding_type.value() == BindingType._nobject, "an object");
                names.add(one.binding_name[0].id);
            }
        } while (rest.value.next_n(4, bindings));
        check(names.size() == 26 && names.contains("o") && names.contains("n24"), names.toString());
        rest.value.destroy();
        raised(OBJECT_NOT_EXIST.class, () -> rest.value.next_n(1, bindings));

        check(root.to_string(name("a/b.k")).equals("a/b.k"), "to_string");
        check(root.to_url(":h:1/K", "a b").equals("corbaname::h:1/K#a%20b"), "to_url");
        String url = arguments[0].replace("corbaloc:", "corbaname:") + "#a/b.k";
        check(orb.string_to_object(url)._is_equivalent(b), url);

        for (String one : names) {
            b.unbind(name(one));
        }
        b.destroy();
        raised(OBJECT_NOT_EXIST.class, () -> b.new_context());
        a.unbind(name("b.k"));
        a.destroy();
        root.unbind(name("a"));
        System.out.println("all checks passed");
        orb.shutdown(true);
    }
}
