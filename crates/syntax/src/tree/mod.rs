//! The tree that reading makes: commands, words and where each is written.
//!
//! It keeps what bash's grammar distinguishes and nothing else: no comments, no blanks. `check --explain` prints it
//! with [`Script::render`]; the judge never sees it, only the [`Findings`](crate::Findings) made from it.

mod command;
mod render;
mod word;

pub use command::{
    AndOr, CaseClause, Command, CommandKind, Connector, HereDocument, HereSlot, List, LoopKind, Pipeline,
    PipelinePrefix, Redirection, SimpleCommand, Stage,
};
pub use word::{
    AssignmentHead, Commands, Direction, Operation, Parameter, Piece, PieceKind, Quoting, Test, TestOperator,
    Text,
};

/// A whole text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Its commands.
    pub list: List,
}
