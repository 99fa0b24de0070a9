//! The client that makes a call, and what it supports.

use std::sync::Arc;

use http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{ProgressToken, ProtocolVersion};
use rmcp::service::{Peer, RequestContext};
use tokio_util::sync::CancellationToken;

use crate::call_completion::CallCompletion;
use crate::message::{self, RawArguments};

/// The owner of calls, jobs and questions. One principal can't reach what belongs to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Principal {
    /// The program that started us.
    Parent,
    /// The holder of a key to our HTTP server.
    Bearer {
        /// The name in the file of keys.
        name: Arc<str>,
        /// A digest of the key.
        secret: [u8; 32],
    },
}

/// The body of an HTTP request, as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Body(pub(crate) hyper::body::Bytes);

/// How a client can show a form to its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormSupport {
    /// While the call runs: we send it a request.
    DuringCall,
    /// Between two calls: our answer tells it to ask its user and to call again.
    BetweenCalls,
    /// Not at all.
    None,
}

/// The client, as one of its calls shows it.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) principal: Principal,
    pub(crate) forms: FormSupport,
    /// It accepts a task in place of an answer.
    pub(crate) tasks: bool,
    pub(crate) peer: Peer<RoleServer>,
    /// Set when it wants progress notifications for this call.
    pub(crate) progress: Option<ProgressToken>,
    /// It cancels the call.
    pub(crate) canceled: CancellationToken,
    /// Whether it receives the answer.
    pub(crate) completion: CallCompletion,
    /// The call's arguments, byte by byte.
    pub(crate) arguments: Option<RawArguments>,
}

impl Client {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let parts = context.extensions.get::<Parts>();
        let bearer = parts.and_then(|parts| parts.extensions.get::<Principal>().cloned());
        let completion = context.extensions.get().or_else(|| parts?.extensions.get()).cloned();
        let completion: CallCompletion = completion.unwrap_or_default();
        // rmcp cancels it too, but not for the calls of a session that ends.
        completion.cancel_token(context.ct.clone());
        let body = || parts.and_then(|parts| message::arguments_in(&parts.extensions.get::<Body>()?.0));
        Self {
            principal: bearer.unwrap_or(Principal::Parent),
            forms: form_support(context),
            tasks: supports_tasks(context),
            peer: context.peer.clone(),
            progress: context.meta.get_progress_token(),
            canceled: context.ct.clone(),
            completion,
            arguments: context.extensions.get::<RawArguments>().cloned().or_else(body),
        }
    }
}

impl Client {
    /// Whether all that is known of it, it said at the beginning: its next calls don't say it again.
    pub(crate) fn is_plain(&self, context: &RequestContext<RoleServer>) -> bool {
        context.extensions.get::<Parts>().is_none() && context.meta.is_empty() && !is_newer(context)
    }

    /// The client without what belongs to one call.
    pub(crate) fn without_call(&self) -> Self {
        Self {
            progress: None,
            canceled: CancellationToken::new(),
            completion: CallCompletion::default(),
            arguments: None,
            ..self.clone()
        }
    }
}

fn form_support(context: &RequestContext<RoleServer>) -> FormSupport {
    let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    // In the protocol's first version with elicitation, a client that names neither kind supports forms.
    if elicitation.is_none_or(|kinds| kinds.form.is_none() && kinds.url.is_some()) {
        return FormSupport::None;
    }
    if is_newer(context) { FormSupport::BetweenCalls } else { FormSupport::DuringCall }
}

/// The older generation has a capability of the same name, which is something else.
fn supports_tasks(context: &RequestContext<RoleServer>) -> bool {
    is_newer(context)
        && context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks())
}

/// Whether the client speaks the generation without `initialize`.
fn is_newer(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}
