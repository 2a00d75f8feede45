//! A radar publishes tracks; a slow display, a log, an alarm and a watchdog subscribe.

use std::{error::Error, sync::mpsc, thread, time::Duration};

use punctual::Priority;
use punctual_events::{EventChannel, Filter, Overflow, SourceId, Topic, topic};

punctual::include_idl!("radar");
topic!(Track = 16);
topic!(Alarm = 17);

const RADAR: i32 = 7;

fn main() -> Result<(), Box<dyn Error>> {
    // A thread for consumers of low priority, and one for those of high priority.
    let channel = EventChannel::builder()
        .lane(Priority::MIN, 1)
        .lane(Priority::MAX, 1)
        .build()?;

    // Takes its events when it likes.
    let log = channel.subscribe::<Track>().receiver()?;
    // Shows the newest two: it is too slow for all.
    let display = channel
        .subscribe::<Track>()
        .source(RADAR)
        .queue(2, Overflow::DropOldest);
    let display = display.each(|_| thread::sleep(Duration::from_millis(100)))?;
    // Never waits for the display.
    let (horn, heard) = mpsc::channel();
    let blow = move |alarm: Alarm| horn.send(alarm.text).expect("main listens");
    let _alarm = channel.subscribe::<Alarm>().priority(Priority::MAX).each(blow)?;
    // A timeout comes whenever the radar has been silent for half a second.
    let tracks = Filter::event(Track::EVENT_TYPE).from(SourceId(RADAR));
    let silence = Filter::unless_within(Duration::from_millis(500));
    let watchdog = channel
        .subscribe_to(Filter::any_of([tracks, silence]))
        .receiver()?;

    let radar = channel.publish::<Track>().source(RADAR);
    for number in 0..100 {
        radar.push(&Track {
            number,
            altitude: 9_000.0,
        })?;
    }
    channel.publish::<Alarm>().push(&Alarm {
        text: "terrain".into(),
    })?;

    println!("alarm: {}", heard.recv()?);
    let logged = std::iter::from_fn(|| log.try_recv()).count();
    println!("log: {logged} tracks");
    println!(
        "display: lost most tracks: {}",
        display.statistics().undelivered.lost > 50
    );
    let is_track = |kind| kind == Track::EVENT_TYPE.0;
    let first = std::iter::from_fn(|| watchdog.recv()).find(|event| !is_track(event.header.r#type));
    println!("watchdog: radar is silent: {}", first.is_some());
    Ok(())
}
