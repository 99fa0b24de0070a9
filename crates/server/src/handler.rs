//! The requests of the protocol, each with what it does here.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::calls::Calls;
use crate::client::Client;
use crate::{Offer, instructions, tools};

/// Answers every client: cheap to copy.
#[derive(Clone, Debug)]
pub(crate) struct Handler {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    calls: Calls,
    tools: Vec<Tool>,
    config: ServerConfig,
}

impl Handler {
    pub(crate) fn new(offer: Offer) -> Self {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let config = ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("shellgate", env!("CARGO_PKG_VERSION")).with_title("shellgate"),
            )
            .with_instructions(instructions::of(&offer));
        let tools = tools::all(offer.dialect);
        Self { shared: Arc::new(Shared { calls: Calls::new(offer), tools, config }) }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.shared.config.clone()
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
        self.shared.calls.answer(params, Client::of(&context)).await
    }
}
