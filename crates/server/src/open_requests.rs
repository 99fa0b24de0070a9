//! The requests of one client that wait for an answer, by their ids.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use rmcp::model::RequestId;

use crate::call_completion::CallCompletion;
use crate::limits::MAX_CANCELED_IDS;

#[derive(Debug, Default)]
pub(crate) struct OpenRequests {
    open: HashMap<RequestId, CallCompletion>,
    /// The last canceled ones. rmcp may still have an answer to one, and would send it as that of the next request with the
    /// same id.
    canceled: VecDeque<RequestId>,
}

impl OpenRequests {
    /// A request has arrived.
    ///
    /// # Errors
    /// Why its id can't be used.
    pub(crate) fn begin(&mut self, id: RequestId) -> Result<CallCompletion, &'static str> {
        if self.canceled.contains(&id) {
            return Err("a request with this id was canceled: use another id");
        }
        match self.open.entry(id) {
            Entry::Occupied(_) => Err("a request with this id is under way"),
            Entry::Vacant(entry) => Ok(entry.insert(CallCompletion::default()).clone()),
        }
    }

    pub(crate) fn get(&self, id: &RequestId) -> Option<&CallCompletion> {
        self.open.get(id)
    }

    pub(crate) fn finish(&mut self, id: &RequestId) {
        self.open.remove(id);
    }

    /// Finishes a request that the client has canceled. No later one may have its id.
    pub(crate) fn finish_canceled(&mut self, id: &RequestId) {
        self.finish(id);
        self.canceled.push_back(id.clone());
        if self.canceled.len() > MAX_CANCELED_IDS {
            self.canceled.pop_front();
        }
    }

    /// Forgets the requests whose calls are over.
    pub(crate) fn forget_ended(&mut self) {
        self.open.retain(|_, completion| completion.is_under_way());
    }

    /// Takes all requests out.
    pub(crate) fn drain(&mut self) -> Vec<CallCompletion> {
        self.open.drain().map(|(_, completion)| completion).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_free_after_its_answer_and_not_after_its_cancellation() {
        let mut requests = OpenRequests::default();
        let id = RequestId::Number(1);
        assert!(requests.begin(id.clone()).is_ok());
        assert!(requests.begin(id.clone()).is_err());
        requests.finish(&id);
        assert!(requests.begin(id.clone()).is_ok());
        requests.finish_canceled(&id);
        assert!(requests.is_empty() && requests.begin(id).is_err());
    }

    #[test]
    fn only_the_last_canceled_ids_are_known() {
        let mut requests = OpenRequests::default();
        for number in 0..2 * MAX_CANCELED_IDS {
            let id = RequestId::Number(i64::try_from(number).unwrap());
            assert!(requests.begin(id.clone()).is_ok());
            requests.finish_canceled(&id);
        }
        assert_eq!(requests.canceled.len(), MAX_CANCELED_IDS);
    }
}
