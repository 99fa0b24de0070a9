//! Hosts as they are written, in one spelling, and patterns of them.
//!
//! `168364297`, `0x0a090909`, `012.9.9.9` and `::ffff:10.9.9.9` are all `10.9.9.9`: the resolver takes whatever `inet_aton` takes. A text
//! that can't be brought into one spelling is unknown: it may be any host.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::programs::fits_pattern;

/// The names and addresses of this machine, as which any of its addresses is known too.
const OWN: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Names that resolve to this machine everywhere.
const OWN_NAMES: [&str; 5] =
    ["localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback", "localhost6"];

/// How a label of a name begins that stands for other letters.
const ENCODED_LABEL: &str = "xn--";

/// Whether a host is one that a pattern describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    Yes,
    No,
    /// It can't be known.
    Unknown,
}

/// The one spelling of a host. `None`: what it is can't be known.
pub(crate) fn normal(host: &str) -> Option<String> {
    let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    if inner.contains(':') {
        let address = inner.split_once('%').map_or(inner, |(address, _)| address);
        return address.parse::<Ipv6Addr>().ok().map(of_six);
    }
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || !name.chars().all(is_plain) || name.split('.').any(str::is_empty) {
        return None;
    }
    let last = name.rsplit('.').next().unwrap_or(&name);
    let is_number = last.chars().all(|c| c.is_ascii_digit()) || last.starts_with("0x");
    if is_number { of_numbers(&name).map(|address| address.to_string()) } else { Some(name) }
}

/// An address of version 6, or the one of version 4 that it stands for.
fn of_six(address: Ipv6Addr) -> String {
    let four = address.to_ipv4_mapped().or_else(|| match address.segments() {
        // By a gateway to the old network.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
            Some(Ipv4Addr::new(a, b, c, d))
        }
        _ => None,
    });
    four.map_or_else(|| address.to_string(), |four| four.to_string())
}

/// An address as `inet_aton` reads it: up to four numbers, decimal, octal or hexadecimal, the last of them for all bytes that are left.
fn of_numbers(text: &str) -> Option<Ipv4Addr> {
    let number = |part: &str| -> Option<u32> {
        let (digits, radix) = match part.strip_prefix("0x") {
            Some("") => return Some(0),
            Some(digits) => (digits, 16),
            None if part.len() > 1 && part.starts_with('0') => (part, 8),
            None => (part, 10),
        };
        (!digits.starts_with('+')).then(|| u32::from_str_radix(digits, radix).ok())?
    };
    let parts: Option<Vec<u32>> = text.split('.').map(number).collect();
    let parts = parts?;
    let (last, first) = parts.split_last()?;
    let mut address: u32 = 0;
    for (at, part) in first.iter().enumerate() {
        let shift = 24_u32.checked_sub(8 * u32::try_from(at).ok()?)?;
        (*part < 256 && shift > 0).then_some(())?;
        address |= part << shift;
    }
    let left = 32_u32.checked_sub(8 * u32::try_from(first.len()).ok()?)?;
    (u64::from(*last) < 1_u64 << left).then_some(Ipv4Addr::from(address | last))
}

/// Whether a host in its one spelling is this machine.
pub(crate) fn is_own(normal: &str) -> bool {
    let is_own_address = match normal.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_unspecified(),
        Ok(IpAddr::V6(address)) => address.is_loopback() || address.is_unspecified(),
        Err(_) => false,
    };
    is_own_address || OWN_NAMES.contains(&normal) || normal.ends_with(".localhost")
}

/// Whether a host is one that a pattern describes: `*.example.org` is about every host below `example.org`. This machine has several names.
pub(crate) fn fits(pattern: &str, host: &str) -> Fit {
    if pattern == "*" {
        return Fit::Yes;
    }
    let Some(host) = normal(host) else { return Fit::Unknown };
    let others: &[&str] = if is_own(&host) { &OWN } else { &[] };
    let wanted = match pattern.contains('*') {
        true => pattern.strip_suffix('.').unwrap_or(pattern).to_ascii_lowercase(),
        false => match normal(pattern) {
            Some(wanted) => wanted,
            None => return if may_be_encoded(pattern, &host) { Fit::Unknown } else { Fit::No },
        },
    };
    let is_one = [host.as_str()].iter().chain(others).any(|host| fits_pattern(&wanted, host));
    match is_one {
        true => Fit::Yes,
        false if may_be_encoded(&wanted, &host) => Fit::Unknown,
        false => Fit::No,
    }
}

/// Whether a pattern with letters that names of hosts don't have may be about a host in which they are encoded.
fn may_be_encoded(pattern: &str, host: &str) -> bool {
    !pattern.is_ascii() && host.contains(ENCODED_LABEL)
}

