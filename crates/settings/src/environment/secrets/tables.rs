//! Known secrets by name and by value, and the exceptions.
//!
//! `docs/environment.md` lists every row, and a test compares the two.

/// A name by its last words.
pub(in super::super) struct Name {
    /// How the documentation shows it.
    pub(in super::super) shown: &'static str,
    pub(super) words: &'static [&'static str],
    /// Whether the last word may be the end of a longer word, as in `PGPASSWORD`.
    pub(super) glued: bool,
}

const fn ends(shown: &'static str, words: &'static [&'static str]) -> Name {
    Name { shown, words, glued: false }
}

const fn glued(shown: &'static str, words: &'static [&'static str]) -> Name {
    Name { shown, words, glued: true }
}

/// Names by their last words. Case doesn't matter.
pub(in super::super) const NAMES: &[Name] = &[
    glued("*TOKEN", &["TOKEN"]),
    glued("*SECRET", &["SECRET"]),
    glued("*PASSWORD", &["PASSWORD"]),
    glued("*PASSWD", &["PASSWD"]),
    glued("*PASSPHRASE", &["PASSPHRASE"]),
    glued("*APIKEY", &["APIKEY"]),
    glued("*ACCESSKEY", &["ACCESSKEY"]),
    glued("*SECRETKEY", &["SECRETKEY"]),
    glued("*PRIVATEKEY", &["PRIVATEKEY"]),
    ends("*_SECRETS", &["SECRETS"]),
    ends("*_PASSWORDS", &["PASSWORDS"]),
    ends("*_PASS", &["PASS"]),
    ends("*_PAT", &["PAT"]),
    ends("*_JWT", &["JWT"]),
    ends("*_AUTH", &["AUTH"]),
    ends("*_COOKIE", &["COOKIE"]),
    ends("*_CREDENTIAL", &["CREDENTIAL"]),
    ends("*_CREDENTIALS", &["CREDENTIALS"]),
    ends("*_CREDS", &["CREDS"]),
    ends("*_API_KEY", &["API", "KEY"]),
    ends("*_API_KEYS", &["API", "KEYS"]),
    ends("*_ACCESS_KEY", &["ACCESS", "KEY"]),
    ends("*_SECRET_KEY", &["SECRET", "KEY"]),
    ends("*_SECRET_KEY_BASE", &["SECRET", "KEY", "BASE"]),
    ends("*_PRIVATE_KEY", &["PRIVATE", "KEY"]),
    ends("*_ENCRYPTION_KEY", &["ENCRYPTION", "KEY"]),
    ends("*_SIGNING_KEY", &["SIGNING", "KEY"]),
    ends("*_MASTER_KEY", &["MASTER", "KEY"]),
    ends("*_AUTH_KEY", &["AUTH", "KEY"]),
    ends("*_APP_KEY", &["APP", "KEY"]),
    ends("*_ADMIN_KEY", &["ADMIN", "KEY"]),
    ends("*_ACCOUNT_KEY", &["ACCOUNT", "KEY"]),
    ends("*_STORAGE_KEY", &["STORAGE", "KEY"]),
    ends("*_SERVICE_KEY", &["SERVICE", "KEY"]),
    ends("*_ROLE_KEY", &["ROLE", "KEY"]),
    ends("*_SESSION_KEY", &["SESSION", "KEY"]),
    ends("*_SUBSCRIPTION_KEY", &["SUBSCRIPTION", "KEY"]),
    ends("*_DEPLOY_KEY", &["DEPLOY", "KEY"]),
    ends("*_LICENSE_KEY", &["LICENSE", "KEY"]),
    ends("*_HMAC_KEY", &["HMAC", "KEY"]),
    ends("*_JWT_KEY", &["JWT", "KEY"]),
    ends("*_CONNECTION_STRING", &["CONNECTION", "STRING"]),
    ends("*_WEBHOOK_URL", &["WEBHOOK", "URL"]),
];

/// Whole names of secrets that follow no rule. Case doesn't matter.
pub(in super::super) const WHOLE_NAMES: &[&str] = &[
    "MYSQL_PWD",
    "DB_PWD",
    "DATABASE_PWD",
    "SSHPASS",
    "DOCKER_AUTH_CONFIG",
    "KUBECONFIG_DATA",
    "KUBE_CONFIG_DATA",
];

/// Words that may follow the words of a secret, to distinguish secrets of the same kind. Numbers may, too.
pub(in super::super) const QUALIFIERS: &[&str] = &[
    "PROD",
    "PRODUCTION",
    "STAGING",
    "DEV",
    "TEST",
    "LIVE",
    "SANDBOX",
    "OLD",
    "NEW",
    "DEFAULT",
    "PRIMARY",
    "SECONDARY",
    "BACKUP",
    "VALUE",
    "BASE64",
    "B64",
    "JSON",
    "RO",
    "RW",
];

/// Values that contain no secret, whatever the name of the variable.
pub(in super::super) const SWITCHES: &[&str] =
    &["", "true", "false", "yes", "no", "on", "off", "none", "null", "enabled", "disabled"];

/// Variables that are not hidden by their names, and the reason. They name the place of a socket or a file, and commands need
/// them. Confinement decides whether a command may use that socket or file.
pub(in super::super) const HANDLES: &[(&str, &str)] = &[
    ("SSH_AUTH_SOCK", "the socket of the SSH agent, for `git push`; the keys stay in the agent"),
    ("SSH_AGENT_PID", "the number of the agent's process"),
    ("GPG_AGENT_INFO", "the socket of the GPG agent, for signed commits"),
    ("GPG_TTY", "the terminal on which GPG would ask"),
    ("DBUS_SESSION_BUS_ADDRESS", "the address of the desktop's message bus"),
    ("XAUTHORITY", "the file that opens the display"),
    ("DISPLAY", "the number of the display"),
    ("WAYLAND_DISPLAY", "the socket of the display"),
    ("GOOGLE_APPLICATION_CREDENTIALS", "a file's path; list the file in `sandbox.unreadable`"),
];

/// The characters a secret is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Class {
    Hex,
    /// Capitals and digits.
    Upper,
    /// Letters and digits.
    Letters,
    /// Letters, digits, `_` and `-`.
    Base64Url,
    /// Letters, digits, `_`, `-` and `.`.
    Dotted,
    /// Any visible ASCII character.
    Any,
}

/// What follows the start of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Shape {
    /// At least this many characters of a class.
    Run(Class, usize),
    /// At least this many characters of a class, with a digit among them: the beginning alone is common in ordinary words.
    Mixed(Class, usize),
    /// The rest of a JSON web token.
    Jwt,
    /// The rest of a private key's first line.
    PrivateKey,
}

