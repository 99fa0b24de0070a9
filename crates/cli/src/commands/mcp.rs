//! `shellgate mcp`: serves agents over the Model Context Protocol.

use std::process::ExitCode;

use shellgate::{Code, ErrorObject};
use shellgate_server::{Listening, Offer};

use crate::args::McpArgs;
use crate::error::{self, CliError};
use crate::logging;
use crate::output;

pub(super) fn mcp(args: McpArgs) -> ExitCode {
    error::finish(serve(args))
}

fn serve(args: McpArgs) -> Result<(), CliError> {
    let common = args.common;
    let gate = super::builder(&common).tidy_later().log_with(logging::start_server_by_settings).build()?;
    super::show_notices(gate.settings());
    let offer = Offer { gate, dialect: common.dialect, directory: common.directory, tools: args.tools };
    let cannot = |error: String| CliError::from(ErrorObject::new(Code::Config, error));
    match args.http {
        None => shellgate_server::serve_stdio(offer)
            .map_err(|error| cannot(format!("the server can't start: {error}"))),
        Some(address) => {
            if address.is_public() {
                output::print_message(
                    "other machines can reach this address, and the connection is not encrypted",
                );
            }
            shellgate_server::serve_http(offer, address, begun).map_err(|error| cannot(error.to_string()))
        }
    }
}

/// Prints the address and the file with the key.
fn begun(listening: &Listening) {
    output::print_message(&format!(
        "listening on {}; the key is in {}",
        listening.url,
        listening.keys.display()
    ));
}