/// Whether any of these patterns describes a host.
pub(crate) fn any_fits(patterns: &[String], host: &str) -> Fit {
    let all = || patterns.iter().map(|pattern| fits(pattern, host));
    if all().any(|fit| fit == Fit::Yes) {
        Fit::Yes
    } else if all().any(|fit| fit == Fit::Unknown) {
        Fit::Unknown
    } else {
        Fit::No
    }
}

/// The host of an address without a scheme, as HTTP clients and programs that look up names take it: `example.org:80/x`, `@example.org`.
pub(crate) fn bare(text: &str) -> Option<String> {
    let authority = text.split(['/', '?', '#']).next().unwrap_or(text);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = match host.strip_prefix('[') {
        Some(rest) => {
            let (inner, behind) = rest.split_once(']')?;
            (behind.is_empty() || is_port(behind)).then_some(inner)?
        }
        None if host.matches(':').count() > 1 => host,
        None => match host.find(':') {
            Some(at) => is_port(host.get(at..)?).then(|| host.get(..at))??,
            None => host,
        },
    };
    (!text.contains('\\') && !text.contains("://") && normal(host).is_some()).then(|| host.to_owned())
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':')
        .is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_of_a_host() {
        for (host, expected) in [
            ("10.9.9.9", Some("10.9.9.9")),
            ("168364297", Some("10.9.9.9")),
            ("0x0a090909", Some("10.9.9.9")),
            ("0X0A.0x9.9.9", Some("10.9.9.9")),
            ("012.011.011.011", Some("10.9.9.9")),
            ("10.592137", Some("10.9.9.9")),
            ("10.9.2313", Some("10.9.9.9")),
            ("10.9.9.9.", Some("10.9.9.9")),
            ("::ffff:10.9.9.9", Some("10.9.9.9")),
            ("[::ffff:a09:909]", Some("10.9.9.9")),
            ("0:0:0:0:0:ffff:0a09:0909", Some("10.9.9.9")),
            ("64:ff9b::a09:909", Some("10.9.9.9")),
            ("2001:DB8:0:0::1", Some("2001:db8::1")),
            ("fe80::1%eth0", Some("fe80::1")),
            ("127.1", Some("127.0.0.1")),
            ("0", Some("0.0.0.0")),
            ("Evil.COM.", Some("evil.com")),
            ("a_b.example.org", Some("a_b.example.org")),
            ("10.9.9.256", None),
            ("1.2.3.4.5", None),
            ("4294967296", None),
            ("09.1.1.1", None),
            ("e-e]vil.com", None),
            ("\u{ff45}vil.com", None),
            ("evil..com", None),
            ("ev%69l.com", None),
            ("{a,b}.com", None),
            ("", None),
        ] {
            assert_eq!(normal(host).as_deref(), expected, "{host}");
        }
    }

    #[test]
    fn patterns_describe_hosts() {
        for (pattern, host, expected) in [
            ("*.example.org", "a.example.org", Fit::Yes),
            ("*.example.org", "A.Example.ORG.", Fit::Yes),
            ("*.example.org", "example.org", Fit::No),
            ("*.example.org", "example.org.evil.net", Fit::No),
            ("*.example.org", "evilexample.org", Fit::No),
            ("example.org", "example.org", Fit::Yes),
            ("10.9.9.9", "168364297", Fit::Yes),
            ("10.9.*", "0x0a090909", Fit::Yes),
            ("168364297", "10.9.9.9", Fit::Yes),
            ("127.0.0.1", "localhost", Fit::Yes),
            ("localhost", "127.1", Fit::Yes),
            ("::1", "app.localhost", Fit::Yes),
            ("localhost", "localhost.evil.com", Fit::No),
            ("evil.com", "\u{ff45}vil.com", Fit::Unknown),
            ("b\u{fc}cher.example", "xn--bcher-kva.example", Fit::Unknown),
            ("b\u{fc}cher.example", "example.org", Fit::No),
            ("*", "e[a-b]c", Fit::Yes),
        ] {
            assert_eq!(fits(pattern, host), expected, "{pattern} {host}");
        }
    }

    #[test]
    fn addresses_without_a_scheme() {
        for (text, expected) in [
            ("example.org", Some("example.org")),
            ("example.org:80/a?b", Some("example.org")),
            ("u:p@example.org/a", Some("example.org")),
            ("@8.8.8.8", Some("8.8.8.8")),
            ("[::1]:80/a", Some("::1")),
            ("http:/example.org", None),
            ("http:example.org", None),
            ("a\\@b.org", None),
            ("[e-e]vil.com", None),
            ("{a,b}.org", None),
        ] {
            assert_eq!(bare(text).as_deref(), expected, "{text}");
        }
    }
}
