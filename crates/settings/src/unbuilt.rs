//! Settings that are read and checked, but not implemented yet.
//!
//! A person who writes one expects an effect. Until there is one, loading adds a notice ([`IgnoredReason::NotBuilt`]). A change
//! that implements a setting removes its row here.

use crate::{IgnoredReason, Notice, Origin, Settings};

/// A setting without effect, whether these settings use it, and what happens instead.
type Row = (&'static str, fn(&Settings) -> bool, &'static str);

const UNBUILT: [Row; 0] = [];

/// Adds a notice for each setting that a file or a flag gives and that has no effect.
pub(crate) fn add_notices(settings: &mut Settings) {
    let written = |key: &str| settings.origin(key).filter(|origin| **origin != Origin::BuiltIn).cloned();
    let keys = UNBUILT.iter().filter(|(_, used, _)| used(settings));
    let keys = keys.filter_map(|(key, _, instead)| Some((*key, written(key)?, *instead)));
    let notice = |(key, origin, instead)| Notice { key, origin, why: IgnoredReason::NotBuilt { instead } };
    let notices: Vec<Notice> = keys.map(notice).collect();
    settings.notices.extend(notices);
}

#[cfg(test)]
mod tests {
    use crate::{Settings, Sources};

    /// The notices of a user file with this text.
    fn notices(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, text).unwrap();
        let settings = Settings::load(&Sources { user: Some(file.clone()), ..Sources::default() }).unwrap();
        let shown = settings.notices.iter().map(ToString::to_string);
        shown.map(|notice| notice.replace(file.to_str().unwrap(), "FILE")).collect()
    }

    #[test]
    fn settings_with_effect_are_not() {
        assert_eq!(
            notices(
                "[approval]\nmode = \"deny\"\n[sandbox]\nmode = \"off\"\nwritable = [\"/srv\"]\nunreadable = [\"~/x\"]\non_missing = \"warn\"\n"
            ),
            [""; 0]
        );
        let rule = "[[policy.rule]]\nprefix = [\"ls\"]\ndecision = \"allow\"\ngrants = { network = true }\n";
        assert_eq!(notices(rule), [""; 0]);
        assert_eq!(notices("[approval]\nmode = \"on-need\"\n"), [""; 0]);
        assert_eq!(notices(""), [""; 0]);
    }
}
