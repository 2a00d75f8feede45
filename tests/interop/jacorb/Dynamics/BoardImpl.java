// The class of values of Dynamics::Board: JacORB finds it by its name.

package Dynamics;

public class BoardImpl extends Board {
}
