//! A grant, for people and for programs.

use serde::Serialize;
use shellgate_journal::calendar::exact;
use shellgate_journal::{GrantId, GrantScope, HeldGrant};
use shellgate_text::escape::line as escape;

use super::answers::prefix_text;

/// A grant that holds, as `approvals grants --json` prints it.
#[derive(Debug, Serialize)]
pub struct GrantView<'a> {
    id: GrantId,
    exec_id: &'a str,
    session: &'a str,
    root: &'a str,
    directory: &'a str,
    /// The command, if the grant is for exactly one.
    command: Option<&'a str>,
    scope: &'a GrantScope,
    at: String,
    ends_at: String,
}

impl<'a> GrantView<'a> {
    /// The view of a grant.
    #[must_use]
    pub fn of(held: &'a HeldGrant) -> Self {
        let HeldGrant { id, exec_id, session, at, grant } = held;
        Self {
            id: *id,
            exec_id,
            session,
            root: &grant.root,
            directory: &grant.directory,
            command: match &grant.scope {
                GrantScope::Exact { text, .. } => Some(without_surroundings(text).0),
                GrantScope::Prefix(_) => None,
            },
            scope: &grant.scope,
            at: exact(*at),
            ends_at: exact(held.ends_at()),
        }
    }
}

/// What a grant allows, in a line.
#[must_use]
pub fn scope_text(scope: &GrantScope) -> String {
    match scope {
        GrantScope::Exact { text, .. } => {
            let (command, has_more) = without_surroundings(text);
            let more = if has_more { ", with the same variables and input" } else { "" };
            format!("exactly `{}`{more}", escape(command))
        }
        GrantScope::Prefix(words) => format!("`{} …`", prefix_text(words)),
    }
}

/// The command of a grant for exactly one, and whether the grant also names variables or standard input. Those are a last line
/// of JSON.
fn without_surroundings(text: &str) -> (&str, bool) {
    let more = text.rsplit_once('\n').filter(|(_, last)| {
        let last: Option<serde_json::Value> = serde_json::from_str(last).ok();
        let last = last.as_ref().and_then(serde_json::Value::as_object);
        last.is_some_and(|last| last.len() == 2 && last.contains_key("env") && last.contains_key("stdin"))
    });
    more.map_or((text, false), |(command, _)| (command, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_is_shown_by_its_command() {
        let exact = |text: &str| scope_text(&GrantScope::Exact { text: text.to_owned(), argv: None });
        assert_eq!(exact("ls\necho \u{1b}"), "exactly `ls‹LF›echo ‹ESC›`");
        assert_eq!(
            exact("ls\n{\"env\":{},\"stdin\":\"unknown\"}"),
            "exactly `ls`, with the same variables and input"
        );
        let words = ["git", "log"].map(str::to_owned).to_vec();
        assert_eq!(scope_text(&GrantScope::Prefix(words)), "`git log …`");
    }
}
