//! Resources: what a job printed, and what the record says about an execution.

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use shellgate::jobs::{OutputQuery, StreamPart};
use shellgate::request::Detail;
use shellgate::text::Limit;
use shellgate::{Code, ErrorObject, Gate, Stream};

use crate::client::Client;
use crate::jobs::is_below;

const SCHEME: &str = "shellgate://";

/// What a name stands for.
enum Wanted<'a> {
    Printed(&'a str, Stream),
    Record(&'a str),
}

impl<'a> Wanted<'a> {
    fn of(uri: &'a str) -> Option<Self> {
        let parts: Vec<&str> = uri.strip_prefix(SCHEME)?.split('/').collect();
        match parts.as_slice() {
            ["jobs", id, "stdout"] => Some(Self::Printed(id, Stream::Stdout)),
            ["jobs", id, "stderr"] => Some(Self::Printed(id, Stream::Stderr)),
            ["history", id] => Some(Self::Record(id)),
            _ => None,
        }
    }

    fn id(&self) -> &'a str {
        match self {
            Self::Printed(id, _) | Self::Record(id) => id,
        }
    }
}

/// The names that a client can make itself.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, about: &str, kind: &str| {
        ResourceTemplate::new(format!("{SCHEME}{uri}"), name).with_description(about).with_mime_type(kind)
    };
    vec![
        template("jobs/{id}/stdout", "stdout", "What a job printed to standard output", "text/plain"),
        template("jobs/{id}/stderr", "stderr", "What a job printed to standard error", "text/plain"),
        template(
            "history/{id}",
            "record",
            "What was asked, who allowed it, how it ended",
            "application/json",
        ),
    ]
}

/// The jobs of the client's session, as resources.
pub(crate) fn list(gate: &Gate, client: &Client) -> Vec<Resource> {
    let own = client.principal.session(gate);
    // Without a record there is nothing to list.
    let jobs = gate.jobs().and_then(|jobs| jobs.list()).unwrap_or_default();
    let jobs = jobs.iter().filter(|job| own.as_ref().is_none_or(|own| is_below(&job.session, own)));
    jobs.map(|job| {
        Resource::new(format!("{SCHEME}jobs/{}/stdout", job.id), job.id.clone())
            .with_title(job.command.clone())
            .with_description(format!("{}: its standard output", job.status))
            .with_mime_type("text/plain")
    })
    .collect()
}

/// Reads one.
pub(crate) fn read(gate: &Gate, uri: &str, client: &Client) -> Result<ReadResourceResult, ErrorData> {
    let unknown = || ErrorData::resource_not_found(format!("there is no `{uri}`"), None);
    let wanted = Wanted::of(uri).ok_or_else(unknown)?;
    let contents = found(gate, &wanted, client).map_err(|error| match error.code {
        Code::UnknownJob | Code::InvalidInput => unknown(),
        _ => ErrorData::internal_error(error.to_string(), None),
    })?;
    let kind = match wanted {
        Wanted::Printed(..) => "text/plain",
        Wanted::Record(_) => "application/json",
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(contents, uri).with_mime_type(kind)]))
}

fn found(gate: &Gate, wanted: &Wanted<'_>, client: &Client) -> Result<String, ErrorObject> {
    let jobs = gate.jobs()?;
    let execution = jobs.find(wanted.id())?;
    if client.principal.session(gate).is_some_and(|own| !is_below(&execution.session, &own)) {
        return Err(ErrorObject::new(Code::UnknownJob, "it is another's"));
    }
    match wanted {
        Wanted::Printed(_, stream) => {
            let ranges = jobs.ranges(&execution.id, &StreamPart::default())?;
            let most = usize::try_from(gate.settings().limits.answer_bytes).unwrap_or(usize::MAX);
            let excerpt = OutputQuery {
                stream: *stream,
                bytes: ranges.get(*stream).clone(),
                grep: None,
                limit: Limit::Bytes(most),
            };
            Ok(jobs.read(&execution.id, &excerpt)?.text)
        }
        Wanted::Record(_) => {
            let report = jobs.report(&execution.id, Detail::Full)?;
            // A report is strings, numbers and lists: it always serializes.
            Ok(serde_json::to_string(&report).unwrap_or_default())
        }
    }
}
