//! Text, attributes, exceptions, requests that do not fit, oneway calls, and names that Rust reserves.

use std::time::Duration;

use punctual::{Completion, SystemExceptionKind};

use punctual_fixtures::waiting::holds_within;

use super::{Context, Failure, Outcome, checks, ensure, expect_eq, expect_raises};
use crate::{interop::*, sample::Sample};

checks![
    ping,
    add,
    text_ascii,
    text_latin1,
    text_beyond_latin1,
    text_server_has_more,
    char_latin1,
    char_beyond_latin1,
    attributes,
    fail_empty,
    divide,
    fail_detailed,
    fail_system,
    crash,
    unknown_operation,
    undeclared_exception,
    body_too_short,
    no_such_enumerator,
    string_over_its_bound,
    sequence_over_its_bound,
    length_without_elements,
    oneway,
    reserved_words,
    repository_ids,
];

fn ping(x: &Context) -> Outcome {
    for _ in 0..100 {
        x.peer.ping()?;
    }
    Ok(())
}

fn add(x: &Context) -> Outcome {
    expect_eq!(x.peer.add(40, 2)?, 42);
    expect_eq!(x.peer.add(-2_000_000_000, 1)?, -1_999_999_999);
    Ok(())
}

/// Sends and receives text, as text and as code points.
fn exchange(x: &Context, text: &str) -> Outcome {
    let points: Vec<u32> = text.chars().map(u32::from).collect();
    expect_eq!(x.peer.code_points(text)?, points);
    expect_eq!(x.peer.from_code_points(&points)?, text);
    expect_eq!(x.peer.concat(text, text)?, text.repeat(2));
    Ok(())
}

fn text_ascii(x: &Context) -> Outcome {
    exchange(x, "plain")
}

fn text_latin1(x: &Context) -> Outcome {
    exchange(x, "Grüße £ éÿ\u{a0}")
}

/// Over a connection in ISO-8859-1 the client refuses to send.
fn text_beyond_latin1(x: &Context) -> Outcome {
    let text = "日本 € Ω 😀";
    if x.speaks_utf8() {
        return exchange(x, text);
    }
    let refused = expect_raises!(DataConversion, x.peer.code_points(text));
    expect_eq!(refused.completed, Completion::No);
    Ok(())
}

/// The code set of the connection cannot represent the server's text.
fn text_server_has_more(x: &Context) -> Outcome {
    let answer = x.peer.from_code_points(&[0x20AC]);
    if x.speaks_utf8() {
        expect_eq!(answer?, "€");
    } else {
        expect_raises!(DataConversion, answer);
    }
    Ok(())
}

/// A `char` is one octet: beyond ASCII UTF-8 has none.
fn char_latin1(x: &Context) -> Outcome {
    let mut b = 'ÿ';
    let answer = x.peer.rotate_char('é', &mut b, 'c');
    if x.speaks_utf8() {
        let refused = expect_raises!(DataConversion, answer);
        expect_eq!(refused.completed, Completion::No);
    } else {
        expect_eq!(answer?, ('é', 'ÿ'));
        expect_eq!(b, 'c');
    }
    Ok(())
}

fn char_beyond_latin1(x: &Context) -> Outcome {
    let refused = expect_raises!(DataConversion, x.peer.rotate_char('€', &mut 'b', 'c'));
    expect_eq!(refused.completed, Completion::No);
    Ok(())
}

