//! A confinement as bytes.
//!
//! A confinement has some 150 paths. A session's commands nearly always have the same one, so it is encoded once, travels as
//! bytes, and the keeper compares bytes to find the launcher that has it.

use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shellgate_sandbox::Confinement;

/// Data as bytes. Equal data has equal bytes. A copy shares them.
#[derive(Debug)]
pub struct Encoded<T>(Arc<[u8]>, PhantomData<fn() -> T>);

/// A confinement as bytes.
pub type EncodedConfinement = Encoded<Confinement>;

impl<T> Clone for Encoded<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0), PhantomData)
    }
}

impl<T> PartialEq for Encoded<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl<T> Eq for Encoded<T> {}

impl<T: Serialize + DeserializeOwned> Encoded<T> {
    /// Encodes it.
    ///
    /// # Errors
    /// Never for data that fits into memory.
    pub fn new(data: &T) -> Result<Self, postcard::Error> {
        postcard::to_allocvec(data).map(|bytes| Self(bytes.into(), PhantomData))
    }

    /// The data.
    ///
    /// # Errors
    /// When the bytes, which another process sent, are none.
    pub fn decode(&self) -> Result<T, postcard::Error> {
        postcard::from_bytes(&self.0)
    }
}

impl<T> Serialize for Encoded<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de, T> Deserialize<'de> for Encoded<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_bytes::ByteBuf::deserialize(deserializer)
            .map(|bytes| Self(bytes.into_vec().into(), PhantomData))
    }
}
