//! Files that git prints and another program puts over those of the work tree: `git show HEAD:x | tee x` is `git checkout -- x`,
//! and `git archive HEAD | tar x` is `git checkout -- .`.

use shellgate_syntax::{Input, Invocation, RedirectOperator, RedirectTarget, Word};

use super::respelled::Supposition;
use super::spelling::quoted;
use super::values::{KnownText, MAX_VALUES, plain_path};
use crate::programs::{base_name, words};

/// Options of programs that unpack, with which they do that in another folder.
const ELSEWHERE: [&str; 5] = ["-C", "--directory", "--cd", "--one-top-level", "-D"];

impl KnownText<'_> {
    /// What an invocation puts back that git prints.
    pub(super) fn by_git_content(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let own: Vec<&str> = invocation.words.iter().take(8).map(|word| word.value.lead()).collect();
        let Some(program) = own.first().map(|name| base_name(name)) else { return Vec::new() };
        let mut targets: Vec<&Word> = Vec::new();
        for redirect in &invocation.redirects {
            if let (RedirectTarget::Word(word), RedirectOperator::Write | RedirectOperator::Clobber) =
                (&redirect.target, redirect.operator)
            {
                targets.push(word);
            }
        }
        let sources: Vec<usize> = match &invocation.input {
            Input::Pipe(sources) => sources.iter().copied().take(MAX_VALUES).chain([at]).collect(),
            _ => vec![at],
        };
        if words::RUIN_UNPACKERS.contains(&program) {
            let is_elsewhere = own.iter().any(|word| ELSEWHERE.iter().any(|option| word.starts_with(option)));
            let is_archive = sources.iter().any(|source| self.is_git(*source, &["archive"]));
            let restores = is_archive && !is_elsewhere;
            return restores
                .then(|| Supposition::respelled("git checkout -- .".to_owned()))
                .into_iter()
                .collect();
        }
        if matches!(program, "tee" | "sponge") {
            targets.extend(invocation.words.iter().skip(1).take(MAX_VALUES));
        }
        let targets = targets.into_iter().filter_map(|word| word.value.known());
        let targets: Vec<&str> = targets.map(plain_path).take(MAX_VALUES).collect();
        if targets.is_empty() {
            return Vec::new();
        }
        let printed = sources.iter().filter(|source| self.is_git(**source, &["show", "cat-file"]));
        let printed = printed.filter_map(|source| self.invocations.get(*source)).flat_map(|one| &one.words);
        let printed =
            printed.filter_map(|word| word.value.known()?.split_once(':').map(|(_, path)| plain_path(path)));
        let restored = printed.filter(|path| !path.is_empty() && targets.contains(path));
        restored.map(|path| Supposition::respelled(format!("git checkout -- {}", quoted(path)))).collect()
    }

    fn is_git(&self, at: usize, subcommands: &[&str]) -> bool {
        let Some(invocation) = self.invocations.get(at) else { return false };
        let mut own = invocation.words.iter().take(8).map(|word| word.value.lead());
        own.next().map(base_name) == Some("git") && own.any(|word| subcommands.contains(&word))
    }
}