fn attributes(x: &Context) -> Outcome {
    let peer = &x.peer;
    let before = peer.writes()?;
    peer.set_level(-70_000)?;
    expect_eq!(peer.level()?, -70_000);
    peer.set_wide_part(11)?;
    peer.set_high_part(-12)?;
    expect_eq!((peer.wide_part()?, peer.high_part()?), (11, -12));
    peer.set_heading("a heading")?;
    expect_eq!(peer.heading()?, "a heading");
    let origin = Point { x: 5, y: -6 };
    peer.set_origin(&origin)?;
    expect_eq!(peer.origin()?, origin);
    peer.set_history(&[8, -9])?;
    expect_eq!(peer.history()?, [8, -9]);
    peer.set_setting(&[1, -2, 3, -4])?;
    expect_eq!(peer.setting()?, [1, -2, 3, -4]);
    let own = peer.myself()?;
    peer.set_anything(own.as_ref())?;
    ensure!(peer.anything()?.is_some_and(|anything| Some(anything) == own));
    peer.set_anything(None)?;
    ensure!(peer.anything()?.is_none());
    expect_eq!(peer.favourite()?, Colour::Green);
    expect_eq!(peer.writes()?, before + 9);
    Ok(())
}

fn fail_empty(x: &Context) -> Outcome {
    ensure!(matches!(
        x.peer.fail_empty(),
        Err(failures::FailEmptyError::Empty(Empty {}))
    ));
    Ok(())
}

fn divide(x: &Context) -> Outcome {
    use failures::DivideError;
    expect_eq!(x.peer.divide(17, 5)?, (3, 2));
    ensure!(matches!(x.peer.divide(1, 0), Err(DivideError::DivideByZero(_))));
    let Err(DivideError::Rejected(Rejected { reason, code })) = x.peer.divide(-3, 1) else {
        return Err(Failure("divide(-3, 1) did not raise Rejected".to_owned()));
    };
    expect_eq!((reason.as_str(), code), ("negative", -3));
    Ok(())
}

fn fail_detailed(x: &Context) -> Outcome {
    let item = Leaf::sample(0);
    let Err(failures::FailDetailedError::Detailed(raised)) = x.peer.fail_detailed("what it was", &item)
    else {
        return Err(Failure("fail_detailed did not raise Detailed".to_owned()));
    };
    let expected = Detailed {
        what: "what it was".to_owned(),
        path: item.values.clone(),
        item,
        tint: Colour::Blue,
        r#where: Point { x: 1, y: 2 },
    };
    expect_eq!(raised, expected);
    Ok(())
}

fn fail_system(x: &Context) -> Outcome {
    use crate::interop::Completion as Wanted;
    const YES: Wanted = Wanted::CompletedYesValue;
    const NO: Wanted = Wanted::CompletedNoValue;
    const MAYBE: Wanted = Wanted::CompletedMaybeValue;
    let cases = [
        (SystemFailure::FailUnknown, 1, YES, SystemExceptionKind::Unknown),
        (SystemFailure::FailBadParam, 0, NO, SystemExceptionKind::BadParam),
        (
            SystemFailure::FailNoMemory,
            0x4f4d_0003,
            MAYBE,
            SystemExceptionKind::NoMemory,
        ),
        (SystemFailure::FailImpLimit, 4, NO, SystemExceptionKind::ImpLimit),
        (
            SystemFailure::FailInvObjref,
            0xffff_ffff,
            YES,
            SystemExceptionKind::InvObjref,
        ),
        (
            SystemFailure::FailNoPermission,
            6,
            NO,
            SystemExceptionKind::NoPermission,
        ),
        (
            SystemFailure::FailInternal,
            7,
            MAYBE,
            SystemExceptionKind::Internal,
        ),
        (
            SystemFailure::FailNoResources,
            8,
            NO,
            SystemExceptionKind::NoResources,
        ),
        (
            SystemFailure::FailNoImplement,
            9,
            YES,
            SystemExceptionKind::NoImplement,
        ),
        (
            SystemFailure::FailBadInvOrder,
            10,
            NO,
            SystemExceptionKind::BadInvOrder,
        ),
        (
            SystemFailure::FailDataConversion,
            11,
            YES,
            SystemExceptionKind::DataConversion,
        ),
    ];
    for (which, minor, completed, kind) in cases {
        let raised = super::raises(kind, x.peer.fail_system(which, minor, completed), "fail_system")?;
        expect_eq!(raised.minor, punctual::Minor::from(minor));
        expect_eq!(raised.completed as u32, completed as u32);
    }
    Ok(())
}

