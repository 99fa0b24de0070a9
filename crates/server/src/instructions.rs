//! What a model is told about the server as a whole: what may be run here, in few words.

use crate::Offer;

pub(crate) fn of(offer: &Offer) -> String {
    let _ = offer;
    String::new()
}
