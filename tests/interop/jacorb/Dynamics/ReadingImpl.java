// The class of values of Dynamics::Reading, a custom type: JacORB finds it by its name.

package Dynamics;

import org.omg.CORBA.DataInputStream;
import org.omg.CORBA.DataOutputStream;

public class ReadingImpl extends Reading {
    @Override
    public void marshal(DataOutputStream out) {
        out.write_octet((byte) 1);
        out.write_string(text);
        out.write_double(weight);
        out.write_long(id);
    }

    @Override
    public void unmarshal(DataInputStream in) {
        in.read_octet();
        text = in.read_string();
        weight = in.read_double();
        id = in.read_long();
    }
}
