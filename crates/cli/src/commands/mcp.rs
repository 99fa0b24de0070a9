//! `shellgate mcp`: the gate for agents that speak the Model Context Protocol.

use std::process::ExitCode;

use shellgate::approval::Question;
use shellgate::{Code, ErrorObject};
use shellgate_server::Offer;

use crate::args::McpArgs;
use crate::error::{self, Trouble};
use crate::prompt::facts::Facts;

/// Programs of agents have little room.
const WIDTH: usize = 80;

pub(super) fn mcp(args: McpArgs) -> ExitCode {
    error::finish(serve(args))
}

fn serve(args: McpArgs) -> Result<(), Trouble> {
    let common = args.common;
    let gate = super::builder(&common)?.build()?;
    let offer = Offer { gate, dialect: common.dialect, directory: common.directory, shown };
    shellgate_server::serve_stdio(offer)
        .map_err(|error| ErrorObject::new(Code::Config, format!("the server can't start: {error}")).into())
}

/// What a person must know to answer, as on a terminal but without colours.
fn shown(question: &Question<'_>) -> String {
    let lines = Facts::of(question).lines(WIDTH).join("\n");
    anstream::adapter::strip_str(&lines).to_string()
}