/// A secret by its value.
pub(in super::super) struct Value {
    pub(in super::super) start: &'static str,
    pub(super) shape: Shape,
    pub(in super::super) kind: &'static str,
}

const fn run(start: &'static str, class: Class, least: usize, kind: &'static str) -> Value {
    Value { start, shape: Shape::Run(class, least), kind }
}

const fn mixed(start: &'static str, class: Class, least: usize, kind: &'static str) -> Value {
    Value { start, shape: Shape::Mixed(class, least), kind }
}

/// The kind of a URL with a password. Such a value has no fixed beginning.
pub(in super::super) const URL_PASSWORD: &str = "URL with a password";

/// Values by their beginning, which is at the start of a word.
pub(in super::super) const VALUES: &[Value] = &[
    run("ghp_", Class::Letters, 30, "GitHub token"),
    run("gho_", Class::Letters, 30, "GitHub token"),
    run("ghu_", Class::Letters, 30, "GitHub token"),
    run("ghs_", Class::Letters, 30, "GitHub token"),
    run("ghr_", Class::Letters, 30, "GitHub token"),
    run("github_pat_", Class::Base64Url, 30, "GitHub token"),
    run("glpat-", Class::Base64Url, 20, "GitLab token"),
    run("gldt-", Class::Base64Url, 20, "GitLab token"),
    run("glrt-", Class::Base64Url, 20, "GitLab token"),
    run("glptt-", Class::Base64Url, 20, "GitLab token"),
    run("glcbt-", Class::Base64Url, 20, "GitLab token"),
    run("ATATT3", Class::Any, 30, "Atlassian token"),
    run("ATBB", Class::Letters, 28, "Bitbucket password"),
    run("sk-ant-", Class::Base64Url, 20, "Anthropic key"),
    mixed("sk-", Class::Base64Url, 20, "OpenAI key"),
    run("xai-", Class::Letters, 60, "xAI key"),
    run("gsk_", Class::Letters, 40, "Groq key"),
    run("pplx-", Class::Letters, 40, "Perplexity key"),
    run("r8_", Class::Letters, 30, "Replicate token"),
    run("hf_", Class::Letters, 30, "Hugging Face token"),
    run("xoxb-", Class::Base64Url, 10, "Slack token"),
    run("xoxp-", Class::Base64Url, 10, "Slack token"),
    run("xoxa-", Class::Base64Url, 10, "Slack token"),
    run("xoxr-", Class::Base64Url, 10, "Slack token"),
    run("xoxs-", Class::Base64Url, 10, "Slack token"),
    run("xoxe-", Class::Base64Url, 10, "Slack token"),
    run("xapp-", Class::Base64Url, 10, "Slack token"),
    run("hooks.slack.com/services/", Class::Any, 10, "Slack webhook"),
    run("discord.com/api/webhooks/", Class::Any, 10, "Discord webhook"),
    run("AKIA", Class::Upper, 16, "AWS access key"),
    run("ASIA", Class::Upper, 16, "AWS access key"),
    run("AIza", Class::Base64Url, 35, "Google API key"),
    run("ya29.", Class::Dotted, 20, "Google access token"),
    run("GOCSPX-", Class::Base64Url, 20, "Google client secret"),
    run("npm_", Class::Letters, 30, "npm token"),
    run("pypi-", Class::Base64Url, 50, "PyPI token"),
    run("cio", Class::Letters, 32, "crates.io token"),
    run("rubygems_", Class::Hex, 32, "RubyGems key"),
    run("dckr_pat_", Class::Base64Url, 20, "Docker token"),
    run("dop_v1_", Class::Hex, 60, "DigitalOcean token"),
    run("HRKU-", Class::Base64Url, 30, "Heroku key"),
    run("nfp_", Class::Letters, 30, "Netlify token"),
    run("sk_live_", Class::Letters, 16, "Stripe key"),
    run("sk_test_", Class::Letters, 16, "Stripe key"),
    run("rk_live_", Class::Letters, 16, "Stripe key"),
    run("rk_test_", Class::Letters, 16, "Stripe key"),
    run("whsec_", Class::Any, 16, "webhook secret"),
    run("shpat_", Class::Hex, 32, "Shopify token"),
    run("shpss_", Class::Hex, 32, "Shopify secret"),
    run("sq0atp-", Class::Base64Url, 20, "Square token"),
    run("SG.", Class::Dotted, 50, "SendGrid key"),
    run("dapi", Class::Hex, 32, "Databricks token"),
    run("lin_api_", Class::Letters, 30, "Linear key"),
    run("ntn_", Class::Letters, 40, "Notion token"),
    run("secret_", Class::Letters, 40, "Notion token"),
    run("figd_", Class::Base64Url, 30, "Figma token"),
    run("PMAK-", Class::Base64Url, 30, "Postman key"),
    run("NRAK-", Class::Letters, 20, "New Relic key"),
    run("glsa_", Class::Base64Url, 30, "Grafana token"),
    run("tskey-", Class::Base64Url, 20, "Tailscale key"),
    run("sbp_", Class::Hex, 40, "Supabase token"),
    run("pul-", Class::Hex, 40, "Pulumi token"),
    run("hvs.", Class::Base64Url, 20, "Vault token"),
    run("dp.pt.", Class::Letters, 30, "Doppler token"),
    run("AGE-SECRET-KEY-1", Class::Upper, 30, "age key"),
    run("AccountKey=", Class::Any, 20, "Azure storage key"),
    run("SharedAccessKey=", Class::Any, 20, "Azure access key"),
    run("Password=", Class::Any, 1, "connection string with a password"),
    run("Pwd=", Class::Any, 1, "connection string with a password"),
    run("Authorization: ", Class::Any, 5, "authorization header"),
    run("authorization: ", Class::Any, 5, "authorization header"),
    run("AUTHORIZATION: ", Class::Any, 5, "authorization header"),
    run("Bearer ", Class::Any, 16, "authorization header"),
    Value { start: "eyJ", shape: Shape::Jwt, kind: "JSON web token" },
    Value { start: "-----BEGIN ", shape: Shape::PrivateKey, kind: "private key" },
];
