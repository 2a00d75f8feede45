//! Large structs of many small members, in every place of a type, and boxed arrays.

use punctual_any::{Any, AnyView, TypeCode};
use punctual_cdr::{Endian, Shared, filled_array};
use punctual_generated_tests::{
    MemoryOrb,
    large_scalars::large_scalars::{
        Archive, ArchiveRef, Blocks, BlocksView, BoxedFilm, BoxedFrame, BoxedNames, BoxedTable, Letters,
        LettersView, Log, Overrun, Page, PageView, Row, Sorter, SorterRef, Table, TableView, Titles,
        TitlesView, TwoBlocks, archive::FileTableError, sorter::SortError,
    },
};
use punctual_stub::Skeleton;
use punctual_types::SystemException;

type Outcome<T> = Result<T, SystemException>;

/// Returns `given`, and `other` as the third; `other` becomes `given`.
struct Shelf;

impl Archive for Shelf {
    fn file_table(&self, given: TableView<'_>, other: &mut Table) -> Result<(Table, Table), FileTableError> {
        if given.r0.a < 0.0 {
            let r128 = Box::new(given.r0.clone());
            return Err(Overrun {
                r128,
                ..Overrun::default()
            }
            .into());
        }
        let third = std::mem::replace(other, given.to_owned());
        Ok((given.to_owned(), third))
    }

    fn file_blocks(&self, given: BlocksView<'_>, other: &mut Blocks) -> Outcome<(Blocks, Blocks)> {
        let third = std::mem::replace(other, given.to_owned());
        Ok((given.to_owned(), third))
    }

    fn file_letters(&self, given: LettersView<'_>, other: &mut Letters) -> Outcome<(Letters, Letters)> {
        let third = std::mem::replace(other, given.to_owned());
        Ok((given.to_owned(), third))
    }

    fn file_titles(&self, given: TitlesView<'_>, other: &mut Titles) -> Outcome<(Titles, Titles)> {
        let third = std::mem::replace(other, given.to_owned());
        Ok((given.to_owned(), third))
    }

