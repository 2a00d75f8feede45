// The class of values of Dynamics::Node: JacORB finds it by its name.

package Dynamics;

public class NodeImpl extends Node {
}
