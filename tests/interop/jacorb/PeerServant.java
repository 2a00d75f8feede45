// The main object. All rotate_x are one method, by reflection; the others have a method each.

import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

import org.omg.CORBA.BooleanHolder;
import org.omg.CORBA.ByteHolder;
import org.omg.CORBA.CharHolder;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.DoubleHolder;
import org.omg.CORBA.FloatHolder;
import org.omg.CORBA.IntHolder;
import org.omg.CORBA.LongHolder;
import org.omg.CORBA.ORB;
import org.omg.CORBA.ShortHolder;
import org.omg.PortableServer.POA;

import Interop.*;
import Interop.Prefixed.Odd;
import Interop.Prefixed.Versioned;
import Interop.Prefixed.VersionedPOA;

public final class PeerServant {
    private final ORB orb;
    private final POA poa;
    private Peer self;

    private int level;
    private short widePart;
    private short highPart;
    private String heading = "";
    private Point origin = new Point();
    private int[] history = {};
    private int[] setting = new int[4];
    private org.omg.CORBA.Object anything;
    private int writes;
    private int sum;
    private int notes;
    private int yielded;

    PeerServant(ORB orb, POA poa) {
        this.orb = orb;
        this.poa = poa;
    }

    void isKnownAs(Peer self) {
        this.self = self;
    }

    PeerOperations operations() {
        return of((proxy, method, arguments) -> {
            if (method.getName().startsWith("rotate_")) {
                Object before = value(arguments[1]).get(arguments[1]);
                value(arguments[3]).set(arguments[3], before);
                value(arguments[1]).set(arguments[1], arguments[2]);
                return arguments[0];
            }
            return invoke(this, method, arguments);
        });
    }

    /**
     * All operations are those of the target, but the one that ends this server. With an adapter of callbacks the
     * target calls objects in it back, which pass this on.
     */
    PeerOperations proxy(Peer target, POA callbacks) {
        return of((proxy, method, arguments) -> {
            if (method.getName().equals("shutdown")) {
                shutdown();
                return null;
            }
            if (callbacks != null && arguments != null && arguments[0] instanceof Listener) {
                arguments[0] = new ListenerPOATie((Listener) arguments[0], callbacks)._this(orb);
            } else if (callbacks != null && method.getName().equals("bounce")) {
                arguments[0] = new BouncerPOATie((Bouncer) arguments[0], callbacks)._this(orb);
            }
            return invoke(target, method, arguments);
        });
    }

    private static PeerOperations of(InvocationHandler handler) {
        Class<?>[] interfaces = {PeerOperations.class};
        return (PeerOperations) Proxy.newProxyInstance(PeerServant.class.getClassLoader(), interfaces, handler);
    }

