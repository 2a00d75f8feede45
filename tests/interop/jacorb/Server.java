// A JacORB server of Interop::Peer (see ../idl/interop.idl for what every operation does).
//
//   java Server --ior FILE [--proxy REFERENCE] [-Dproperty=value before Server]
//
// With --proxy every operation is passed on to that Peer by a JacORB client: what arrives there, and what comes
// back, has been decoded and encoded again. Ends by Peer::shutdown().

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.Properties;

import org.omg.BiDirPolicy.BIDIRECTIONAL_POLICY_TYPE;
import org.omg.BiDirPolicy.BOTH;
import org.omg.BiDirPolicy.BidirectionalPolicyValueHelper;
import org.omg.CORBA.Any;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Policy;
import org.omg.PortableServer.ImplicitActivationPolicyValue;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

import Interop.Peer;
import Interop.PeerHelper;
import Interop.PeerOperations;
import Interop.PeerPOATie;

public final class Server {
    /** This property lets JacORB open and accept bidirectional connections. */
    private static final String BIDIRECTIONAL = "org.omg.PortableInterceptor.ORBInitializerClass.bidir_init";

    public static void main(String[] arguments) throws Exception {
        String file = null;
        String target = null;
        for (int i = 0; i + 1 < arguments.length; i += 2) {
            switch (arguments[i]) {
                case "--ior": file = arguments[i + 1]; break;
                case "--proxy": target = arguments[i + 1]; break;
                default: throw new IllegalArgumentException(arguments[i]);
            }
        }
        Properties properties = new Properties();
        properties.putAll(System.getProperties());
        properties.putIfAbsent("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
        properties.putIfAbsent("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
        properties.putIfAbsent("OAIAddr", "127.0.0.1");
        properties.putIfAbsent("jacorb.codeset", "true");
        properties.putIfAbsent("jacorb.connection.client.pending_reply_timeout", "20000");
        properties.putIfAbsent("jacorb.connection.client.connect_timeout", "20000");
        ORB orb = ORB.init(new String[0], properties);
        POA poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        poa.the_POAManager().activate();

        POA callbacks = properties.containsKey(BIDIRECTIONAL) ? bidirectional(orb, poa) : null;
        PeerOperations operations;
        PeerServant servant = new PeerServant(orb, poa);
        if (target == null) {
            operations = servant.operations();
        } else {
            operations = servant.proxy(PeerHelper.narrow(orb.string_to_object(target)), callbacks);
        }
        Peer peer = new PeerPOATie(operations, poa)._this(orb);
        servant.isKnownAs(peer);
        String ior = orb.object_to_string(peer);
        ((org.jacorb.orb.ORB) orb).addObjectKey("Interop", ior);
        // A reader never sees half of it.
        Path part = Paths.get(file + ".part");
        Files.write(part, ior.getBytes("US-ASCII"));
        Files.move(part, Paths.get(file), StandardCopyOption.ATOMIC_MOVE);
        orb.run();
        System.exit(0);
    }

    /** An adapter whose objects are called over the connections that this program has opened. */
    private static POA bidirectional(ORB orb, POA root) throws Exception {
        Any both = orb.create_any();
        BidirectionalPolicyValueHelper.insert(both, BOTH.value);
        Policy[] policies = {
            root.create_implicit_activation_policy(ImplicitActivationPolicyValue.IMPLICIT_ACTIVATION),
            orb.create_policy(BIDIRECTIONAL_POLICY_TYPE.value, both),
        };
        return root.create_POA("callbacks", root.the_POAManager(), policies);
    }
}
