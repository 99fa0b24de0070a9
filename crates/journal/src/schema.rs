//! The tables, and how an older journal becomes a newer one.
//!
//! The version is SQLite's `user_version`. A migration may add and rebuild what is derived; it never touches `entries`,
//! because the chain would break.

use rusqlite::Connection;

use crate::error::Error;

/// Marks the file as ours: "sgjl".
pub(crate) const APPLICATION: i64 = 0x7367_6a6c;

/// Step `n` leads from version `n` to `n + 1`.
pub(crate) const STEPS: &[&str] = &[include_str!("schema/1.sql")];

/// The version that the steps lead to.
pub(crate) const fn newest(steps: &[&str]) -> i64 {
    steps.len() as i64
}

/// The version of the journal behind this connection.
pub(crate) fn version(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Brings the journal to the newest version, all or nothing. Several processes may try at once.
pub(crate) fn migrate(connection: &mut Connection, steps: &[&str]) -> Result<(), Error> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    let known = newest(steps);
    if found > known {
        return Err(Error::Newer { found, known });
    }
    for step in steps.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    Ok(transaction.commit()?)
}

/// Every table and index with the text that makes it, to see whether somebody added to them.
pub(crate) fn objects(connection: &Connection) -> Result<Vec<(String, Option<String>)>, rusqlite::Error> {
    let mut statement = connection.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::{STEPS, migrate, newest, objects, version};
    use crate::error::Error;

    #[test]
    fn every_version_becomes_the_newest_one() {
        let steps = [STEPS, &["CREATE TABLE later (a INTEGER) STRICT;"]].concat();
        let mut fresh = Connection::open_in_memory().unwrap();
        migrate(&mut fresh, &steps).unwrap();
        for from in 0..=steps.len() {
            let mut old = Connection::open_in_memory().unwrap();
            migrate(&mut old, &steps[..from]).unwrap();
            assert_eq!(version(&old).unwrap(), newest(&steps[..from]));
            migrate(&mut old, &steps).unwrap();
            assert_eq!(version(&old).unwrap(), newest(&steps));
            assert_eq!(objects(&old).unwrap(), objects(&fresh).unwrap(), "from version {from}");
        }
    }

    #[test]
    fn a_step_that_fails_changes_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, STEPS).unwrap();
        let before = objects(&connection).unwrap();
        let broken = [STEPS, &["CREATE TABLE later (a INTEGER); CREATE TABLE entries (a INTEGER);"]].concat();
        migrate(&mut connection, &broken).unwrap_err();
        assert_eq!(objects(&connection).unwrap(), before);
        assert_eq!(version(&connection).unwrap(), newest(STEPS));
    }

    #[test]
    fn a_version_from_the_future_is_refused() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "user_version", newest(STEPS) + 1).unwrap();
        let error = migrate(&mut connection, STEPS).unwrap_err();
        assert!(matches!(error, Error::Newer { found: 2, known: 1 }), "{error}");
    }
}
