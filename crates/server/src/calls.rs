//! A tool call, from its arguments to its answer.

use std::io;

use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse};
use shellgate::{Admitted, Code, Considered, Dialect, ErrorObject, Follow, Gate, Report, Request};

use crate::client::Client;
use crate::progress::Progress;
use crate::{Offer, answer, following};

/// Judging a longer text takes so long that others would have to wait for it.
const LONG: usize = 16 << 10;

/// All calls, whoever makes them.
#[derive(Debug)]
pub(crate) struct Calls {
    /// There is one as long as the process lives, and executions refer to it.
    gate: &'static Gate,
    dialect: &'static Dialect,
    directory: Option<String>,
}

impl Calls {
    pub(crate) fn new(offer: Offer) -> Self {
        let Offer { gate, dialect, directory } = offer;
        Self { gate: Box::leak(Box::new(gate)), dialect, directory }
    }

    /// Answers one.
    pub(crate) async fn answer(
        &self,
        params: CallToolRequestParams,
        client: Client,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = match &client.arguments {
            Some(raw) => raw.0.to_string(),
            None => params
                .arguments
                .map_or_else(|| "{}".to_owned(), |given| serde_json::Value::from(given).to_string()),
        };
        if params.name != self.dialect.tool {
            let message =
                format!("there is no tool `{}`; `tools/list` shows those that are there", params.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        let report = match self.dialect.read(&arguments) {
            Ok(request) => self.run(request, &client).await,
            Err(error) => Box::new(self.dialect.refused(&arguments, error)),
        };
        Ok(answer::of_report(self.dialect, &report).into())
    }

    async fn run(&self, mut request: Request, client: &Client) -> Box<Report> {
        if request.directory.is_none() {
            request.directory.clone_from(&self.directory);
        }
        match self.consider(request).await {
            Ok(Considered::Free(admitted)) => self.start(*admitted, client).await,
            Ok(Considered::Asks(unasked)) => unasked.nobody(),
            Err(refused) => refused,
        }
    }

    async fn consider(&self, request: Request) -> Result<Considered<'static>, Box<Report>> {
        let gate = self.gate;
        if request.action.shown().len() <= LONG {
            return gate.consider(request);
        }
        let considered = tokio::task::spawn_blocking(move || gate.consider(request)).await;
        considered.unwrap_or_else(|error| Err(Box::new(Report::of_error(lost(&error)))))
    }

    async fn start(&self, admitted: Admitted<'static>, client: &Client) -> Box<Report> {
        let progress = client.progress.clone().map(|token| Progress::new(client.peer.clone(), token));
        let follow = if progress.is_some() { Follow::Closely } else { Follow::Quietly };
        match admitted.start(follow) {
            Ok(execution) => following::to_the_end(execution, &client.canceled, progress)
                .await
                .unwrap_or_else(|error: io::Error| Box::new(Report::of_error(lost(&error)))),
            Err(refused) => refused,
        }
    }
}

fn lost(error: &dyn std::error::Error) -> ErrorObject {
    ErrorObject::new(Code::KeeperLost, format!("the call can't be followed: {error}"))
}
