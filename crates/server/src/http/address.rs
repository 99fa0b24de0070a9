//! The address that the server listens on.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// An address and a port. A port alone accepts connections of this machine only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub(crate) SocketAddr);

impl Address {
    /// Whether other machines can connect.
    #[must_use]
    pub fn is_public(&self) -> bool {
        !self.0.ip().is_loopback()
    }
}

impl FromStr for Address {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
        let port = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
        if let Ok(port) = port.parse() {
            return Ok(Self(SocketAddr::new(loopback, port)));
        }
        text.parse()
            .map(Self)
            .map_err(|_| "use a port like `8000`, or an address and a port like `127.0.0.1:8000`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_means_this_machine_only() {
        for text in ["8000", ":8000", "localhost:8000", "127.0.0.1:8000"] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.0.to_string(), "127.0.0.1:8000");
            assert!(!address.is_public());
        }
        assert!("0.0.0.0:8000".parse::<Address>().unwrap().is_public());
        assert!(!"[::1]:8000".parse::<Address>().unwrap().is_public());
        for text in ["", "x", "example.com:1", "127.0.0.1", "70000"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
