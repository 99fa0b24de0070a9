//! The standby: a second, even smaller process, which waits while a keeper holds jobs.
//!
//! A keeper can be killed at any moment. Its jobs end with it, but their last output is still in their pipes. When the last
//! copy of a pipe's descriptor is closed, the bytes in it are lost. So the standby has copies of each job's pipes and files.
//! When the keeper's end of their socket closes while the standby still has some, the keeper was killed. Then the standby
//! kills the processes of the jobs, moves the rest of the output into the files, and exits. The next front end that opens
//! the record writes there that the keeper was lost.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt as _;

use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use shellgate_sandbox::fork::fork_detached;
use shellgate_sandbox::reap::End;
use tracing::{debug, error, warn};

use super::event_loop::Keeper;
use super::splice;
use super::tree::{KEEPER_HELPER, RunKey};
use crate::ExecId;
use crate::sys::processes;
use crate::wire::{self, Frames};

/// A message from the keeper to its standby.
#[derive(Debug, Serialize, Deserialize)]
enum ToStandby {
    /// Keep copies for this execution. The message carries two descriptors for each limit: a pipe or terminal, and the file
    /// that takes at most so many bytes of it.
    Hold { key: RunKey, id: ExecId, limits: Vec<u64> },
    /// The execution has ended.
    Forget(RunKey),
}

/// The standby process, as the keeper knows it.
#[derive(Debug)]
pub(super) struct Standby {
    socket: OwnedFd,
    pid: u32,
    holds: Vec<RunKey>,
}

impl Drop for Standby {
    fn drop(&mut self) {
        // It has nothing left to do and would exit by itself, but not if it is suspended.
        if self.holds.is_empty() {
            processes::signal_own_child(self.pid, Signal::KILL);
        }
    }
}

impl Keeper {
    /// Gives the standby copies of a job's pipes and files.
    pub(super) fn hand_to_standby(&mut self, key: RunKey) {
        self.save_output(key);
        let Some(run) = self.runs.get(&key) else { return };
        let Some(sources) = &run.sources else { return };
        if self.standby.as_ref().is_some_and(|standby| standby.holds.contains(&key)) {
            return;
        }
        let streams: Vec<_> =
            sources.both().into_iter().flat_map(|source| source.standby_streams()).collect();
        let limits = streams.iter().map(|(_, _, limit)| *limit).collect();
        let descriptors: Vec<BorrowedFd<'_>> =
            streams.iter().flat_map(|(pipe, file, _)| [*pipe, *file]).collect();
        let message = ToStandby::Hold { key, id: run.spec.id, limits };
        if self.standby.is_none() {
            self.standby = start();
            if let Some(standby) = &self.standby {
                self.trees.add_root(standby.pid, KEEPER_HELPER);
            }
        }
        // A job runs without a standby, too. Only its last output is lost when the keeper is killed.
        if let Some(standby) = &mut self.standby
            && standby.tell(&message, &descriptors).is_ok()
        {
            debug!(id = %run.spec.id, standby = standby.pid, "the standby has its pipes");
            standby.holds.push(key);
        } else {
            warn!(id = %run.spec.id, "there is no standby");
        }
    }

    /// Replaces the standby if it is the child that was reaped and if it was killed.
    pub(super) fn release_standby(&mut self, pid: u32, end: End) {
        let Some(standby) = self.standby.take_if(|standby| standby.pid == pid) else { return };
        warn!(pid, ?end, "the standby ended");
        // One that exits by itself can't do its work, and the next one could not either.
        if matches!(end, End::Signal(_)) {
            standby.holds.iter().for_each(|key| self.hand_to_standby(*key));
        }
    }

    /// Tells the standby that a job has ended.
    pub(super) fn withdraw_from_standby(&mut self, key: RunKey) {
        let Some(standby) = self.standby.as_mut().filter(|standby| standby.holds.contains(&key)) else {
            return;
        };
        standby.holds.retain(|held| *held != key);
        // A standby that can't be told has died, and is replaced when it is reaped.
        let _ = standby.tell(&ToStandby::Forget(key), &[]);
        if standby.holds.is_empty() {
            self.standby = None;
        }
    }
}

