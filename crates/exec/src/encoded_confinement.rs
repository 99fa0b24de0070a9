//! A confinement as bytes.
//!
//! A confinement has some 150 paths. A session's commands nearly always have the same one, so it is encoded once, travels as
//! bytes, and the keeper compares bytes to find the launcher that has it.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shellgate_sandbox::Confinement;

/// A confinement as bytes. Equal confinements have equal bytes. A copy shares them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedConfinement(Arc<[u8]>);

impl EncodedConfinement {
    /// Encodes a confinement.
    ///
    /// # Errors
    /// Never for a confinement that fits into memory.
    pub fn new(confinement: &Confinement) -> Result<Self, postcard::Error> {
        postcard::to_allocvec(confinement).map(|bytes| Self(bytes.into()))
    }

    /// The confinement.
    ///
    /// # Errors
    /// When the bytes, which another process sent, are none.
    pub fn decode(&self) -> Result<Confinement, postcard::Error> {
        postcard::from_bytes(&self.0)
    }
}

impl Serialize for EncodedConfinement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for EncodedConfinement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_bytes::ByteBuf::deserialize(deserializer).map(|bytes| Self(bytes.into_vec().into()))
    }
}
