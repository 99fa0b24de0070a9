//! `shellgate mcp`: the gate for agents that speak the Model Context Protocol.

use std::process::ExitCode;

use shellgate::{Code, ErrorObject};
use shellgate_server::Offer;

use crate::args::McpArgs;
use crate::error::{self, Trouble};

pub(super) fn mcp(args: McpArgs) -> ExitCode {
    error::finish(serve(args))
}

fn serve(args: McpArgs) -> Result<(), Trouble> {
    let common = args.common;
    let gate = super::builder(&common)?.build()?;
    let offer = Offer { gate, dialect: common.dialect, directory: common.directory };
    shellgate_server::serve_stdio(offer)
        .map_err(|error| ErrorObject::new(Code::Config, format!("the server can't start: {error}")).into())
}