impl Standby {
    fn tell(&self, message: &ToStandby, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        // A message is short, and the standby reads at once, so it always fits into the socket.
        wire::send(self.socket.as_fd(), &wire::encode(message)?, descriptors).map(drop)
    }
}

fn start() -> Option<Standby> {
    let (ours, theirs) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).ok()?;
    let forked = fork_detached([theirs], (), |[socket], ()| {
        // Only a name in process lists.
        let _ = rustix::thread::set_name(c"shellgate-stby");
        stand_by(&socket);
        0
    });
    let pid = forked.ok()?.as_raw_nonzero().get().unsigned_abs();
    Some(Standby { socket: ours, pid, holds: Vec::new() })
}

/// The copies for one execution.
struct StandbyJob {
    id: ExecId,
    streams: Vec<(OwnedFd, File, u64)>,
}

/// How often the standby tries to read a message of its keeper.
const RECEIVE_ATTEMPTS: u8 = 8;

/// Whether an error says that the keeper has ended.
fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, NotConnected};
    matches!(error.kind(), BrokenPipe | ConnectionReset | NotConnected)
}

fn stand_by(socket: &OwnedFd) {
    let mut held: BTreeMap<RunKey, StandbyJob> = BTreeMap::new();
    let mut frames = Frames::default();
    let mut attempt = 1;
    loop {
        match frames.next() {
            Ok(Some(ToStandby::Hold { key, id, limits })) => {
                let mut next = || Some((frames.descriptor()?, File::from(frames.descriptor()?)));
                let streams =
                    limits.iter().filter_map(|limit| next().map(|(pipe, file)| (pipe, file, *limit)));
                held.insert(key, StandbyJob { id, streams: streams.collect() });
                debug!(%id, "holds copies of its pipes");
            }
            Ok(Some(ToStandby::Forget(key))) => drop(held.remove(&key)),
            Ok(None) => match frames.receive(socket, RecvFlags::empty()) {
                Ok(0) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Leaving would end what it holds. A keeper that is gone doesn't come back.
                Err(error) if !is_gone(&error) && attempt < RECEIVE_ATTEMPTS => attempt += 1,
                Err(_) => break,
                Ok(_) => attempt = 1,
            },
            Err(_) => break,
        }
    }
    for job in held.values() {
        error!(id = %job.id, "the keeper was killed: the job is ended and its output saved");
    }
    let tags: Vec<u64> = held.values().map(|job| job.id.tag().get()).collect();
    // Before and after killing: a full pipe may block a process that is being killed, and a killed one may have printed.
    held.values_mut().for_each(StandbyJob::drain);
    processes::end_tagged(&tags);
    held.values_mut().for_each(StandbyJob::drain);
}

impl StandbyJob {
    fn drain(&mut self) {
        let mut buffer = vec![0; 64 << 10];
        for (pipe, file, limit) in &self.streams {
            loop {
                let kept = file.metadata().map_or(0, |metadata| metadata.len());
                let moved = match limit.saturating_sub(kept) {
                    0 => break,
                    room => splice::into_file(pipe, file, kept, room),
                };
                // The copy is non-blocking as the keeper's is: the flag belongs to the open file, not to the descriptor.
                let read = match moved {
                    Ok(1..) => continue,
                    Err(Errno::INVAL) => rustix::io::read(pipe, &mut buffer[..]),
                    Ok(_) | Err(_) => break,
                };
                let Ok(read @ 1..) = read else { break };
                let room = usize::try_from(limit - kept).unwrap_or(usize::MAX);
                if file.write_all_at(buffer.get(..read.min(room)).unwrap_or_default(), kept).is_err() {
                    break;
                }
            }
        }
    }
}
