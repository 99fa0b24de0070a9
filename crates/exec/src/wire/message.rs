//! The messages between front ends and keepers.

use serde::{Deserialize, Serialize};

use super::SentParts;
use crate::job::Job;
use crate::{ExecId, Input, InputState, NotTaken, Outcome, Spec, State, Stream};

/// A message from a front end.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToKeeper {
    /// Don't exit while this connection is open.
    Hold,
    /// Run this command. The message carries a descriptor for standard input when `stdin` is true, and two for the output
    /// files unless `spool` says why there are none. All in one message: a front end that first sent the command would
    /// often lose the CPU to the keeper it wakes, and would send the files when the command has ended.
    Start { spec: Box<Spec>, parts: SentParts, stdin: bool, spool: Result<SpoolKind, String> },
    /// A `Start` may follow soon, like the last one on this connection. What can be prepared for it is prepared; there is no answer.
    MakeReady,
    /// Stop this execution, if it still is the one of this connection.
    Stop(ExecId, Urgency),
    /// Stop all executions of the session, and answer when they have ended.
    StopSession(Urgency),
    /// Stop this execution, if you hold it, and answer when it has ended.
    StopThis(ExecId, Urgency),
    /// The record has the last end that you told on this connection. The next `Start` on it means the same.
    Recorded,
    /// Answer with the names of the executions that you hold.
    ListExecutions,
    /// Answer with the details of the executions that you hold.
    Jobs,
    /// From now on, send the output and the end of this execution on this connection.
    Watch(ExecId),
    /// Answer the caller of this execution, and let the execution go on as a job.
    Release(ExecId),
    /// Send this input to an execution, and answer when the execution has taken it.
    Type(ExecId, Input),
    /// Answer with the state of the input of this execution.
    DescribeInput(ExecId),
}

/// Where the files for output are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SpoolKind {
    /// In the folder for output.
    Folder,
    /// In memory. The keeper creates those in the folder when they are needed, and says so ([`FromKeeper::Saved`]).
    Memory,
}

/// How an execution is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Urgency {
    /// `SIGTERM`, two seconds to clean up, then `SIGKILL`.
    Politely,
    /// `SIGKILL` at once.
    Now,
}

/// A message from the keeper.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromKeeper {
    /// The first message of this connection was received.
    Hello,
    /// Another keeper serves this session: connect to that one.
    Elsewhere,
    /// This keeper can't serve the request, for this reason.
    Unable(String),
    /// The execution has a new state.
    State(State),
    /// The output was in memory. From now on it is in files in the folder for output, from its first byte on.
    Saved,
    /// These bytes of the stream are now in the spool file.
    Spooled { stream: Stream, from: u64, to: u64 },
    /// These bytes of the stream are in no file.
    Bytes {
        stream: Stream,
        offset: u64,
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// The answer. The connection is free for the next execution. `last`: the keeper has no other execution or connection,
    /// and exits when this connection is closed.
    Ended { outcome: Box<Outcome>, last: bool },
    /// Every execution of the session has ended.
    SessionStopped { executions: u32 },
    /// The execution that was to be stopped has ended. `false`: this keeper doesn't hold it.
    Stopped(bool),
    /// The executions that have not ended.
    Executions(Vec<ExecId>),
    /// The details of all executions that this keeper holds.
    Jobs(Vec<Job>),
    /// The execution as it is now; its output and end follow. `None`: this keeper doesn't hold it.
    Watched(Option<Box<Job>>),
    /// The execution goes on as a job. `false`: this keeper doesn't hold it.
    Released(bool),
    /// The input was taken, or why it was refused.
    Typed(Result<(), NotTaken>),
    /// The state of the input of an execution. `None`: this keeper doesn't hold it.
    InputState(Option<Box<InputState>>),
}
