#!/bin/sh
# Whether everything works for an ordinary user: the daemon, the page, the API, the terminal and approvals, with a live agent
# behind them, and once more after the daemon was killed. No `claude` is needed, and nothing of yours is touched.
#
#   scripts/ordinary-user.sh                  builds the program with `cargo build --release` and tries it
#   scripts/ordinary-user.sh --program FILE   tries this one
#
# Run by root, it becomes a user without rights, and needs setpriv (util-linux). HOME and the data folder are new. Needs curl.
set -eu

program=
while [ $# -gt 0 ]; do
  case $1 in
    --program) program=$2; shift 2 ;;
    *) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done

tree=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "$program" ]; then
  (cd "$tree" && cargo build --quiet --release --locked)
  program=$tree/target/release/countersign
fi

place=$(mktemp -d "${TMPDIR:-/tmp}/cs-user.XXXXXX")
chmod 755 "$place"
mkdir "$place/home" "$place/work"
cp "$program" "$place/countersign"
chmod 755 "$place/countersign"
as=
if [ "$(id -u)" = 0 ]; then
  # Any number without an entry will do; nobody else's files have it.
  as='setpriv --reuid=20231 --regid=20231 --clear-groups --'
  chown 20231:20231 "$place" "$place/home" "$place/work"
fi

# What the user runs, with nothing of the caller in sight.
user() {
  # shellcheck disable=SC2086 # `as` is words
  (cd "$place/work" && exec env -i HOME="$place/home" PATH=/usr/bin:/bin LANG=C.UTF-8 $as "$@")
}
countersign() { user "$place/countersign" "$@"; }

fail() {
  echo "FAILED: $1" >&2
  sed 's/^/  daemon: /' "$place/err" >&2 || true
  exit 1
}
step() { echo "ok  $1"; }

# Waits until a command succeeds. Two minutes are for a machine that has much else to do.
until_ok() {
  what=$1; shift
  left=600
  until "$@" >"$place/last" 2>&1; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || { cat "$place/last" >&2; fail "$what"; }
    sleep 0.2
  done
}

pid=
serve() {
  : >"$place/out"
  # shellcheck disable=SC2086
  env -i HOME="$place/home" PATH=/usr/bin:/bin LANG=C.UTF-8 $as \
    "$place/countersign" serve --listen 127.0.0.1:0 --no-open \
    --claude "$place/countersign rehearse cli" >"$place/out" 2>>"$place/err" &
  pid=$!
  until_ok "the daemon prints no link" grep -q '/login?code=' "$place/out"
  link=$(grep -o 'http://[^ ]*/login?code=[^ ]*' "$place/out")
  base=${link%%/login*}
}
finish() {
  if [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; then
    # The agents are ended with their sessions; what a daemon leaves alive it would leave alive here, too.
    for id in $(countersign sessions --json 2>/dev/null | ids); do countersign stop "$id" >/dev/null 2>&1 || true; done
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  fi
  rm -rf "$place"
}
trap finish EXIT
trap 'exit 130' INT TERM

# The ids in a list, one a line: of sessions or approvals, whichever was asked for.
ids() { grep -o '"id": *"[0-9A-Z]\{26\}"' | grep -o '[0-9A-Z]\{26\}'; }
# As the user: the daemon sees no files of root's processes, and so not who speaks.
status() { user curl --silent --output "$place/body" --write-out '%{http_code}' "$@"; }
expect() {
  what=$1 wanted=$2; shift 2
  got=$(status "$@") || true
  [ "$got" = "$wanted" ] || fail "$what: $got instead of $wanted: $(cat "$place/body")"
  step "$what"
}

serve
step "the daemon runs as $(user id -u)"

countersign start 'run `touch first`' -C "$place/work" >/dev/null || fail "terminal: start"
has_question() { countersign inbox --json | ids >"$place/questions" && [ -s "$place/questions" ]; }
until_ok "the agent asks nothing" has_question
step "an agent lives and has asked"

token=$(cat "$place/home/.local/share/countersign/auth/token")
for path in /api/v1/sessions /api/v1/approvals /api/v1/usage /api/v1/settings; do
  expect "API: $path with the owner's token" 200 --header "Authorization: Bearer $token" "$base$path"
done

sign_in() {
  code=${link#*code=}
  expect "page: the link opens" 200 "$link"
  expect "page: its button signs in" 303 --cookie-jar "$place/cookies" \
    --header "Origin: $base" --data-urlencode "code=$code" "$base/login"
}
sign_in
expect "page: the first page" 200 --cookie "$place/cookies" "$base/"
expect "page: the plain one, with the question" 200 --cookie "$place/cookies" "$base/plain"
grep -q 'touch first' "$place/body" || fail "page: the question is not on it"
expect "page: what it asks the API for" 200 --cookie "$place/cookies" "$base/api/v1/sessions"

countersign approve --yes "$(head -n 1 "$place/questions")" >/dev/null || fail "terminal: approve"
until_ok "what was approved did not run" test -e "$place/work/first"
step "terminal: approved, and it ran"

session=$(countersign sessions --json | ids | head -n 1)
countersign send "$session" 'run `touch second`' >/dev/null || fail "terminal: send"
until_ok "the agent does not ask again" has_question
question=$(head -n 1 "$place/questions")

kill -9 "$pid"
wait "$pid" 2>/dev/null || true
serve
step "the daemon was killed with the question open, and started again"
sign_in
until_ok "the question is not there any more" has_question
[ "$(head -n 1 "$place/questions")" = "$question" ] || fail "it is another question"
user curl --silent --cookie "$place/cookies" "$base/api/v1/approvals/$question" >"$place/approval"
saw=$(grep -o '"digest": *"[^"]*"' "$place/approval" | head -n 1 | sed 's/.*: *"\(.*\)"/\1/')
expect "page: allowed" 200 --cookie "$place/cookies" --header "Origin: $base" \
  --header 'Content-Type: application/json' --header 'Idempotency-Key: ordinary-user-1' \
  --data "{\"decision\":\"allow\",\"saw\":\"$saw\"}" "$base/api/v1/approvals/$question/decision"
until_ok "what was allowed did not run" test -e "$place/work/second"
step "and it ran"

countersign stop "$session" >/dev/null || fail "terminal: stop"
step "everything works for an ordinary user"
