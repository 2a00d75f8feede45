//! Values in circles: alone, with references into a circle, and in an `any`.

use punctual::value::{Reserved, Shared, ValueGraph};

use super::{any, next, special};
use crate::dynamics::{ExchangeRef, Family, Node, Special};

/// A circle of this many nodes, numbered from 1 on; the first one is returned.
pub fn circle(length: i32) -> Shared<Node> {
    let mut graph = ValueGraph::default();
    let nodes: Vec<Reserved<Node>> = (0..length).map(|_| graph.reserve()).collect();
    let shared: Vec<_> = nodes.iter().map(Reserved::shared).collect();
    let following = shared.iter().cycle().skip(1);
    for ((id, node), next) in (1..).zip(nodes).zip(following) {
        let state = Node {
            id,
            text: format!("circle {id} of {length}"),
            next: Some(next.clone()),
        };
        graph.set(node, state);
    }
    graph.close(&shared[0])
}

/// The value is the node with this number of such a circle.
pub fn is_circle(node: Option<Shared<Node>>, first: i32, length: i32) -> Result<(), String> {
    let node = node.ok_or("null")?;
    let mut present = node.clone();
    for step in 0..length {
        let state = present.state().ok_or("a node is gone")?;
        let id = 1 + (first - 1 + step) % length;
        if (state.id, &state.text) != (id, &format!("circle {id} of {length}")) {
            return Err(format!("{:?}, not node {id} of {length}", *state));
        }
        if step > 0 && present == node {
            return Err(format!("the circle has {step} nodes, not {length}"));
        }
        present = state.next.clone().ok_or("null behind a node")?;
    }
    match present == node {
        true => Ok(()),
        false => Err(format!("the circle is open behind {length} nodes")),
    }
}

pub fn circles(exchange: &ExchangeRef) -> Result<(), String> {
    let mut inout = Some(circle(5));
    let (result, d) = exchange
        .rotate_node(Some(&circle(1)), &mut inout, Some(&circle(2)))
        .map_err(|error| error.to_string())?;
    is_circle(result, 1, 1)?;
    is_circle(inout, 1, 2)?;
    is_circle(d, 1, 5)
}

pub fn references_into_a_circle(exchange: &ExchangeRef) -> Result<(), String> {
    let family = |last| {
        let second = next(&circle(3)).expect("a second node");
        Family {
            oldest: Some(second.clone()),
            others: vec![next(&second), Some(special(9, None, Some(second)))],
            last,
        }
    };
    let mut inout = family(2);
    let (result, d) = exchange
        .rotate_family(&family(1), &mut inout, &family(3))
        .map_err(|error| error.to_string())?;
    for (found, last) in [(result, 1), (inout, 3), (d, 2)] {
        let (oldest, mut others) = (found.oldest, found.others);
        let [third, special] = &others[..] else {
            return Err(format!("{others:?}"));
        };
        let special = special.as_ref().and_then(|special| special.narrow::<Special>());
        let behind = special
            .as_ref()
            .and_then(|special| special.state()?.base.next.clone());
        if *third != oldest.as_ref().and_then(next) || behind != oldest || found.last != last {
            return Err("what was one value is several".into());
        }
        is_circle(oldest, 2, 3)?;
        is_circle(others.swap_remove(0), 3, 3)?;
    }
    Ok(())
}

/// A circle passes on unread, and becomes values where it is asked for.
pub fn any_circular(exchange: &ExchangeRef) -> Result<(), String> {
    let circular = any(&Some(circle(3)));
    let mut inout = any(&1);
    let rotated = exchange.rotate_any(&circular, &mut inout, &circular);
    let (result, d) = rotated.map_err(|error| error.to_string())?;
    for found in [result, inout] {
        is_circle(found.get().map_err(|error| error.to_string())?, 1, 3)?;
    }
    match d.get() {
        Ok(1) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}
