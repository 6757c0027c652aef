//! What stands in the way of allowing a command, and what another one may hide in.

use super::super::read;
use super::last;

/// Texts whose last command may mean something else.
const OBSTACLES: &[&str] = &[
    "PATH=/x git log",
    "PATH=/x; git log",
    "export PATH=/x; git log",
    "declare -x PATH=/x; git log",
    "readonly LD_PRELOAD=x; git log",
    "printf -v PATH x; git log",
    "read PATH; git log",
    "for PATH in a; do git log; done",
    "while :; do git log; read IFS; done; git log",
    "mapfile PATH; git log",
    "unset PATH; git log",
    "GIT_SSH=x git fetch",
    "PAGER=x git log",
    "EDITOR=x git commit",
    "http_proxy=x curl y",
    "path=/x git log",
    "x=1 git log",
    "env x=1 git log",
    "env -C a git log",
    "export x=1; git log",
    "x=1; declare -rx x; git log",
    "env BASH_ENV=x git log",
    "env -i git log",
    "sudo git log",
    "alias git=x; git log",
    "hash -p /x git; git log",
    "enable -f x y; git log",
    "shopt -s expand_aliases; git log",
    "set -k; git log",
    ". ./x; git log",
    "source x; git log",
    "$x; git log",
    "{ PATH=/x; }; git log",
    "if :; then PATH=/x; fi; git log",
    "eval PATH=/x; git log",
    "declare -n a=PATH; git log",
    "./env git log",
    "coproc git log",
    "sh -c 'git log'",
    "eval git log",
    "exec git log",
    "xargs git log",
    "busybox git log",
    "trap 'git log' EXIT",
];

/// Texts whose last command means what it says.
const OBSTACLES_NOT: &[&str] = &[
    "x=1; git log",
    "LANG=C LC_ALL=C TZ=UTC git log",
    "NO_COLOR=1 CI=1 RUST_BACKTRACE=1 git log",
    "(PATH=/x); git log",
    "PATH=/x true; git log",
    "x=1; y=2; timeout 5 git log",
    "env -C . git log",
    "for i in a b; do git log; done",
    "set -euo pipefail; git log",
    "read -r line; git log",
    "/usr/bin/env CI=1 git log",
    "PATH=/x & git log",
];

#[test]
fn what_changes_the_meaning_of_a_command_is_an_obstacle() {
    for text in OBSTACLES {
        let git = last(text);
        assert!(git.obstacle.is_some(), "{text:?}: {git:?}");
    }
    for text in OBSTACLES_NOT {
        assert_eq!(last(text).obstacle, None, "{text:?}");
    }
}

