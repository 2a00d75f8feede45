//! The interfaces of calls: attributes, exceptions, oneway, much data, and names that Rust reserves.

use std::{sync::MutexGuard, thread, time::Duration};

use punctual::{Completion, ObjectRef, SystemException, SystemExceptionKind};

use super::{PeerServant, peer::State};
use crate::interop::{
    Attributes, Bulk, Colour, Detailed, DivideByZero, Empty, FAVOURITE, Failures, Keywords, LeafView,
    LongSeq, Mood, Notes, OctetSeq, Point, Rejected, Reserved, ReservedView, StringSeq, SystemFailure,
    Vector, failures, r#impl,
};

impl PeerServant {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds this")
    }

    /// Changes an attribute that `writes` counts.
    fn set(&self, change: impl FnOnce(&mut State)) -> Result<(), SystemException> {
        let mut state = self.state();
        change(&mut state);
        state.writes += 1;
        Ok(())
    }
}

impl Attributes for PeerServant {
    fn level(&self) -> Result<i32, SystemException> {
        Ok(self.state().level)
    }

    fn set_level(&self, value: i32) -> Result<(), SystemException> {
        self.set(|state| state.level = value)
    }

    fn wide_part(&self) -> Result<i16, SystemException> {
        Ok(self.state().wide_part)
    }

    fn set_wide_part(&self, value: i16) -> Result<(), SystemException> {
        self.set(|state| state.wide_part = value)
    }

    fn high_part(&self) -> Result<i16, SystemException> {
        Ok(self.state().high_part)
    }

    fn set_high_part(&self, value: i16) -> Result<(), SystemException> {
        self.set(|state| state.high_part = value)
    }

    fn heading(&self) -> Result<String, SystemException> {
        Ok(self.state().heading.clone())
    }

    fn set_heading(&self, value: &str) -> Result<(), SystemException> {
        self.set(|state| value.clone_into(&mut state.heading))
    }

    fn origin(&self) -> Result<Point, SystemException> {
        Ok(self.state().origin.clone())
    }

    fn set_origin(&self, value: &Point) -> Result<(), SystemException> {
        self.set(|state| state.origin = value.clone())
    }

    fn history(&self) -> Result<LongSeq, SystemException> {
        Ok(self.state().history.clone())
    }

    fn set_history(&self, value: &[i32]) -> Result<(), SystemException> {
        self.set(|state| value.clone_into(&mut state.history))
    }

    fn setting(&self) -> Result<Vector, SystemException> {
        Ok(self.state().setting)
    }

    fn set_setting(&self, value: &Vector) -> Result<(), SystemException> {
        self.set(|state| state.setting = *value)
    }

    fn anything(&self) -> Result<Option<ObjectRef>, SystemException> {
        Ok(self.state().anything.clone())
    }

    fn set_anything(&self, value: Option<ObjectRef>) -> Result<(), SystemException> {
        self.set(|state| state.anything = value)
    }

    fn favourite(&self) -> Result<Colour, SystemException> {
        Ok(FAVOURITE)
    }

    fn writes(&self) -> Result<u32, SystemException> {
        Ok(self.state().writes)
    }
}

impl Failures for PeerServant {
    fn fail_empty(&self) -> Result<(), failures::FailEmptyError> {
        Err(Empty {}.into())
    }

    fn divide(&self, a: i32, b: i32) -> Result<(i32, i32), failures::DivideError> {
        if b == 0 {
            return Err(DivideByZero {}.into());
        }
        if a < 0 {
            let reason = "negative".to_owned();
            return Err(Rejected { reason, code: a }.into());
        }
        Ok((a / b, a % b))
    }

    fn fail_detailed(&self, what: &str, item: LeafView<'_>) -> Result<String, failures::FailDetailedError> {
        Err(Detailed {
            what: what.to_owned(),
            path: item.values.to_vec(),
            item: item.into(),
            tint: Colour::Blue,
            r#where: Point { x: 1, y: 2 },
        }
        .into())
    }

