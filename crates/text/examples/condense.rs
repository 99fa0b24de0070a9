//! Shows what a model reads of some output: `condense FILE [PROGRAM ARGUMENT...]`. Without a program only equal lines are folded,
//! and with `-` in its place nothing is.

use std::fs::File;
use std::path::Path;

use shellgate_text::condense::Reducer;
use shellgate_text::{Limit, Shares, Source, ViewOptions, view_with};

/// Nothing is cut.
const NO_LIMIT: Limit = Limit::Tokens(100_000_000);

fn main() -> std::io::Result<()> {
    let mut words = std::env::args().skip(1);
    let path = words.next().unwrap_or_default();
    let argv: Vec<String> = words.collect();
    let file = File::open(&path)?;
    let is_plain = argv.first().is_some_and(|word| word == "-");
    let reducer = (!is_plain).then(|| Reducer::for_program(Some(&argv)));
    let options = ViewOptions { limit: NO_LIMIT, shares: Shares::Even, reducer: reducer.as_deref() };
    let view = view_with(&Source::whole(&file, Path::new(&path)), options);
    std::io::Write::write_all(&mut std::io::stdout(), view.text.as_bytes())
}
