#!/bin/sh
# How long a stranger waits: from a clean clone to a login link that opens. No `claude` is needed.
#
#   scripts/first-run.sh            clones this tree, builds it, starts it, signs in, and prints the seconds of each step
#   scripts/first-run.sh --limit N  fails if it took more than N seconds (the promise is 240 on two cores)
#   scripts/first-run.sh --offline  with the packages that are here already, so that the network is not measured
#
# The clone holds what is committed, and nothing else; cargo's own folder of packages is used, the target folder is new. HOME
# and the data folder are new, too, and PATH holds no `claude`. The last line but one is the processor time of all of it: on a
# machine that has other things to do, half of that is what two idle cores would have taken at best.
set -eu

limit= offline=
while [ $# -gt 0 ]; do
  case $1 in
    --limit) limit=$2; shift 2 ;;
    --offline) offline=--offline; shift ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done

tree=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d "${TMPDIR:-/tmp}/countersign-first-run.XXXXXX")
pid=
finish() {
  if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; fi
  rm -rf "$place"
}
trap finish EXIT
trap 'exit 130' INT TERM

begun=$(date +%s)
step() { printf '%5d s  %s\n' "$(($(date +%s) - begun))" "$1"; }

git clone --quiet --no-hardlinks "$tree" "$place/clone"
step "cloned"

cd "$place/clone"
cargo fetch --quiet --locked $offline
step "packages are here"

CARGO_TARGET_DIR=$place/target cargo build --quiet --release --locked $offline
step "built"

mkdir "$place/home"
program=$place/target/release/countersign
env -i HOME="$place/home" PATH=/usr/bin:/bin LANG=C.UTF-8 \
  "$program" serve --listen 127.0.0.1:0 --no-open --rehearsal >"$place/out" 2>"$place/err" &
pid=$!
until link=$(grep -o 'http://[^ ]*/login?code=[^ ]*' "$place/out"); do
  if ! kill -0 "$pid" 2>/dev/null; then
    echo "it ended without a link:" >&2
    cat "$place/out" "$place/err" >&2
    exit 1
  fi
  sleep 0.1
done
step "login link"

# The link shows a page; what its button sends signs in; then the first page is there.
base=${link%%/login*}
code=${link#*code=}
curl --silent --fail --output /dev/null "$link"
curl --silent --fail --cookie-jar "$place/cookies" --output /dev/null \
  --header "Origin: $base" --data-urlencode "code=$code" "$base/login"
curl --silent --fail --cookie "$place/cookies" "$base/plain" | grep -q 'Begin a session'
step "signed in, the first page is there"

took=$(($(date +%s) - begun))
kill "$pid" && wait "$pid" 2>/dev/null || true
pid=
times >"$place/times"
awk 'NR == 2 { print "processor time: " $1 " user, " $2 " system" }' "$place/times"
echo "$took seconds on $(nproc 2>/dev/null || echo '?') cores"
if [ -n "$limit" ] && [ "$took" -gt "$limit" ]; then
  echo "more than $limit" >&2
  exit 1
fi