    fn fail_system(
        &self,
        which: SystemFailure,
        minor_code: u32,
        completed: crate::interop::Completion,
    ) -> Result<(), SystemException> {
        use crate::interop::Completion as Wanted;
        let kind = match which {
            SystemFailure::FailUnknown => SystemExceptionKind::Unknown,
            SystemFailure::FailBadParam => SystemExceptionKind::BadParam,
            SystemFailure::FailNoMemory => SystemExceptionKind::NoMemory,
            SystemFailure::FailImpLimit => SystemExceptionKind::ImpLimit,
            SystemFailure::FailInvObjref => SystemExceptionKind::InvObjref,
            SystemFailure::FailNoPermission => SystemExceptionKind::NoPermission,
            SystemFailure::FailInternal => SystemExceptionKind::Internal,
            SystemFailure::FailNoResources => SystemExceptionKind::NoResources,
            SystemFailure::FailNoImplement => SystemExceptionKind::NoImplement,
            SystemFailure::FailBadInvOrder => SystemExceptionKind::BadInvOrder,
            SystemFailure::FailDataConversion => SystemExceptionKind::DataConversion,
        };
        let completed = match completed {
            Wanted::CompletedYesValue => Completion::Yes,
            Wanted::CompletedNoValue => Completion::No,
            Wanted::CompletedMaybeValue => Completion::Maybe,
        };
        Err(SystemException::new(kind, minor_code, completed))
    }

    fn crash(&self) -> Result<(), SystemException> {
        panic!("crash was asked for")
    }
}

impl Notes for PeerServant {
    fn note(&self, value: i32) -> Result<(), SystemException> {
        let mut state = self.state();
        state.sum += value;
        state.notes += 1;
        Ok(())
    }

    fn note_all(&self, text: &str, values: &[i32]) -> Result<(), SystemException> {
        self.note(text.len() as i32 + values.iter().sum::<i32>())
    }

    fn noted(&self) -> Result<(i32, u32), SystemException> {
        let state = self.state();
        Ok((state.sum, state.notes))
    }

    fn reset_notes(&self) -> Result<(), SystemException> {
        let mut state = self.state();
        (state.sum, state.notes) = (0, 0);
        Ok(())
    }
}

impl Bulk for PeerServant {
    fn make_octets(&self, count: u32) -> Result<OctetSeq, SystemException> {
        Ok((0..count).map(|i| (i % 251) as u8).collect())
    }

    fn make_longs(&self, count: u32) -> Result<LongSeq, SystemException> {
        Ok((0..count as i32).map(|i| i * 3 - 1000).collect())
    }

    fn make_words(&self, count: u32) -> Result<StringSeq, SystemException> {
        Ok((0..count).map(|i| format!("word-{i}")).collect())
    }

    fn checksum(&self, bytes: &[u8]) -> Result<u32, SystemException> {
        let add = |sum: u32, octet: &u8| sum.wrapping_mul(31).wrapping_add(u32::from(*octet));
        Ok(bytes.iter().fold(0, add))
    }

    fn large(
        &self,
        bytes: &[u8],
        numbers: &mut LongSeq,
        count: u32,
    ) -> Result<(u32, StringSeq), SystemException> {
        numbers.reverse();
        Ok((self.checksum(bytes)?, self.make_words(count)?))
    }

    fn pause(&self, milliseconds: u32) -> Result<(), SystemException> {
        thread::sleep(Duration::from_millis(milliseconds.into()));
        Ok(())
    }
}

impl Keywords for PeerServant {
    fn r#yield(&self) -> Result<i32, SystemException> {
        Ok(self.state().r#yield)
    }

    fn set_yield(&self, value: i32) -> Result<(), SystemException> {
        self.state().r#yield = value;
        Ok(())
    }

    fn r#type(&self, r#type: i32) -> Result<i32, SystemException> {
        Ok(r#type + 1)
    }

    fn r#match(&self, r#ref: &str, r#mut: &str) -> Result<bool, SystemException> {
        Ok(r#ref == r#mut)
    }

    fn self_(&self, self_: i32) -> Result<i32, SystemException> {
        Ok(-self_)
    }

    fn r#loop(&self, r#use: u32) -> Result<(u32, u32), SystemException> {
        Ok((2 * r#use, r#use))
    }

    fn r#move(&self, crate_: ReservedView<'_>, super_: &mut Mood) -> Result<Reserved, SystemException> {
        *super_ = Mood::Dyn;
        Ok(crate_.into())
    }

    fn r#fn(&self, r#let: r#impl::Trait) -> Result<r#impl::Use, SystemException> {
        let r#dyn = r#let + r#impl::UNSAFE;
        Ok(r#impl::Use { r#dyn })
    }

    fn clone(&self) -> Result<String, SystemException> {
        Ok("clone".to_owned())
    }

    fn drop(&self, n: i32) -> Result<i32, SystemException> {
        Ok(n - 1)
    }

    fn interface(&self, r#in: i32) -> Result<i32, SystemException> {
        Ok(r#in * 3)
    }
}
