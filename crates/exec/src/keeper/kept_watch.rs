//! The keeper's watch over the folders that decide how a command is started.

use shellgate_sandbox::folder_watch::FolderWatch;

/// A watch that is made when it is first used. Where the kernel gives none, folders are looked at each time.
#[derive(Debug, Default)]
pub(super) struct KeptWatch(Option<Option<FolderWatch>>);

impl KeptWatch {
    pub(super) fn get(&mut self) -> Option<&mut FolderWatch> {
        self.0.get_or_insert_with(FolderWatch::new).as_mut()
    }
}