    fn file_tables(&self, given: &[TableView<'_>], other: &mut TwoBlocks) -> Outcome<(Vec<Table>, Page)> {
        other.swap(0, 1);
        let tables = given.iter().map(TableView::to_owned).collect();
        Ok((tables, Page::Rows(given[0].to_owned())))
    }

    fn file_log(
        &self,
        given: Option<Shared<Log>>,
        frame: &mut Option<Shared<BoxedFrame>>,
        all_names: &mut Option<Shared<BoxedNames>>,
        film: &mut Option<Shared<BoxedFilm>>,
    ) -> Outcome<Option<Shared<Log>>> {
        let mut reversed = frame.as_ref().map_or([0; 40], |frame| frame.0);
        reversed.reverse();
        *frame = Some(Shared::new(BoxedFrame(reversed)));
        assert!(all_names.is_some() && film.is_some());
        Ok(given)
    }

    fn box_table(&self, given: PageView<'_>) -> Outcome<Option<Shared<BoxedTable>>> {
        Ok(match given {
            PageView::Rows(rows) => Some(Shared::new(BoxedTable(rows.to_owned()))),
            PageView::Text(_) => None,
        })
    }
}

impl Sorter for Shelf {
    fn sort(&self, _deeply: bool) -> Result<(), SortError> {
        Err(Overrun::default().into())
    }
}

/// Errors and values that a lane does not keep count for the stacks of threads.
#[test]
fn large_values_and_errors_are_stated_for_stacks() {
    assert!(<SorterRef as Skeleton<Shelf>>::VALUES_ON_STACK >= size_of::<SortError>());
    let decoded = size_of::<TableView<'_>>() + size_of::<FileTableError>();
    assert!(<ArchiveRef as Skeleton<Shelf>>::VALUES_ON_STACK >= decoded);
    let orb = MemoryOrb::new(Endian::Little);
    let object: SorterRef = orb.activate(Shelf);
    assert!(matches!(object.sort(true), Err(SortError::Overrun(_))));
}

/// The sizes that `docs/mapping.md` states for members, and those of structs with boxed ones.
#[test]
fn members_have_the_stated_sizes() {
    assert_eq!([size_of::<Any>(), size_of::<AnyView<'_>>()], [80, 144]);
    assert_eq!(size_of::<TypeCode>(), 48);
    assert_eq!([size_of::<Titles>(), size_of::<TitlesView<'_>>()], [172 * 8; 2]);
    assert_eq!([size_of::<Table>(), size_of::<TableView<'_>>()], [129 * 8; 2]);
    assert_eq!([size_of::<Blocks>(), size_of::<Letters>()], [65 * 8, 65 * 8 + 24]);
}

fn table(a: f64) -> Table {
    let row = |a| Box::new(Row { a, ..Row::default() });
    Table {
        r0: row(a),
        r128: row(2.0 * a),
        ..Table::default()
    }
}

fn blocks(octet: u8) -> Blocks {
    Blocks {
        b64: Box::new([octet; 64]),
        ..Blocks::default()
    }
}

fn letters(title: &str) -> Letters {
    Letters {
        title: title.to_owned(),
        body: blocks(7),
    }
}

macro_rules! check {
    ($object:expr; $($method:ident, $into:ident $a:expr, $b:expr;)*) => {$({
        let (a, b) = ($a, $b);
        let mut inout = b.clone();
        let (mut result, mut out) = $object.$method(&a, &mut inout).unwrap();
        assert!((&result, &inout, &out) == (&a, &a, &b), stringify!($method));
        for _ in 0..2 {
            (inout, result, out) = (b.clone(), b.clone(), a.clone());
            $object.$into(&a, &mut inout, &mut result, &mut out).unwrap();
            assert!((&result, &inout, &out) == (&a, &a, &b), stringify!($into));
        }
    })*};
}

#[test]
fn large_structs_of_small_members_travel_in_all_directions() {
    let titles = |text: &str| Titles {
        t171: Box::new(text.to_owned()),
        ..Titles::default()
    };
    for endian in [Endian::Big, Endian::Little] {
        let orb = MemoryOrb::new(endian);
        let object: ArchiveRef = orb.activate(Shelf);
        let mut other = table(2.0);
        let (given, third) = object.file_table(&table(1.0), &mut other).unwrap();
        assert_eq!((given, other, third), (table(1.0), table(1.0), table(2.0)));
        let mut other = blocks(2);
        let (given, third) = object.file_blocks(&blocks(1), &mut other).unwrap();
        assert_eq!((given, other, third), (blocks(1), blocks(1), blocks(2)));
        check! { object;
            file_letters, file_letters_into letters("a"), letters("another");
            file_titles, file_titles_into titles("a"), titles("another");
        }
        let mut two = [blocks(1), blocks(2)];
        let (tables, page) = object.file_tables(&[table(3.0), table(4.0)], &mut two).unwrap();
        assert_eq!(
            (tables, page),
            (vec![table(3.0), table(4.0)], Page::Rows(table(3.0)))
        );
        assert_eq!(two, [blocks(2), blocks(1)]);
        let Err(FileTableError::Overrun(overrun)) = object.file_table(&table(-1.0), &mut table(0.0)) else {
            panic!("no exception");
        };
        assert_eq!(overrun.r128.a, -1.0);
    }
}

#[test]
fn boxed_arrays_have_a_default_and_travel() {
    let orb = MemoryOrb::new(Endian::Little);
    let object: ArchiveRef = orb.activate(Shelf);
    let mut log = Log::default();
    log.r128.d = 1.0;
    let mut first = BoxedFrame::default();
    first.0[0] = 5;
    let mut frame = Some(Shared::new(first));
    let (mut names, mut film) = (
        Some(Shared::new(BoxedNames::default())),
        Some(Shared::new(BoxedFilm::default())),
    );
    assert_eq!(film.as_ref().unwrap().0, filled_array(0));
    let returned = object
        .file_log(Some(&Shared::new(log)), &mut frame, &mut names, &mut film)
        .unwrap();
    assert_eq!(returned.unwrap().r128.d, 1.0);
    assert_eq!(frame.unwrap().0[39], 5);
    let boxed = object.box_table(&Page::Rows(table(1.0))).unwrap().unwrap();
    assert_eq!(boxed.0, table(1.0));
    assert!(object.box_table(&Page::Text(letters("a"))).unwrap().is_none());
}