fn crash(x: &Context) -> Outcome {
    expect_raises!(Unknown, x.peer.crash());
    x.peer.ping()?;
    Ok(())
}

fn impostor(x: &Context) -> ImpostorRef {
    x.peer.unchecked()
}

fn unknown_operation(x: &Context) -> Outcome {
    expect_raises!(BadOperation, impostor(x).no_such_operation(1));
    Ok(())
}

fn undeclared_exception(x: &Context) -> Outcome {
    expect_raises!(Unknown, impostor(x).fail_empty());
    Ok(())
}

fn body_too_short(x: &Context) -> Outcome {
    expect_raises!(Marshal, impostor(x).add(1));
    Ok(())
}

fn no_such_enumerator(x: &Context) -> Outcome {
    let mut b = 1;
    expect_eq!(impostor(x).rotate_colour(2, &mut b, 0)?, (2, 1));
    expect_raises!(Marshal, impostor(x).rotate_colour(3, &mut b, 0));
    Ok(())
}

fn string_over_its_bound(x: &Context) -> Outcome {
    let mut b = "b".to_owned();
    expect_raises!(
        Marshal,
        impostor(x).rotate_label("seventeen octets!", &mut b, "c")
    );
    Ok(())
}

fn sequence_over_its_bound(x: &Context) -> Outcome {
    expect_raises!(
        Marshal,
        impostor(x).rotate_few_longs(&[0, 1, 2, 3, 4], &mut Vec::new(), &[])
    );
    Ok(())
}

fn length_without_elements(x: &Context) -> Outcome {
    expect_raises!(Marshal, impostor(x).sum_longs(1));
    expect_raises!(Marshal, impostor(x).sum_longs(u32::MAX));
    x.peer.ping()?;
    Ok(())
}

fn oneway(x: &Context) -> Outcome {
    x.peer.reset_notes()?;
    for i in 1..=50 {
        x.peer.note(i)?;
    }
    x.peer.note_all("seven..", &[1000, -1])?;
    // A server may serve oneway calls side by side.
    let all = holds_within(Duration::from_secs(5), || {
        x.peer.noted().is_ok_and(|(_, count)| count == 51)
    });
    ensure!(all);
    expect_eq!(x.peer.noted()?, (1275 + 999 + 7, 51));
    Ok(())
}

fn reserved_words(x: &Context) -> Outcome {
    let peer = &x.peer;
    expect_eq!(peer.r#type(1)?, 2);
    ensure!(peer.r#match("a", "a")? && !peer.r#match("a", "b")?);
    expect_eq!(peer.self_(5)?, -5);
    expect_eq!(peer.r#loop(21)?, (42, 21));
    let reserved = Reserved {
        r#type: 1,
        r#match: "m".to_owned(),
        r#fn: true,
    };
    let mut mood = Mood::Async;
    expect_eq!(peer.r#move(&reserved, &mut mood)?, reserved);
    expect_eq!(mood, Mood::Dyn);
    expect_eq!(peer.r#fn(35)?.r#dyn, 42);
    expect_eq!(PeerRef::clone(peer)?, "clone");
    expect_eq!(PeerRef::drop(peer, 3)?, 2);
    expect_eq!(peer.interface(14)?, 42);
    peer.set_yield(9)?;
    expect_eq!(peer.r#yield()?, 9);
    Ok(())
}

fn repository_ids(x: &Context) -> Outcome {
    let versioned = x.peer.make_versioned()?.ok_or("nil")?;
    expect_eq!(versioned.who()?, "versioned");
    ensure!(versioned.is_a("IDL:elsewhere.test/Versioned:2.3")?);
    ensure!(!versioned.is_a("IDL:elsewhere.test/Versioned:1.0")?);
    let Err(prefixed::versioned::FailOddError::Odd(odd)) = versioned.fail_odd(3) else {
        return Err(Failure("fail_odd did not raise Odd".to_owned()));
    };
    expect_eq!(odd.number, 3);
    Ok(())
}
