// The class of values of Dynamics::Special: JacORB finds it by its name.

package Dynamics;

public class SpecialImpl extends Special {
}
