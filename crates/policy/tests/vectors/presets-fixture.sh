#!/bin/bash
# Builds the project that presets.jsonl speaks of. Usage: presets-fixture.sh ROOT
set -e; R=${1:?root}; mkdir -p "$R"; cd "$R"
export HOME="$R/.." GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
mkdir -p src/components src/app src/server tests scripts docs data logs lib build dist config infra chart certs bin packages/web packages/api crates/core/src cmd/app .github/workflows .venv/bin venv/bin vendor/bin target/debug target/release sub repo patches ../.ssh ../.aws ../bin
printf '{"name":"app","version":"1.0.0","scripts":{"build":"true","test":"true"}}\n' | tee package.json packages/web/package.json > packages/api/package.json
printf '[package]\nname = "app"\nversion = "1.0.0"\nedition = "2024"\n' | tee Cargo.toml > crates/core/Cargo.toml
printf 'all build test lint clean:\n\ttrue\n' | tee Makefile > sub/Makefile
printf 'fn main() {}\n' | tee src/main.rs src/lib.rs > crates/core/src/lib.rs
for f in README.md src/app.py src/util.py src/index.js src/index.ts tests/test_app.py docker-compose.yml .github/workflows/ci.yml requirements.txt main.c main.go names.txt files.txt fix.patch .gitignore a.txt b.txt old.txt build.log schema.sql; do printf 'x\n' > "$f"; done
for f in scripts/build.sh scripts/test.sh scripts/setup.sh scripts/deploy.sh configure gradlew mvnw bin/rails .venv/bin/python .venv/bin/pip .venv/bin/pytest venv/bin/pip venv/bin/python vendor/bin/phpunit vendor/bin/phpstan target/debug/app target/release/app; do printf '#!/bin/sh\ntrue\n' > "$f"; chmod +x "$f"; done
printf 'export VIRTUAL_ENV=x\n' | tee .venv/bin/activate > venv/bin/activate
printf 'target\nnode_modules\n' > .gitignore
printf 'x\n' | tee ../.ssh/id_rsa ../.bashrc ../notes.txt > ../.aws/credentials
git init -q -b main . && git add -A && git -c user.name=t -c user.email=t@t commit -qm init
