//! Who calls, and what can be done with them.

use std::sync::Arc;

use http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{ProgressToken, ProtocolVersion};
use rmcp::service::{Peer, RequestContext};
use tokio_util::sync::CancellationToken;

use crate::fate::Fate;
use crate::message::{self, RawArguments};

/// Whose call it is. One can't get at what belongs to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Principal {
    /// The program that started us.
    Parent,
    /// Whoever has a key to our HTTP server.
    Bearer {
        /// As the file of keys calls them.
        name: Arc<str>,
        /// A digest of the key.
        secret: [u8; 32],
    },
}

/// The body of an HTTP request, as it came.
#[derive(Clone, Debug)]
pub(crate) struct Body(pub(crate) hyper::body::Bytes);

/// How a client can be asked something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// While its call runs, by a request of ours.
    Directly,
    /// By an answer that makes it call again.
    InTurns,
    /// Not at all.
    Never,
}

/// The client, as one of its calls shows it.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) principal: Principal,
    pub(crate) asks: Asks,
    /// It can be given a task in place of an answer.
    pub(crate) tasks: bool,
    pub(crate) peer: Peer<RoleServer>,
    /// Wants to know how the call goes on.
    pub(crate) progress: Option<ProgressToken>,
    /// It takes the call back.
    pub(crate) canceled: CancellationToken,
    /// Whether it will hear the answer.
    pub(crate) fate: Fate,
    /// Its arguments, letter by letter.
    pub(crate) arguments: Option<RawArguments>,
}

impl Client {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let parts = context.extensions.get::<Parts>();
        let bearer = parts.and_then(|parts| parts.extensions.get::<Principal>().cloned());
        let fate = context.extensions.get().or_else(|| parts?.extensions.get()).cloned();
        let fate: Fate = fate.unwrap_or_default();
        // rmcp does that too, but not for the calls of a session that ends.
        fate.cancels(context.ct.clone());
        let body = || parts.and_then(|parts| message::arguments_in(&parts.extensions.get::<Body>()?.0));
        Self {
            principal: bearer.unwrap_or(Principal::Parent),
            asks: asks(context),
            tasks: tasks(context),
            peer: context.peer.clone(),
            progress: context.meta.get_progress_token(),
            canceled: context.ct.clone(),
            fate,
            arguments: context.extensions.get::<RawArguments>().cloned().or_else(body),
        }
    }
}

fn asks(context: &RequestContext<RoleServer>) -> Asks {
    let elicits = context.client_capabilities().and_then(|can| can.elicitation);
    // Neither named is how the first version with it said "a form".
    if elicits.is_none_or(|how| how.form.is_none() && how.url.is_some()) {
        return Asks::Never;
    }
    if is_newer(context) { Asks::InTurns } else { Asks::Directly }
}

/// The older generation had something of this name, which is something else.
fn tasks(context: &RequestContext<RoleServer>) -> bool {
    is_newer(context) && context.client_capabilities().is_some_and(|can| can.supports_tasks())
}

fn is_newer(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}
