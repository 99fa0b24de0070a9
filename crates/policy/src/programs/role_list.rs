// The roles of words, by their names in the tables. Included twice: by `role.rs`, and by the build script, which
// checks the spelling.
roles! {
    /// Text, a pattern, a number, a host.
    "data" = Data,
    /// A file or folder that is read.
    "path" = Path,
    /// A file of credentials that the program uses itself and doesn't show.
    "key" = Key,
    /// A file or folder that is written.
    "write" = Write,
    /// The same as an option's value, where writing it is the purpose of the call.
    "output" = Output,
    /// A file that names files to read.
    "list" = List,
    /// Paths with `:` between.
    "paths" = Paths,
    /// Perhaps a `file:` address.
    "url" = Url,
    /// Perhaps a `file:` address that is written.
    "write-url" = WriteUrl,
    /// `@FILE`, else data.
    "at-file" = AtFile,
    /// `name=@FILE`, else data.
    "form" = Form,
    /// `key=PATH`, or a path.
    "key-path" = KeyPath,
    /// `key=PATH` parts with `,` between, each of which is written.
    "key-write" = KeyWrite,
    /// The folder to work in.
    "directory" = Directory,
    /// A program that is run with further words.
    "program" = Program,
    /// A command line split at blanks, run with further words.
    "split" = Split,
    /// A command line split at commas, run with further words.
    "comma-command" = CommaCommand,
    /// Text for a shell.
    "shell" = Shell,
    /// This and all further words are a command.
    "command" = Command,
    /// This and all further words are a command, and words are added.
    "command-more" = CommandMore,
    /// Words up to `;` are a command, and words are added.
    "command-until" = CommandUntil,
    /// A command that runs elsewhere.
    "remote" = Remote,
    /// Code in the program's language.
    "code" = Code,
    /// A file of code.
    "script" = Script,
    /// A script of a package, a file of code, or a program.
    "package-script" = PackageScript,
    /// A file of shell commands.
    "shell-script" = ShellScript,
    /// A module or package that is found and run.
    "module" = Module,
    /// A module of python that is run; some are known.
    "python-module" = PythonModule,
    /// A library that is loaded.
    "load" = Load,
    /// Settings that can name programs.
    "config" = Config,
    /// Arguments of the code; not read.
    "args" = Args,
    /// `NAME=VALUE`.
    "assign" = Assign,
    /// The name of a variable that gets a value.
    "variable" = Variable,
    /// A part of the name of a variable, which a shell expands.
    "variable-name" = VariableName,
    /// An arithmetic expression.
    "arithmetic" = Arithmetic,
    /// A function or command that the shell will call.
    "function" = Function,
    /// Text for the shell, behind which the shell puts words.
    "callback" = Callback,
    /// Text that is split into further words of the call.
    "env-split" = EnvSplit,
    /// `name=TEXT` of an alias.
    "alias" = Alias,
    /// The text of a trap.
    "trap-text" = TrapText,
    /// Words that the shell expands.
    "expands" = Expands,
    /// A script of `sed`.
    "sed-script" = SedScript,
    /// The suffix of `sed -i`.
    "backup-suffix" = BackupSuffix,
    /// What is put before the path of a file that is written.
    "path-prefix" = PathPrefix,
    /// Statements for a database, and commands of its shell.
    "sql" = Sql,
    /// A database of sqlite.
    "sqlite-file" = SqliteFile,
    /// A program of `awk`.
    "awk-program" = AwkProgram,
    /// `KEY=VALUE` of `git -c`.
    "git-config" = GitConfig,
    /// `KEY=VALUE` or `KEY VALUE` of `ssh -o`.
    "ssh-option" = SshOption,
    /// An address of `socat`.
    "socat-address" = SocatAddress,
    /// A command of an editor or debugger, some of which run programs.
    "editor-command" = EditorCommand,
    /// A package, revision or target, or a path.
    "name" = Name,
    /// A URL, path or remote of git.
    "git-remote" = GitRemote,
    /// A URL or path that git takes a repository from.
    "git-source" = GitSource,
    /// The folder that git works in.
    "git-folder" = GitFolder,
    /// The repository that git works on.
    "git-repository" = GitRepository,
    /// An address, or a path that is read.
    "source" = Source,
    /// `host:path`, or a path that is read.
    "host-path" = HostPath,
    /// `host:path`, or a path that is written.
    "host-write" = HostWrite,
    /// `SOURCE:TARGET` of a container.
    "volume" = Volume,
    /// `type=bind,src=PATH` of a container.
    "mount" = Mount,
    /// `@FILE` with options, or a path.
    "response" = Response,
    /// A goal or a variable of `make`.
    "make-word" = MakeWord,
    /// A makefile.
    "makefile" = Makefile,
    /// A program of `jq`.
    "jq-program" = JqProgram,
    /// A format of `git log` and its like.
    "git-format" = GitFormat,
    /// Hosts of `ssh -J`.
    "ssh-jump" = SshJump,
    /// A toolchain of Rust, or a folder of one.
    "toolchain" = Toolchain,
    /// `name@FILE` or text.
    "curl-data" = CurlData,
    /// Cookies, or a file of them.
    "curl-cookie" = CurlCookie,
    /// A file that curl writes, in whose name parts of the address may stand.
    "curl-output" = CurlOutput,
    /// A file that curl reads, or a pattern of such.
    "curl-upload" = CurlUpload,
    /// What curl prints at the end; `@FILE`.
    "curl-format" = CurlFormat,
    /// `KEY=VALUE` settings with commas between.
    "settings" = Settings,
    /// EffectKind `tar` does at checkpoints.
    "tar-action" = TarAction,
    /// Options for a linker, in one word.
    "linker" = Linker,
    /// `KEY=VALUE` for the code generation of the Rust compiler.
    "rust-codegen" = RustCodegen,
    /// `KEY=VALUE` or a file of settings, of cargo.
    "cargo-config" = CargoConfig,
    /// A package of an index, or one from elsewhere.
    "package" = Package,
    /// An option whose grammar isn't known.
    "loose" = Loose,
    /// The same, where the value may be a file that is written.
    "loose-write" = LooseWrite,
    /// The same as `loose`, of a program of which no option runs or writes anything.
    "harmless" = Harmless,
    /// A file that Perl opens by `open(F, NAME)`, which takes `COMMAND |` for a command.
    "perl-file" = PerlFile,
    /// The name of a document of TeX, or a part of a line in TeX.
    "tex-word" = TexWord,
    /// A command of a debugger, some of which start the program.
    "debugger-command" = DebuggerCommand,
    /// A folder that becomes the root folder of what is run.
    "new-root" = NewRoot,
    /// `PATH` or `SOURCE:TARGET`, in the root folder of what is run.
    "bind" = Bind,
    /// A plain name, in whose place a file or code may stand.
    "bare-name" = BareName,
    /// Plain values with commas between, which are put into commands.
    "plain-values" = PlainValues,
    /// A keyword, or a file that is written.
    "output-place" = OutputPlace,
    /// A file that is written, or a command behind `|` or `%pipe%`.
    "pipe-or-write" = PipeOrWrite,
    /// An archive or a drive that is written, perhaps on another machine.
    "tape" = Tape,
    /// Options for an X server, in one word.
    "server-options" = ServerOptions,
    /// The name of a database of PostgreSQL, or `KEY=VALUE` of a connection.
    "pg-connection" = PgConnection,
    /// `NAME[:TYPE]=VALUE` of `cmake -D`.
    "cmake-setting" = CmakeSetting,
}
