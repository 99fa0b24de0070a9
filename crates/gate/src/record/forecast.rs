//! What the judge foretold, for the entry of a start. Its size is bounded: a script of thousands of calls is cut.

use shellgate_journal::{ForetoldCall, ForetoldEffect, RecordedForecast};
use shellgate_policy::CallEffect;
use shellgate_policy::programs::base_name;

use crate::admit::judge::{Part, Verdict};

/// How many calls are kept.
const MAX_CALLS: usize = 32;

/// How many effects of a call are kept.
const MAX_EFFECTS: usize = 12;

/// How long a kept target is.
const MAX_TARGET_CHARACTERS: usize = 160;

/// The calls of a verdict with their effects.
pub(super) fn recorded(verdict: &Verdict) -> RecordedForecast {
    let mut forecast = RecordedForecast::default();
    for part in verdict.parts() {
        let call = foretold(part);
        if forecast.calls.contains(&call) {
            continue;
        }
        if forecast.calls.len() == MAX_CALLS {
            forecast.omitted += 1;
            continue;
        }
        forecast.omitted += part.effects.len().saturating_sub(MAX_EFFECTS) as u64;
        forecast.calls.push(call);
    }
    forecast
}

fn foretold(part: &Part) -> ForetoldCall {
    let program = part.argv.first().and_then(Option::as_deref).map_or("", base_name);
    let effects = part.effects.iter().take(MAX_EFFECTS).map(effect);
    ForetoldCall { program: short(program), effects: effects.collect() }
}

fn effect(effect: &CallEffect) -> ForetoldEffect {
    ForetoldEffect {
        effect: effect.effect.name().to_owned(),
        target: effect.target.as_deref().map(short),
        known: effect.known,
        sends: effect.sends,
    }
}

fn short(text: &str) -> String {
    text.chars().take(MAX_TARGET_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use shellgate_policy::{CommandContext, Machine, Rules, judge};

    use super::*;

    fn forecast(command: &str) -> RecordedForecast {
        let machine = Machine::new("/r".as_ref(), "/r".as_ref(), None, "/bin".into());
        recorded(&judge(command, &CommandContext::default(), &Rules::default(), &machine))
    }

    #[test]
    fn calls_are_kept_once_with_their_effects() {
        let forecast = forecast("rm -f a; rm -f a; echo hi > out; curl -d @b https://example.org/x");
        let expected = json!({"calls": [
            {"program": "rm", "effects": [{"effect": "delete", "target": "a"}]},
            {"program": "echo", "effects": [{"effect": "write", "target": "out"}]},
            {"program": "curl", "effects": [
                {"effect": "network", "target": "example.org", "sends": true},
                {"effect": "read", "target": "b"},
            ]},
        ]});
        assert_eq!(json!(forecast), expected);
    }

    #[test]
    fn a_long_script_is_cut_and_the_rest_counted() {
        let script: String = (0..500).map(|number| format!("touch file{number}\n")).collect();
        let cut = forecast(&script);
        assert_eq!((cut.calls.len(), cut.omitted), (MAX_CALLS, 468));
        let files: String = (0..100).map(|number| format!(" f{number}")).collect();
        let cut = forecast(&format!("rm{files}"));
        assert_eq!((cut.calls[0].effects.len(), cut.omitted), (MAX_EFFECTS, 88));
        let long = forecast(&format!("touch {}", "x".repeat(5000)));
        assert_eq!(long.calls[0].effects[0].target.as_ref().unwrap().len(), MAX_TARGET_CHARACTERS);
    }
}
