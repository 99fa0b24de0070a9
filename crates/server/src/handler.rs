//! The requests of the protocol and their handlers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskMethod, CancelTaskParams, ConstString, CustomRequest,
    CustomResult, ErrorCode, GetTaskMethod, GetTaskParams, GetTaskResult, Implementation,
    InitializeRequestParams, InitializeResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, ServerResult, Tool, UpdateTaskMethod, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use shellgate::Gate;
use tokio_util::sync::CancellationToken;

use crate::call_completion::CallCompletion;
use crate::calls::Calls;
use crate::client::Client;
use crate::limits::SHUTDOWN_GRACE;
use crate::message::RawArguments;
use crate::{Offer, instructions, message, resources, tasks, tools, workers};

/// Answers every client. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Handler {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    calls: Calls,
    tools: Vec<Tool>,
    config: ServerConfig,
    /// The client of standard input and output, once a call of it has shown what it supports.
    plain_client: Mutex<Option<Client>>,
}

impl Handler {
    pub(crate) fn new(offer: Offer) -> Self {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_tasks().build();
        let config = ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("shellgate", env!("CARGO_PKG_VERSION")).with_title("shellgate"),
            )
            .with_instructions(instructions::of(&offer));
        let tools = tools::listed(offer.dialect.over_mcp(), offer.tools);
        let plain_client = Mutex::default();
        Self { shared: Arc::new(Shared { calls: Calls::new(offer), tools, config, plain_client }) }
    }
}

impl Handler {
    /// The gate.
    pub(crate) fn gate(&self) -> &'static Gate {
        self.shared.calls.gate()
    }

    /// Waits until the commands of canceled calls are stopped and ends are recorded, but not for long.
    pub(crate) async fn wind_down(&self) {
        // The keeper stops the other commands, and keeps the other ends: the next process records them.
        let _ = tokio::time::timeout(SHUTDOWN_GRACE, self.shared.calls.wind_down()).await;
    }

    /// The client, for a call that the transport has read itself. `None`: rmcp must read the call, because what the client supports isn't
    /// known, or is said in every request.
    pub(crate) fn plain_client(&self, completion: CallCompletion, arguments: RawArguments) -> Option<Client> {
        let client = self.plain().clone()?;
        let canceled = CancellationToken::new();
        completion.cancel_token(canceled.clone());
        Some(Client { canceled, completion, arguments: Some(arguments), ..client })
    }

    /// Whether calls of the client can be read by the transport.
    pub(crate) fn has_plain_client(&self) -> bool {
        self.plain().is_some()
    }

    /// The client says anew what it supports.
    pub(crate) fn forget_client(&self) {
        *self.plain() = None;
    }

    /// Answers a call that the transport has read itself.
    pub(crate) async fn answer(&self, tool: String, client: Client) -> Result<ServerResult, ErrorData> {
        let response = self.shared.calls.answer(CallToolRequestParams::new(tool), client).await?;
        let mut result = ServerResult::from(response);
        // Plain clients are of the generation without this field.
        result.strip_result_type_for_legacy_peer();
        Ok(result)
    }

    fn plain(&self) -> MutexGuard<'_, Option<Client>> {
        self.shared.plain_client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does blocking work on another thread.
    async fn off_thread<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Gate, &Client) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let (gate, client) = (self.gate(), Client::of(context));
        let done = workers::run(move || work(gate, &client)).await;
        done.unwrap_or_else(|error| Err(ErrorData::internal_error(error.to_string(), None)))
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.shared.config.clone()
    }

    async fn initialize(
        &self,
        params: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(params.clone());
        let mut info = self.negotiate_initialize(&params)?;
        // A client that sends `initialize` is of the generation before extensions.
        info.capabilities.extensions = None;
        Ok(info)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.shared.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = Client::of(&context);
        if client.is_plain(&context) && !self.has_plain_client() {
            *self.plain() = Some(client.without_call());
        }
        self.shared.calls.answer(params, client).await
    }

    async fn get_task(
        &self,
        params: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let client = client_with_tasks::<GetTaskMethod>(&context)?;
        let task = tasks::get(self.shared.calls.job_sources(), &params.task_id, &client).await?;
        Ok(GetTaskResult::new(task))
    }

    async fn update_task(
        &self,
        params: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let client = client_with_tasks::<UpdateTaskMethod>(&context)?;
        tasks::update(self.shared.calls.job_sources(), &params.task_id, &params.input_responses, &client)
            .await
    }

    async fn cancel_task(
        &self,
        params: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let client = client_with_tasks::<CancelTaskMethod>(&context)?;
        tasks::cancel(self.shared.calls.job_sources(), &params.task_id, &client).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        Err(if message::KNOWN_METHODS.contains(&method.as_str()) {
            message::unreadable_parameters(&method)
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}`"), None)
        })
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = self.off_thread(&context, |gate, client| Ok(resources::list(gate, client))).await?;
        Ok(ListResourcesResult::with_all_items(listed))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = move |gate: &Gate, client: &Client| resources::read(gate, &params.uri, client);
        Ok(self.off_thread(&context, read).await?.into())
    }
}

/// The client, if it supports tasks.
fn client_with_tasks<M: ConstString>(context: &RequestContext<RoleServer>) -> Result<Client, ErrorData> {
    let client = Client::of(context);
    if client.tasks { Ok(client) } else { Err(ErrorData::method_not_found::<M>()) }
}
