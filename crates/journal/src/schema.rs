//! The tables, and the migration of a journal to a newer version.
//!
//! The version is SQLite's `user_version`. A migration may add tables and rebuild derived ones. It never changes
//! `entries`, because that would break the chain.

use rusqlite::Connection;

use crate::error::Error;

/// SQLite's `application_id` of a journal: "sgjl".
pub(crate) const APPLICATION_ID: i64 = 0x7367_6a6c;

/// The migrations. Number `n` leads from version `n` to `n + 1`.
pub(crate) const MIGRATIONS: &[&str] = &[include_str!("schema/1.sql"), include_str!("schema/2.sql")];

/// The version that the migrations lead to.
pub(crate) const fn newest(migrations: &[&str]) -> i64 {
    migrations.len() as i64
}

/// The version of the journal that `connection` has open.
pub(crate) fn version(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Migrates the journal to the newest version, in one transaction. Several processes may try at once.
pub(crate) fn migrate(connection: &mut Connection, migrations: &[&str]) -> Result<(), Error> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    let known = newest(migrations);
    if found > known {
        return Err(Error::Newer { found, known });
    }
    for migration in migrations.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    Ok(transaction.commit()?)
}

/// Every table, index and trigger with the SQL that created it, to find out whether one was added or changed.
pub(crate) fn objects(connection: &Connection) -> Result<Vec<(String, Option<String>)>, rusqlite::Error> {
    let mut statement = connection.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::{MIGRATIONS, migrate, newest, objects, version};
    use crate::error::Error;

    #[test]
    fn every_version_becomes_the_newest_one() {
        let migrations = [MIGRATIONS, &["CREATE TABLE later (a INTEGER) STRICT;"]].concat();
        let mut fresh = Connection::open_in_memory().unwrap();
        migrate(&mut fresh, &migrations).unwrap();
        for from in 0..=migrations.len() {
            let mut old = Connection::open_in_memory().unwrap();
            migrate(&mut old, &migrations[..from]).unwrap();
            assert_eq!(version(&old).unwrap(), newest(&migrations[..from]));
            migrate(&mut old, &migrations).unwrap();
            assert_eq!(version(&old).unwrap(), newest(&migrations));
            assert_eq!(objects(&old).unwrap(), objects(&fresh).unwrap(), "from version {from}");
        }
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, MIGRATIONS).unwrap();
        let before = objects(&connection).unwrap();
        let broken =
            [MIGRATIONS, &["CREATE TABLE later (a INTEGER); CREATE TABLE entries (a INTEGER);"]].concat();
        migrate(&mut connection, &broken).unwrap_err();
        assert_eq!(objects(&connection).unwrap(), before);
        assert_eq!(version(&connection).unwrap(), newest(MIGRATIONS));
    }

    #[test]
    fn a_newer_version_is_refused() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "user_version", newest(MIGRATIONS) + 1).unwrap();
        let error = migrate(&mut connection, MIGRATIONS).unwrap_err();
        assert!(matches!(error, Error::Newer { found: 3, known: 2 }), "{error}");
    }
}
