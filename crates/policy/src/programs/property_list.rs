// The properties of programs, by their names in `tables/properties.toml`. Included twice: by `property.rs`, and by the
// build script, which checks the spelling.
properties! {
    /// Its output is an assistant's own words.
    "assistant" = Assistant,
    /// It is many programs in one file: which one runs is decided by the name it was called by, or by its first argument.
    "multi-call" = MultiCall,
    /// Each of its subcommands is a program of its own, too: `git-push` is `git push`.
    "dashed-subcommands" = DashedSubcommands,
    /// The words that it adds to a command are paths below the folders that it was given.
    "adds-paths-below-operands" = AddsPathsBelowOperands,
    /// A builtin that acts on nothing but the shell that runs it. What it may do besides (run a command, set a variable)
    /// is judged as an effect.
    "acts-on-shell-only" = ActsOnShellOnly,
    /// It writes only files that its words name.
    "writes-what-it-names" = WritesWhatItNames,
    /// It writes no content: it makes or removes folders and files, or changes their rights.
    "writes-no-content" = WritesNoContent,
    /// It makes files whose names are in an archive or a folder, not in its words.
    "unpacks" = Unpacks,
    /// It does that with the letter `x` among its options, or `--extract`.
    "unpacks-by-letter" = UnpacksByLetter,
    /// It changes the working directory of the shell.
    "changes-directory" = ChangesDirectory,
    /// It needs no rule when the folder that it is given lies inside the root.
    "free-inside-root" = FreeInsideRoot,
    /// It splits one line at `IFS`. `IFS=, read a b` changes nothing else.
    "splits-at-ifs" = SplitsAtIfs,
    /// POSIX finds it before a function of the same name.
    "special-builtin" = SpecialBuiltin,
    /// It runs the builtin that its operands name.
    "runs-builtins" = RunsBuiltins,
    /// It gives variables attributes: integer, list, reference.
    "declares-variables" = DeclaresVariables,
    /// It gives variables to the programs that the shell starts.
    "exports-variables" = ExportsVariables,
    /// It makes a variable new and empty, and with `-n` another name for a variable.
    "makes-variables" = MakesVariables,
    /// It makes variables constant.
    "makes-constants" = MakesConstants,
    /// With redirects and without a command, it redirects the shell itself.
    "replaces-descriptors" = ReplacesDescriptors,
    /// It never reads its standard input.
    "reads-no-input" = ReadsNoInput,
    /// It may make links, or move or make folders that hold links.
    "makes-links" = MakesLinks,
    /// It takes a word `@FILE`, wherever it is, for further words in a file.
    "reads-response-files" = ReadsResponseFiles,
    /// A variable that it is given means what its operand `NAME=VALUE` means.
    "takes-variables-as-operands" = TakesVariablesAsOperands,
    /// It runs what files of its folder or of the project say.
    "obeys-files" = ObeysFiles,
    /// It makes files of its input, or of what an archive holds, and chooses their names.
    "names-its-outputs" = NamesItsOutputs,
    /// It gives files other names by a rule.
    "renames-by-rule" = RenamesByRule,
    /// It makes files with the names of others.
    "copies-files" = CopiesFiles,
    /// It keeps what it replaces under a name with an ending that an option says.
    "keeps-backups" = KeepsBackups,
    /// It makes files whose names are in its input or in a file, wherever those lead.
    "unpacks-text" = UnpacksText,
    /// It runs git, whose settings can name programs.
    "runs-git" = RunsGit,
    /// Its subcommands of the name of another program do what that program does.
    "stands-for-programs" = StandsForPrograms,
    /// Its entry lists other names of the same program.
    "many-names" = ManyNames,
    /// It runs the text or the command that it is given once, and waits for its end.
    "runs-once" = RunsOnce,
    /// It is told by an option which file of the project says what to build.
    "builds-by-file" = BuildsByFile,
    /// It finds a tool by its name and runs it: a rule that names it is about that.
    "runs-tools" = RunsTools,
    /// Its first operand is a mode of files.
    "takes-mode" = TakesMode,
    /// It removes variables.
    "unsets-variables" = UnsetsVariables,
    /// It may remove functions, itself or by the text that it runs.
    "may-unset-functions" = MayUnsetFunctions,
    /// It sets options of the shell.
    "sets-shell-options" = SetsShellOptions,
    /// A person may be offered to allow all of its calls at once: it shows or computes something, or makes something new,
    /// whatever its words are. A program without it is only allowed with its subcommand, or call by call.
    "safe-alone" = SafeAlone,
    /// Its subcommands have subcommands that its entry doesn't list: `gh pr` shows nothing of what `gh pr merge` does.
    /// The list also names single subcommands of which that is so: `npm run`.
    "deeper-subcommands" = DeeperSubcommands,
    /// Runs whatever its operands name.
    "runs-its-operands" = RunsItsOperands,
    /// Typed at an interactive shell, it changes what later lines mean, or reads some of them itself.
    "affects-later-lines" = AffectsLaterLines,
}
