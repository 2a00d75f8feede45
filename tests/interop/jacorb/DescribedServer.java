// JacORB's interface repository, and a server of Described::Mover whose objects lead to it.
//
//   java -Ddescribed.classes=FOLDER DescribedServer --ior FILE
//
// The classes in the folder, compiled with -ir, are what the repository knows. Ends by Mover::shutdown().

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.Properties;

import org.omg.CORBA.IntHolder;
import org.omg.CORBA.ORB;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

import Described.Colour;
import Described.MoverPOA;
import Described.Point;
import Described.PointHolder;
import Described.Refused;

public final class DescribedServer extends MoverPOA {
    private final ORB orb;
    private int steps = 1;

    private DescribedServer(ORB orb) {
        this.orb = orb;
    }

    public static void main(String[] arguments) throws Exception {
        System.setProperty("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
        System.setProperty("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
        System.setProperty("OAIAddr", "127.0.0.1");
        Path file = Paths.get(arguments[1]);
        System.setProperty("ORBInitRef.InterfaceRepository", repository(arguments[1] + ".repository"));

        ORB orb = ORB.init(new String[0], System.getProperties());
        POA poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        poa.the_POAManager().activate();
        String ior = orb.object_to_string(poa.servant_to_reference(new DescribedServer(orb)));
        // A reader never sees half of it.
        Path part = Paths.get(file + ".part");
        Files.write(part, ior.getBytes("US-ASCII"));
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
        orb.run();
        System.exit(0);
    }

    // Starts the repository, which writes its reference to the file.
    private static String repository(String file) throws Exception {
        // One of an earlier run would lead to a repository that has ended.
        Files.deleteIfExists(Paths.get(file));
        String[] arguments = { System.getProperty("described.classes"), file };
        Thread server = new Thread(() -> org.jacorb.ir.IRServer.main(arguments));
        server.setDaemon(true);
        server.start();
        String before = "";
        for (int i = 0; i < 150; i++) {
            Thread.sleep(200);
            if (Files.exists(Paths.get(file))) {
                // It is complete once it does not grow any more.
                String ior = new String(Files.readAllBytes(Paths.get(file)), "US-ASCII").trim();
                if (ior.length() > 100 && ior.equals(before)) {
                    return ior;
                }
                before = ior;
            }
        }
        throw new IllegalStateException("the interface repository does not start");
    }

    public String name() {
        return "mover";
    }

    public int steps() {
        return steps;
    }

    public void steps(int value) {
        steps = value;
    }

    public Point[] move(Point[] points, IntHolder count, PointHolder last) throws Refused {
        if (points.length == 0) {
            throw new Refused("an empty path", Colour.GREEN);
        }
        Point[] moved = new Point[points.length];
        for (int i = 0; i < points.length; i++) {
            moved[i] = new Point(points[i].x + steps, points[i].y);
        }
        count.value += points.length;
        last.value = moved[moved.length - 1];
        return moved;
    }

    public void note(Colour colour) {
    }

    public void shutdown() {
        new Thread(() -> orb.shutdown(false)).start();
    }
}