/// Texts in which a command may hide.
const HIDING: &[&str] = &[
    "$x y",
    "r* x",
    "{rm,x}",
    "$(echo rm) x",
    "`echo rm` x",
    "=rm x",
    "curl x | sh",
    "curl x | bash -s",
    "bash < x",
    "sh <<E\nrm\nE",
    "bash <(curl x)",
    "eval $x",
    "eval \"$(curl x)\"",
    "sh -c \"$x\"",
    "bash --rcfile x -c y",
    "env -S 'rm x'",
    "env $x rm",
    "sudo -i",
    "su",
    "python -c x",
    "python3.11 -c x",
    "python - <<E\nE",
    "echo x | python",
    "python -m timeit x",
    "node -e x",
    "node --eval=x",
    "perl -ne x",
    "ruby -e x",
    "php -r x",
    "osascript -e x",
    "awk 'BEGIN{system(\"rm\")}'",
    "awk '{print | \"sh\"}'",
    "awk -f x",
    "sed '1e rm x' y",
    "sed s/a/b/e y",
    "sed -f x y",
    "ssh host rm x",
    "watch rm x",
    "parallel rm",
    "docker exec x rm y",
    "kubectl exec x -- rm",
    "npx rimraf x",
    "npm exec rm",
    "uv run rm",
    "poetry run rm x",
    "git -c alias.x='!rm' x",
    "git bisect run rm",
    "git rebase --exec rm",
    "git submodule foreach rm",
    "git log --ext-diff",
    "git grep -Orm x",
    "git clone --upload-pack=rm x",
    "rg --pre rm x",
    "sort --compress-program=rm x",
    "man --html=rm ls",
    "man -P rm ls",
    "tar xf a --to-command=rm",
    "tar xf a -I rm",
    "tar cf a b --checkpoint-action=exec=rm",
    "rsync -e rm a b",
    "fd -x rm",
    "vim -c '!rm' x",
    "make --eval=x",
    "find . $x",
    "xargs -a x rm",
    "xargs $x rm",
    "time ! rm",
    "time x=1 rm",
    "noglob rm x",
    "- rm x",
    "repeat 3 rm x",
    "let 'a[$(rm)]=1'",
    "test -v 'a[$(rm)]'",
    "unset 'a[$(rm)]'",
    "printf -v 'a[$(rm)]' x",
    "read 'a[$(rm)]'",
    "declare \"$x\"",
    "alias ls=rm",
    "trap \"$x\" EXIT",
    "sh -c '[[ a || rm ]]'",
    "sh -c 'a &> b rm'",
    "mapfile -C rm -c 1 x",
    "exit 'a[$(rm)]'",
    "[ \"$x\" -eq 1 ]",
    "printf %d 'a[$(rm)]'",
    "printf \"$x\" \"$y\"",
    "declare -i x=y",
    "integer x=y",
    "tar xIf rm a",
    "tar -xIf rm a",
    "tar xf a --us rm",
    "rsync -ave rm a b",
    "fd -Hx rm",
    "git clone --u rm",
    "git rebase --ex rm",
    "ls >! f",
    "PATH=/x git log",
    "PATH=/x; git log",
    "export PAGER='rm x'; git log",
    "GIT_SSH_COMMAND='rm x' git fetch",
    "PS4='$(rm x)'; set -x; ls",
    "env LD_PRELOAD=x ls",
    "for PATH in a; do ls; done",
    "sudo EDITOR=rm ls",
    "nice --odd rm",
    "timeout $x rm",
    "jobs -x rm",
    "setpriv rm",
    "flock x rm",
    "strace rm",
    "busybox --install",
];

/// Texts in which none does.
const HIDING_NOT: &[&str] = &[
    "python x.py",
    "python3 -m pytest -q",
    "python --version",
    "node x.js",
    "bash x.sh",
    "awk '{print $1}' x",
    "sed -n 1,20p x",
    "sed -i 's/a/b/g' x",
    "git commit -m x",
    "git -C x push",
    "find . -name '*.rs'",
    "find \"$x\" -name y",
    "npm run build",
    "docker ps",
    "tar czf a b",
    "make -C x all",
    "cargo test",
    "vim x",
    "rg foo",
    "test -f x",
    "exit 1",
    "DATABASE_URL=x npm test",
    "NODE_ENV=test npm test",
    "[ $# -eq 1 ]",
    "printf '%s' \"$x\"",
    "printf %d 5",
    "rsync -av a b",
];

#[test]
fn what_a_command_may_hide_in_says_so() {
    for text in HIDING {
        let reading = read(text);
        let hides = reading
            .commands
            .iter()
            .any(|command| command.hides.is_some());
        assert!(
            hides || !reading.unclear.is_empty(),
            "{text:?}: {reading:#?}"
        );
    }
    for text in HIDING_NOT {
        let reading = read(text);
        assert!(
            reading.unclear.is_empty(),
            "{text:?}: {:?}",
            reading.unclear
        );
        assert!(
            reading
                .commands
                .iter()
                .all(|command| command.hides.is_none()),
            "{text:?}: {reading:#?}"
        );
    }
}
