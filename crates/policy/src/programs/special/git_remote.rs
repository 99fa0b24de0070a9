//! Addresses of git repositories. Some of them run programs: `ext::sh -c id`, `ssh://-oProxyCommand=id/x`.

use super::super::EffectKind;
use super::super::collector::Collector;
use super::super::form::Role;
use super::super::words;
use super::path_or_name;
use shellgate_syntax::Word;

const HELPER: &str = "names a transport of git that can run programs";

/// Reads an address: a URL, `host:path`, a path or, in the role of a remote, the name of one.
pub(crate) fn git_remote(role: Role, word: &Word, collector: &mut Collector) {
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
            collector.effect(word, EffectKind::Unusual(HELPER));
        }
        collector.role(Role::Url, word, "");
        return;
    }
    if lead.split('/').next().is_some_and(|first| first.contains("::")) {
        collector.effect(word, EffectKind::Unusual(HELPER));
        return;
    }
    if !known && !lead.contains(['/', ':']) {
        collector.effect(
            word,
            EffectKind::Opaque(word.clone(), "an address that isn't known; it can name a program"),
        );
        return;
    }
    let local = lead.find(':').is_none_or(|colon| lead.find('/').is_some_and(|slash| slash < colon));
    if local && (lead.contains('/') || role == Role::GitSource) {
        collector.role(Role::Path, word, "");
    } else if local {
        path_or_name::name(word, collector);
    }
}
