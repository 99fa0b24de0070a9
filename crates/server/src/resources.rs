//! Resources: the output of a job, and the record of an execution.

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use shellgate::jobs::{OutputQuery, StreamPart};
use shellgate::request::Detail;
use shellgate::text::Limit;
use shellgate::{Code, ErrorObject, Gate, Stream};

use crate::client::Client;

const SCHEME: &str = "shellgate://";

/// What a URI names.
enum ResourceName<'a> {
    Output(&'a str, Stream),
    Record(&'a str),
}

impl<'a> ResourceName<'a> {
    fn parse(uri: &'a str) -> Option<Self> {
        let parts: Vec<&str> = uri.strip_prefix(SCHEME)?.split('/').collect();
        match parts.as_slice() {
            ["jobs", id, "stdout"] => Some(Self::Output(id, Stream::Stdout)),
            ["jobs", id, "stderr"] => Some(Self::Output(id, Stream::Stderr)),
            ["history", id] => Some(Self::Record(id)),
            _ => None,
        }
    }

    fn id(&self) -> &'a str {
        match self {
            Self::Output(id, _) | Self::Record(id) => id,
        }
    }
}

/// The templates of all URIs.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, about: &str, kind: &str| {
        ResourceTemplate::new(format!("{SCHEME}{uri}"), name).with_description(about).with_mime_type(kind)
    };
    vec![
        template("jobs/{id}/stdout", "stdout", "The standard output of a job", "text/plain"),
        template("jobs/{id}/stderr", "stderr", "The standard error of a job", "text/plain"),
        template("history/{id}", "record", "The command, its approval and its result", "application/json"),
    ]
}

/// The jobs of the client's session, as resources.
pub(crate) fn list(gate: &Gate, client: &Client) -> Vec<Resource> {
    // Without a record there is nothing to list.
    let jobs = gate
        .scoped(&client.principal.scope())
        .and_then(|gate| gate.jobs()?.list())
        .map(|list| list.jobs)
        .unwrap_or_default();
    jobs.iter()
        .map(|job| {
            Resource::new(format!("{SCHEME}jobs/{}/stdout", job.id), job.id.clone())
                .with_title(job.command.clone())
                .with_description(format!("standard output, {}", job.status))
                .with_mime_type("text/plain")
        })
        .collect()
}

/// Reads a resource.
pub(crate) fn read(gate: &Gate, uri: &str, client: &Client) -> Result<ReadResourceResult, ErrorData> {
    let unknown = || ErrorData::resource_not_found(format!("there is no `{uri}`"), None);
    let name = ResourceName::parse(uri).ok_or_else(unknown)?;
    let contents = content(gate, &name, client).map_err(|error| match error.code {
        Code::UnknownJob | Code::InvalidInput => unknown(),
        _ => ErrorData::internal_error(error.to_string(), None),
    })?;
    let kind = match name {
        ResourceName::Output(..) => "text/plain",
        ResourceName::Record(_) => "application/json",
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(contents, uri).with_mime_type(kind)]))
}

fn content(gate: &Gate, name: &ResourceName<'_>, client: &Client) -> Result<String, ErrorObject> {
    let jobs = gate.scoped(&client.principal.scope())?.jobs()?;
    let execution = jobs.find(name.id())?;
    match name {
        ResourceName::Output(_, stream) => {
            let ranges = jobs.ranges(&execution.id, &StreamPart::default())?;
            let most = usize::try_from(gate.settings().limits.answer_bytes).unwrap_or(usize::MAX);
            let excerpt = OutputQuery {
                stream: *stream,
                bytes: ranges.get(*stream).clone(),
                grep: None,
                context: 0,
                limit: Limit::Bytes(most),
            };
            Ok(jobs.read(&execution.id, &excerpt)?.text)
        }
        ResourceName::Record(_) => {
            let report = jobs.report(&execution.id, Detail::Full)?;
            // A report is strings, numbers and lists: it always serializes.
            Ok(serde_json::to_string(&report).unwrap_or_default())
        }
    }
}
