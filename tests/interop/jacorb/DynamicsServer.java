// A JacORB server of Dynamics::Exchange (see ../idl/dynamics.idl).
//
//   java DynamicsServer --ior FILE [--proxy REFERENCE] [-Dproperty=value before DynamicsServer]

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.Properties;

import org.omg.CORBA.ORB;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

import Dynamics.Exchange;
import Dynamics.ExchangeHelper;
import Dynamics.ExchangeOperations;
import Dynamics.ExchangePOATie;

public final class DynamicsServer {
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
        ORB orb = ORB.init(new String[0], properties);
        POA poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        poa.the_POAManager().activate();
        Exchange passedTo = target == null ? null : ExchangeHelper.narrow(orb.string_to_object(target));
        InvocationHandler handler = (proxy, method, values) -> {
            if (method.getName().equals("shutdown")) {
                new Thread(() -> {
                    try {
                        Thread.sleep(200);
                    } catch (InterruptedException ignored) {
                        // It ends all the same.
                    }
                    orb.shutdown(false);
                }).start();
                return null;
            }
            if (passedTo != null) {
                try {
                    return method.invoke(passedTo, values);
                } catch (InvocationTargetException error) {
                    throw error.getCause();
                }
            }
            if (values.length == 1) {
                return values[0];
            }
            var inout = values[1].getClass().getField("value");
            Object before = inout.get(values[1]);
            inout.set(values[1], values[2]);
            values[3].getClass().getField("value").set(values[3], before);
            return values[0];
        };
        ExchangeOperations operations = (ExchangeOperations) Proxy.newProxyInstance(
            DynamicsServer.class.getClassLoader(), new Class<?>[] {ExchangeOperations.class}, handler);
        String ior = orb.object_to_string(new ExchangePOATie(operations, poa)._this(orb));
        // A reader never sees half of it.
        Path part = Paths.get(file + ".part");
        Files.write(part, ior.getBytes("US-ASCII"));
        Files.move(part, Paths.get(file), StandardCopyOption.ATOMIC_MOVE);
        orb.run();
        System.exit(0);
    }
}