    private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return target.getClass().getMethod(method.getName(), method.getParameterTypes()).invoke(target, arguments);
        } catch (InvocationTargetException raised) {
            throw raised.getCause();
        }
    }

    private static Field value(Object holder) throws NoSuchFieldException {
        return holder.getClass().getField("value");
    }

    // Basics

    public void ping() {}

    public int add(int a, int b) {
        return a + b;
    }

    public Mixed collect(boolean flag, double real, char letter, short small, byte raw, long huge, short usmall,
            float single, int normal, long big, int unormal) {
        return new Mixed(flag, real, letter, small, raw, huge, usmall, single, normal, raw, big, unormal,
                Colour.BLUE, new Point(normal, normal + 1));
    }

    public void spread(Mixed m, BooleanHolder flag, DoubleHolder real, CharHolder letter, ShortHolder small,
            ByteHolder raw, LongHolder huge, ShortHolder usmall, FloatHolder single, IntHolder normal,
            LongHolder big, IntHolder unormal) {
        flag.value = m.flag;
        real.value = m.real;
        letter.value = m.letter;
        small.value = m.small;
        raw.value = m.raw;
        huge.value = m.huge;
        usmall.value = m.usmall;
        single.value = m.single;
        normal.value = m.normal;
        big.value = m.big;
        unormal.value = m.unormal;
    }

    public Constants get_constants() {
        return new Constants(YES.value, NO.value, LETTER.value, NEWLINE.value, (byte) OCTET_TOP.value,
                SHORT_LOW.value, USHORT_TOP.value, LONG_LOW.value, ULONG_TOP.value, LONGLONG_LOW.value,
                ULONGLONG_TOP.value, QUARTER.value, AVOGADRO.value, GREETING.value, FAVOURITE.value, BITS.value,
                ARITHMETIC.value, BOUND.value, HALF_BITS.value, BasicsOperations.INNER);
    }

    // Text

    public String concat(String a, String b) {
        return a + b;
    }

    public int[] code_points(String text) {
        return text.codePoints().toArray();
    }

    public String from_code_points(int[] points) {
        for (int point : points) {
            if (point == 0 || !Character.isValidCodePoint(point)) {
                throw new org.omg.CORBA.DATA_CONVERSION(0, CompletionStatus.COMPLETED_NO);
            }
        }
        return new String(points, 0, points.length);
    }

    // Constructed

    public int count_nodes(Tree root) {
        int count = 1;
        for (Tree child : root.children) {
            count += count_nodes(child);
        }
        return count;
    }

    public String describe_shape(Shape shape) {
        switch (shape.discriminator().value()) {
            case Colour._RED: return "width " + shape.width();
            case Colour._GREEN: return "caption " + shape.caption();
            default: return "corner " + shape.corner().x + "," + shape.corner().y;
        }
    }

    // Sequences and arrays

    public long sum_longs(int[] values) {
        long total = 0;
        for (int value : values) {
            total += value;
        }
        return total;
    }

    public void reverse_strings(StringSeqHolder values) {
        java.util.Collections.reverse(java.util.Arrays.asList(values.value));
    }

    public double[][] make_matrix() {
        return new double[][] {{0, 1, 2}, {10, 11, 12}};
    }

    // Attributes

    public int level() { return level; }
    public void level(int value) { level = value; writes++; }
    public short wide_part() { return widePart; }
    public void wide_part(short value) { widePart = value; writes++; }
    public short high_part() { return highPart; }
    public void high_part(short value) { highPart = value; writes++; }
    public String heading() { return heading; }
    public void heading(String value) { heading = value; writes++; }
    public Point origin() { return origin; }
    public void origin(Point value) { origin = value; writes++; }
    public int[] history() { return history; }
    public void history(int[] value) { history = value; writes++; }
    public int[] setting() { return setting; }
    public void setting(int[] value) { setting = value; writes++; }
    public org.omg.CORBA.Object anything() { return anything; }
    public void anything(org.omg.CORBA.Object value) { anything = value; writes++; }
    public Colour favourite() { return FAVOURITE.value; }
    public int writes() { return writes; }

    // Failures

    public void fail_empty() throws Empty {
        throw new Empty();
    }

    public int divide(int a, int b, IntHolder remainder) throws DivideByZero, Rejected {
        if (b == 0) {
            throw new DivideByZero();
        }
        if (a < 0) {
            throw new Rejected("negative", a);
        }
        remainder.value = a % b;
        return a / b;
    }

    public String fail_detailed(String what, Leaf item) throws Detailed {
        throw new Detailed(what, item, Colour.BLUE, item.values, new Point(1, 2));
    }

    public void fail_system(SystemFailure which, int minor, Completion completed) {
        CompletionStatus status = CompletionStatus.from_int(completed.value());
        switch (which.value()) {
            case SystemFailure._FAIL_UNKNOWN: throw new org.omg.CORBA.UNKNOWN(minor, status);
            case SystemFailure._FAIL_BAD_PARAM: throw new org.omg.CORBA.BAD_PARAM(minor, status);
            case SystemFailure._FAIL_NO_MEMORY: throw new org.omg.CORBA.NO_MEMORY(minor, status);
            case SystemFailure._FAIL_IMP_LIMIT: throw new org.omg.CORBA.IMP_LIMIT(minor, status);
            case SystemFailure._FAIL_INV_OBJREF: throw new org.omg.CORBA.INV_OBJREF(minor, status);
            case SystemFailure._FAIL_NO_PERMISSION: throw new org.omg.CORBA.NO_PERMISSION(minor, status);
            case SystemFailure._FAIL_INTERNAL: throw new org.omg.CORBA.INTERNAL(minor, status);
            case SystemFailure._FAIL_NO_RESOURCES: throw new org.omg.CORBA.NO_RESOURCES(minor, status);
            case SystemFailure._FAIL_NO_IMPLEMENT: throw new org.omg.CORBA.NO_IMPLEMENT(minor, status);
            case SystemFailure._FAIL_BAD_INV_ORDER: throw new org.omg.CORBA.BAD_INV_ORDER(minor, status);
            default: throw new org.omg.CORBA.DATA_CONVERSION(minor, status);
        }
    }

    public void crash() {
        throw new IllegalStateException("crash was asked for");
    }

    // Notes

    public synchronized void note(int value) {
        sum += value;
        notes++;
    }

    public synchronized void note_all(String text, int[] values) {
        sum += text.length() + (int) sum_longs(values);
        notes++;
    }

    public synchronized int noted(IntHolder count) {
        count.value = notes;
        return sum;
    }

    public synchronized void reset_notes() {
        sum = 0;
        notes = 0;
    }

    // References

    public int bounce(Bouncer other, int depth) {
        return depth <= 0 ? 0 : 1 + other.bounce(self, depth - 1);
    }

    public Counter make_counter(int start) {
        return new CounterServant(start)._this(orb);
    }

    public Bottom make_bottom(String called) {
        return new BottomServant(called)._this(orb);
    }

    public org.omg.CORBA.Object myself() {
        return self;
    }

    public Counter no_counter() {
        return null;
    }

    public int total(Counter[] counters) {
        int total = 0;
        for (Counter counter : counters) {
            total += counter == null ? 0 : counter.value();
        }
        return total;
    }

    public int increase_held(HolderHolder held, int by) {
        held.value.after++;
        return held.value.counter_ref == null ? -1 : held.value.counter_ref.increase(by);
    }

    public String kind_of(org.omg.CORBA.Object ref) {
        if (ref == null) {
            return "nil";
        }
        String[][] kinds = {
            {"counter", CounterHelper.id()}, {"bottom", BottomHelper.id()}, {"left", LeftSideHelper.id()},
            {"listener", ListenerHelper.id()}, {"peer", PeerHelper.id()},
        };
        for (String[] kind : kinds) {
            if (ref._is_a(kind[1])) {
                return kind[0];
            }
        }
        return "other";
    }

    public boolean equivalent(org.omg.CORBA.Object a, org.omg.CORBA.Object b) {
        return a == null || b == null ? a == b : a._is_equivalent(b);
    }

    public int use_left(LeftSide side, int n) {
        return side.twice(n);
    }

    public Named widen(Bottom whole) {
        return whole;
    }

    public int call_back(Listener who, int times, String text) throws Rejected {
        int total = 0;
        for (int i = 0; i < times; i++) {
            total += who.heard(i, text);
        }
        return total;
    }

    public void call_back_oneway(Listener who, int times) {
        for (int i = 0; i < times; i++) {
            who.told(i);
        }
    }

    // Bulk

    public byte[] make_octets(int count) {
        byte[] octets = new byte[count];
        for (int i = 0; i < count; i++) {
            octets[i] = (byte) (i % 251);
        }
        return octets;
    }

    public int[] make_longs(int count) {
        int[] longs = new int[count];
        for (int i = 0; i < count; i++) {
            longs[i] = i * 3 - 1000;
        }
        return longs;
    }

    public String[] make_words(int count) {
        String[] words = new String[count];
        for (int i = 0; i < count; i++) {
            words[i] = "word-" + i;
        }
        return words;
    }

    public int checksum(byte[] octets) {
        int checksum = 0;
        for (byte octet : octets) {
            checksum = checksum * 31 + (octet & 0xFF);
        }
        return checksum;
    }

    public int large(byte[] octets, LongSeqHolder numbers, int count, StringSeqHolder words) {
        int[] reversed = numbers.value.clone();
        for (int i = 0; i < reversed.length; i++) {
            reversed[i] = numbers.value[reversed.length - 1 - i];
        }
        numbers.value = reversed;
        words.value = make_words(count);
        return checksum(octets);
    }

    public void pause(int milliseconds) throws InterruptedException {
        Thread.sleep(milliseconds);
    }

    // Keywords

    public int yield() { return yielded; }
    public void yield(int value) { yielded = value; }
    public int type(int n) { return n + 1; }
    public boolean match(String a, String b) { return a.equals(b); }
    public int self(int n) { return -n; }
    public int loop(int n, IntHolder where) { where.value = n; return 2 * n; }
    public Reserved move(Reserved reserved, MoodHolder mood) { mood.value = Mood.dyn; return reserved; }
    public Interop.impl.use fn(int n) { return new Interop.impl.use(n + Interop.impl.unsafe.value); }
    public String _clone() { return "clone"; }
    public int drop(int n) { return n - 1; }
    public int _interface(int n) { return 3 * n; }

    // Peer

    public Versioned make_versioned() {
        return new VersionedServant()._this(orb);
    }

    public void shutdown() {
        new Thread(() -> orb.shutdown(true)).start();
    }

    private final class CounterServant extends CounterPOA {
        private int value;

        CounterServant(int start) {
            value = start;
        }

        public synchronized int value() { return value; }
        public synchronized int increase(int n) { return value += n; }

        public void destroy() {
            try {
                poa.deactivate_object(_object_id());
            } catch (org.omg.CORBA.UserException unexpected) {
                throw new IllegalStateException(unexpected);
            }
        }
    }

    private static final class BottomServant extends BottomPOA {
        private final String name;

        BottomServant(String name) {
            this.name = name;
        }

        public String given_name() { return name; }
        public String greet(String whom) { return name + " greets " + whom; }
        public int twice(int n) { return 2 * n; }
        public int square(int n) { return n * n; }
        public int both(int n) { return twice(n) + square(n); }
    }

    private static final class VersionedServant extends VersionedPOA {
        public String who() { return "versioned"; }
        public void fail_odd(int number) throws Odd { throw new Odd(number); }
    }
}
