//! Verifying the chain, entry by entry.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::{Anchors, Difference, Intact, VerifyError, broken};
use crate::body::{Checkpoint, EntryBody, EntryKind, Gap};
use crate::chain::{digest, head};
use crate::entry::{COLUMNS, EntryRow};
use crate::error::Error;
use crate::hash::{Head, Sha};

pub(super) fn check(
    connection: &Connection,
    anchors: Anchors,
    reached: &mut u64,
) -> Result<Intact, VerifyError> {
    let pruned = beginning(connection)?;
    let mut walk = ChainWalk {
        last: pruned.unwrap_or(Head { seq: 0, hash: Sha::NONE }),
        entries: 0,
        forgotten: 0,
        unexplained: BTreeSet::new(),
        gap: None,
    };
    let begins = walk.last;
    *reached = begins.seq;
    if let Some(anchor) = anchors.given {
        compare_beginning(begins, anchor)?;
    }
    let mut statement = connection.prepare(&format!("SELECT {COLUMNS} FROM entries ORDER BY seq"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        walk.step(&EntryRow::read(row)?)?;
        *reached = walk.last.seq;
        let is_other = |anchor: &Head| anchor.seq == walk.last.seq && anchor.hash != walk.last.hash;
        if let Some(anchor) = anchors.all().find(is_other) {
            return broken(anchor.seq, Difference::Anchor { anchored: anchor.hash, found: walk.last.hash });
        }
    }
    if let Some(seq) = walk.unexplained.first() {
        return broken(*seq, Difference::Gone);
    }
    let recorded = head(connection)?;
    if recorded != walk.last {
        return broken(walk.last.seq, Difference::End { recorded });
    }
    if let Some(anchor) = anchors.all().find(|anchor| anchor.seq > walk.last.seq) {
        return broken(walk.last.seq, Difference::Shortened { anchored: anchor.seq });
    }
    let is_known = |seq: u64| anchors.given.is_some_and(|anchor| anchor.seq >= seq);
    if let Some((seq, gap)) = walk.gap.filter(|(seq, _)| !is_known(*seq)) {
        return broken(seq, Difference::Lost { through: gap.through });
    }
    Ok(Intact { head: walk.last, entries: walk.entries, forgotten: walk.forgotten, pruned })
}

/// Where the chain begins, according to the newest checkpoint. The checkpoint's own hash is verified later, like that of
/// any other entry.
fn beginning(connection: &Connection) -> Result<Option<Head>, Error> {
    let select = "SELECT body FROM entries WHERE kind = 'checkpoint' ORDER BY seq DESC LIMIT 1";
    let mut statement = connection.prepare(select)?;
    let mut rows = statement.query([])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let Checkpoint { through, hash, .. } = serde_json::from_str(&row.get::<_, String>(0)?)?;
    Ok(Some(Head { seq: through, hash }))
}

/// Compares an anchor with the last pruned entry, the only one of the pruned entries that is known.
fn compare_beginning(begins: Head, anchor: Head) -> Result<(), VerifyError> {
    if anchor == begins || anchor.seq > begins.seq {
        return Ok(());
    }
    let what = if anchor.seq == begins.seq {
        Difference::Anchor { anchored: anchor.hash, found: begins.hash }
    } else {
        Difference::AnchorPruned { anchored: anchor.seq }
    };
    broken(begins.seq, what)
}

/// The state of the walk along the chain.
struct ChainWalk {
    last: Head,
    entries: u64,
    forgotten: u64,
    /// Entries without content that no tombstone has listed yet. The tombstone comes later in the chain.
    unexplained: BTreeSet<u64>,
    /// The last loss, and its entry.
    gap: Option<(u64, Gap)>,
}

impl ChainWalk {
    fn step(&mut self, raw: &EntryRow) -> Result<(), VerifyError> {
        let expected = self.last.seq + 1;
        if raw.seq != expected && self.entries == 0 {
            return broken(raw.seq, Difference::Beginning);
        }
        if raw.seq != expected {
            return broken(expected, Difference::Missing { found: raw.seq });
        }
        if raw.previous != self.last.hash {
            let what = Difference::Link { recorded: raw.previous, found: self.last.hash };
            return broken(raw.seq, what);
        }
        let hash = raw.header().hash()?;
        if hash != raw.hash {
            return broken(raw.seq, Difference::Columns { recorded: raw.hash, found: hash });
        }
        self.check_content(raw)?;
        self.last = Head { seq: raw.seq, hash };
        self.entries += 1;
        Ok(())
    }

    fn check_content(&mut self, raw: &EntryRow) -> Result<(), VerifyError> {
        let (Some(body), Some(salt)) = (&raw.body, &raw.salt) else {
            if raw.body.is_some() || raw.salt.is_some() {
                return broken(raw.seq, Difference::Gone);
            }
            self.unexplained.insert(raw.seq);
            self.forgotten += 1;
            return Ok(());
        };
        let found = digest(salt, body);
        if found != raw.body_sha256 {
            return broken(raw.seq, Difference::Content { recorded: raw.body_sha256, found });
        }
        match raw.kind {
            EntryKind::Tombstone => {
                if let Some(EntryBody::Tombstone(tombstone)) = raw.parse_body()? {
                    self.unexplained.retain(|seq| !tombstone.entries.contains(seq));
                }
            }
            EntryKind::Gap => {
                if let Some(EntryBody::Gap(gap)) = raw.parse_body()? {
                    self.gap = Some((raw.seq, gap));
                }
            }
            _ => {}
        }
        Ok(())
    }
}
