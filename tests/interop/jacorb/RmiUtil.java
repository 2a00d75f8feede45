// What JacORB asks of RMI before it looks whether a value is one of IDL. The classes of JBoss for this need
// internals that JDKs have no longer: java -Djavax.rmi.CORBA.UtilClass=RmiUtil

import java.io.Serializable;
import java.rmi.Remote;
import java.rmi.RemoteException;

import javax.rmi.CORBA.Stub;
import javax.rmi.CORBA.Tie;
import javax.rmi.CORBA.UtilDelegate;
import javax.rmi.CORBA.ValueHandler;

import org.omg.CORBA.ORB;
import org.omg.CORBA.SystemException;
import org.omg.CORBA.portable.InputStream;
import org.omg.CORBA.portable.OutputStream;
import org.omg.SendingContext.RunTime;

public final class RmiUtil implements UtilDelegate, ValueHandler {
    private static UnsupportedOperationException unsupported() {
        return new UnsupportedOperationException("values of RMI");
    }

    @Override public ValueHandler createValueHandler() { return this; }
    @Override public String getRMIRepositoryID(Class<?> type) { return "RMI:" + type.getName() + ":0"; }
    @Override public Class<?> loadClass(String name, String codebase, ClassLoader loader)
        throws ClassNotFoundException {
        return Class.forName(name, true, loader == null ? getClass().getClassLoader() : loader);
    }
    @Override public String getCodebase(Class<?> type) { return null; }
    @Override public boolean isCustomMarshaled(Class<?> type) { return false; }
    @Override public RunTime getRunTimeCodeBase() { return null; }
    @Override public Serializable writeReplace(Serializable value) { return value; }

    @Override public void writeValue(OutputStream out, Serializable value) { throw unsupported(); }
    @Override public Serializable readValue(
        InputStream in, int offset, Class<?> type, String id, RunTime sender) { throw unsupported(); }
    @Override public RemoteException mapSystemException(SystemException error) { throw unsupported(); }
    @Override public void writeAny(OutputStream out, Object value) { throw unsupported(); }
    @Override public Object readAny(InputStream in) { throw unsupported(); }
    @Override public void writeRemoteObject(OutputStream out, Object value) { throw unsupported(); }
    @Override public void writeAbstractObject(OutputStream out, Object value) { throw unsupported(); }
    @Override public void registerTarget(Tie tie, Remote target) { throw unsupported(); }
    @Override public void unexportObject(Remote target) { throw unsupported(); }
    @Override public Tie getTie(Remote target) { throw unsupported(); }
    @Override public boolean isLocal(Stub stub) { throw unsupported(); }
    @Override public RemoteException wrapException(Throwable error) { throw unsupported(); }
    @Override public Object copyObject(Object value, ORB orb) { throw unsupported(); }
    @Override public Object[] copyObjects(Object[] values, ORB orb) { throw unsupported(); }
}
