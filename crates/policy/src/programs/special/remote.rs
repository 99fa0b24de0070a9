//! Addresses of git repositories. Some of them run programs: `ext::sh -c id`, `ssh://-oProxyCommand=id/x`.

use super::super::What;
use super::super::role::Role;
use super::super::sink::Sink;
use super::super::words;
use super::places;
use shellgate_syntax::Word;

const HELPER: &str = "names a transport of git that can run programs";

/// A URL, `host:path`, a path or, unless it is a source, the name of a remote.
pub(crate) fn git_remote(role: Role, word: &Word, sink: &mut Sink) {
    let lead = word.value.lead();
    let known = word.value.known().is_some();
    if let Some((scheme, rest)) = lead.split_once("://")
        && !scheme.contains(['/', ':'])
    {
        let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        if !words::GIT_URL_SCHEMES.contains(&scheme.to_ascii_lowercase().as_str())
            || host.starts_with('-')
            || rest.starts_with('-')
        {
            sink.effect(word, What::Unusual(HELPER));
        }
        sink.role(Role::Url, word, "");
        return;
    }
    if lead.split('/').next().is_some_and(|first| first.contains("::")) {
        sink.effect(word, What::Unusual(HELPER));
        return;
    }
    if !known && !lead.contains(['/', ':']) {
        sink.effect(word, What::Opaque(word.clone(), "an address that isn't known; it can name a program"));
        return;
    }
    let local = lead.find(':').is_none_or(|colon| lead.find('/').is_some_and(|slash| slash < colon));
    if local && (lead.contains('/') || role == Role::GitSource) {
        sink.role(Role::Path, word, "");
    } else if local {
        places::name(word, sink);
    }
}
