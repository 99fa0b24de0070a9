//! The messages.

use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::{ExecId, Input, InputState, NotTaken, Outcome, Spec, State, Stream};

/// From a front end.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToKeeper {
    /// Stay while this connection does.
    Hold,
    /// Run this. With a descriptor for standard input when `stdin` is true, and two for the files that its output goes to, or
    /// why there are none. In one message, though the files could be made while the command starts: whoever wakes somebody up
    /// is often set aside for them, and the files would come when the command has ended.
    Start { spec: Box<Spec>, stdin: bool, spool: Result<(), String> },
    /// Stop the execution of this connection, if it still is this one.
    Stop(ExecId, Urgency),
    /// Stop every execution of the session, and say when that is done.
    StopSession(Urgency),
    /// Stop this execution, if you hold it, and say when that is done.
    StopThis(ExecId, Urgency),
    /// The end that was told last is written down. So it is when the connection is used again.
    Recorded,
    /// Say which executions you hold.
    ListExecutions,
    /// Say what there is to know about those that you hold.
    Jobs,
    /// Tell me of this execution from now on: what it prints, and its end.
    Watch(ExecId),
    /// Answer whoever waits for this execution, and let it go on as a job.
    Release(ExecId),
    /// Type this, and say when it is taken.
    Type(ExecId, Input),
    /// Say who reads what is typed.
    Look(ExecId),
}

/// How an execution is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Urgency {
    /// `SIGTERM`, some time to clean up, then `SIGKILL`.
    Politely,
    /// `SIGKILL` at once.
    Now,
}

/// From the keeper.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromKeeper {
    /// Your first message was taken in.
    Hello,
    /// Another keeper has this session: ask there.
    Elsewhere,
    /// This one can't serve, and why.
    Unable(String),
    /// The execution moved on.
    State(State),
    /// These bytes of the stream are now in the spool file.
    Spooled { stream: Stream, from: u64, to: u64 },
    /// These bytes of the stream are in no file.
    Bytes {
        stream: Stream,
        offset: u64,
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// The answer. The connection is free for the next execution. When the execution was the keeper's last and the
    /// connection its only one, it leaves as soon as that is closed.
    Ended { outcome: Box<Outcome>, last: bool },
    /// Every execution of the session has ended.
    SessionStopped { executions: u32 },
    /// What was to be stopped has ended; or it wasn't held here.
    Stopped(bool),
    /// These have not ended.
    Executions(Vec<ExecId>),
    /// What there is to know about those that are held.
    Jobs(Vec<Job>),
    /// It is watched from here on, or isn't held here.
    Watched(Option<Box<Job>>),
    /// It goes on as a job, or isn't held here.
    Released(bool),
    /// What was typed is taken, or why it isn't.
    Typed(Result<(), NotTaken>),
    /// Who reads what is typed. `None`: it isn't held here.
    Seen(Option<Box<InputState>>),
}
