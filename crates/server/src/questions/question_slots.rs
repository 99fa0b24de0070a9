//! How many questions may wait: in all, and of one client. One client must not use up the questions of all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::client::Principal;
use crate::limits::{MAX_QUESTIONS, MAX_QUESTIONS_PER_CLIENT};

/// The slots of all clients.
#[derive(Clone, Debug, Default)]
pub(super) struct QuestionSlots(Arc<Mutex<HashMap<Principal, usize>>>);

/// The slot of one question. Dropping it frees it.
#[derive(Debug)]
pub(super) struct QuestionSlot {
    slots: QuestionSlots,
    principal: Principal,
}

impl QuestionSlots {
    /// A slot for a question of this client. `None`: it has too many, or all have.
    pub(super) fn take(&self, principal: &Principal) -> Option<QuestionSlot> {
        let mut taken = self.taken();
        if taken.values().sum::<usize>() >= MAX_QUESTIONS {
            return None;
        }
        let own = taken.entry(principal.clone()).or_default();
        if *own >= MAX_QUESTIONS_PER_CLIENT {
            return None;
        }
        *own += 1;
        Some(QuestionSlot { slots: self.clone(), principal: principal.clone() })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<Principal, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QuestionSlot {
    pub(super) fn principal(&self) -> &Principal {
        &self.principal
    }
}

impl Drop for QuestionSlot {
    fn drop(&mut self) {
        let mut taken = self.slots.taken();
        if let Some(own) = taken.get_mut(&self.principal) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.principal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_can_not_use_up_the_questions_of_all() {
        let slots = QuestionSlots::default();
        let client = |name: u8| Principal::Bearer { name: name.to_string().into(), secret: [name; 32] };
        let mut held: Vec<QuestionSlot> =
            (0..MAX_QUESTIONS_PER_CLIENT).map(|_| slots.take(&Principal::Parent).unwrap()).collect();
        assert!(slots.take(&Principal::Parent).is_none());
        held.extend((MAX_QUESTIONS_PER_CLIENT..MAX_QUESTIONS).map(|n| {
            let name = u8::try_from(n / MAX_QUESTIONS_PER_CLIENT).unwrap();
            slots.take(&client(name)).unwrap()
        }));
        assert!(slots.take(&client(200)).is_none(), "all are taken");
        held.remove(0);
        assert!(slots.take(&client(200)).is_some());
        held.clear();
        assert!(slots.taken().is_empty());
    }
}
