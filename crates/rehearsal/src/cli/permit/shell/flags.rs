//! Names and flags of commands that only look, as the CLI 2.1.325 was measured to know them.
//!
//! A table and nothing else: each flag was put to the real CLI by itself, and those that ran without a question are here.

/// A command whose flags are known.
#[derive(Debug)]
pub(super) struct Known {
    /// The command, with its verb if it has one.
    pub(super) name: &'static str,
    /// Letters that stand alone.
    pub(super) plain: &'static str,
    /// Letters with a value.
    pub(super) valued: &'static str,
    /// Long flags that stand alone.
    pub(super) longs: &'static str,
    /// Long flags with a value.
    pub(super) longs_valued: &'static str,
    /// `-5` and the like.
    pub(super) numbers: bool,
    /// How many words may stand beside the flags.
    pub(super) operands: usize,
}

/// Commands that only look, whatever their flags.
pub(super) const ANY_FLAGS: [&str; 48] = [
    "cal", "cmp", "column", "comm", "cut", "df", "diff", "dirname", "du", "echo", "expand", "expr",
    "false", "find", "fmt", "fold", "free", "groups", "head", "hexdump", "id", "locale", "ls",
    "nl", "nproc", "numfmt", "od", "paste", "pr", "readlink", "realpath", "rev", "seq", "sleep",
    "stat", "strings", "tac", "tail", "tr", "true", "tsort", "type", "uname", "unexpand", "uptime",
    "wc", "cat", "basename",
];

/// Commands that `xargs` may feed.
pub(super) const MORE: [&str; 6] = ["echo", "printf", "wc", "grep", "head", "tail"];

/// The flags of a command.
pub(super) fn known(name: &str) -> Option<&'static Known> {
    let name = match name {
        "egrep" | "fgrep" => "grep",
        "sha1sum" | "sha256sum" => "md5sum",
        name => name,
    };
    KNOWN.iter().find(|known| known.name == name)
}

const fn known_as(
    name: &'static str,
    (plain, valued): (&'static str, &'static str),
    (longs, longs_valued): (&'static str, &'static str),
    numbers: bool,
    operands: usize,
) -> Known {
    Known {
        name,
        plain,
        valued,
        longs,
        longs_valued,
        numbers,
        operands,
    }
}

/// Any number of words.
const ANY: usize = usize::MAX;

static KNOWN: [Known; 45] = [
    known_as(
        "grep",
        ("abchilnoqrsuvwxzEFGHILPRTUVZ", "defmABCD"),
        (
            "basic-regexp binary byte-offset count dereference-recursive extended-regexp files-with-matches \
         files-without-match fixed-strings help ignore-case initial-tab invert-match line-buffered \
         line-number line-regexp no-filename no-group-separator no-ignore-case no-messages null \
         null-data only-matching perl-regexp quiet recursive silent text version with-filename \
         word-regexp",
            "after-context before-context binary-files color colour context devices directories exclude \
         exclude-dir exclude-from file group-separator include label max-count regexp",
        ),
        false,
        ANY,
    ),
    known_as(
        "fd",
        ("aghipqsFHILV01", "cdejotES"),
        (
            "absolute-path case-sensitive fixed-strings follow full-path glob help hidden ignore-case \
         no-ignore quiet version",
            "changed-within color exclude extension max-depth owner size type",
        ),
        false,
        ANY,
    ),
    known_as(
        "file",
        ("bchiklnprsvL0", "F"),
        (
            "apple brief dereference help keep-going list mime mime-encoding mime-type no-buffer \
         no-dereference preserve-date raw special-files version",
            "exclude exclude-quiet separator",
        ),
        false,
        ANY,
    ),
    known_as("help", ("d", ""), ("", ""), false, ANY),
    known_as(
        "lsof",
        ("abghilnorstvxCEFHKLNOPQRSTUVX", "cdekpuA"),
        ("", ""),
        false,
        ANY,
    ),
    known_as(
        "man",
        ("adfhkw", "sS"),
        ("all apropos whatis", ""),
        false,
        ANY,
    ),
    known_as(
        "md5sum",
        ("bctwz", ""),
        (
            "binary check help ignore-missing quiet status strict tag text version warn zero",
            "",
        ),
        false,
        ANY,
    ),
    known_as("netstat", ("agilmnrsvL", "fI"), ("", ""), false, ANY),
    known_as(
        "pgrep",
        ("acfilnovwxLV", "dgrstuFGOPU"),
        (
            "count exact full help ignore-case inverse lightweight list-full list-name logpidfile newest \
         oldest version",
            "delimiter euid group ns nslist older parent pgroup pidfile runstates session terminal uid",
        ),
        false,
        ANY,
    ),
    known_as(
        "ps",
        ("acdefjlmwyAFHLNTV", "gnpqstuCGU"),
        ("help", ""),
        false,
        0,
    ),
    known_as(
        "rg",
        ("achilnoquvwFHLS", "defgmtABCT"),
        (
            "column count debug files-with-matches files-without-match fixed-strings follow heading help \
         hidden ignore-case invert-match json line-number no-heading no-ignore only-matching quiet \
         smart-case stats text version word-regexp",
            "after-context before-context color context glob max-count max-depth regexp type type-not",
        ),
        false,
        ANY,
    ),
    known_as(
        "sort",
        ("bcdfghimnrsuzCMRV", "ktS"),
        (
            "check dictionary-order general-numeric-sort help human-numeric-sort ignore-case \
         ignore-leading-blanks ignore-nonprinting merge month-sort numeric-sort random-sort reverse \
         stable unique version version-sort zero-terminated",
            "batch-size buffer-size field-separator key parallel sort",
        ),
        false,
        ANY,
    ),
    known_as("tput", ("xV", "T"), ("", ""), false, ANY),
    known_as(
        "tree",
        ("acdfghilnpqrstuvxACDFJNQSUX", "HILPT"),
        (
            "device dirsfirst du filesfirst fromfile gitignore help ignore-case inodes matchdirs noreport \
         prune si version",
            "charset filelimit sort timefmt",
        ),
        false,
        ANY,
    ),
    known_as("which", ("apsvwV", ""), ("", ""), false, ANY),
    known_as(
        "base64",
        ("dhD", "biw"),
        ("decode help ignore-garbage version", "wrap"),
        false,
        ANY,
    ),
    known_as(
        "date",
        ("uIR", "dr"),
        (
            "debug help rfc-email universal utc version",
            "date reference",
        ),
        false,
        0,
    ),
    known_as(
        "hostname",
        ("adfhisvAIV", ""),
        (
            "alias all-fqdns all-ip-addresses domain fqdn help ip-address long short version",
            "",
        ),
        false,
        0,
    ),
    known_as(
        "ss",
        ("abdehilmnopstuwxzEHMOSVZ046", "fA"),
        (
            "all bpf cgroup context contexts dccp events extended help inet-sockopt info listening memory \
         mptcp no-header numeric oneline options packet processes raw sctp summary tcp tipc tipcinfo tos \
         udp unix version vsock",
            "family query socket",
        ),
        false,
        0,
    ),
    known_as("arch", ("h", ""), ("help", ""), false, 0),
    known_as(
        "git status",
        ("bsv", "uM"),
        (
            "ahead-behind branch column ignored long no-ahead-behind no-renames porcelain renames short \
         verbose",
            "find-renames ignore-submodules untracked-files",
        ),
        true,
        ANY,
    ),
    known_as(
        "git log",
        ("ps", "nGS"),
        (
            "abbrev-commit all ancestry-path boundary branches cherry-mark cherry-pick color date-order \
         decorate first-parent follow graph left-right merges name-only name-status no-color no-decorate \
         no-ext-diff no-merges no-patch no-walk numstat oneline patch pickaxe-regex remotes reverse \
         shortstat simplify-merges source stat tags topo-order",
            "after author before committer date diff-filter format grep max-count pretty since skip until",
        ),
        true,
        ANY,
    ),
    known_as(
        "git diff",
        ("lpsuBCDMR", "GOS"),
        (
            "binary break-rewrites cached check color color-words dirstat exit-code find-copies \
         find-copies-harder find-renames full-index function-context histogram ignore-all-space \
         ignore-blank-lines ignore-space-at-eol ignore-space-change irreversible-delete minimal \
         name-only name-status no-color no-ext-diff no-index no-renames numstat patch-with-stat patience \
         pickaxe-all pickaxe-regex quiet shortstat staged stat summary word-diff",
            "abbrev diff-algorithm diff-filter inter-hunk-context relative word-diff-regex \
         ws-error-highlight",
        ),
        true,
        ANY,
    ),
    known_as(
        "git show",
        ("mps", ""),
        (
            "abbrev-commit color decorate first-parent graph name-only name-status no-color no-decorate \
         no-ext-diff no-patch numstat oneline patch quiet raw shortstat stat word-diff",
            "date diff-filter format pretty",
        ),
        true,
        ANY,
    ),
    known_as(
        "git branch",
        ("ailrv", ""),
        (
            "all color column ignore-case list merged no-color no-merged remotes show-current verbose",
            "abbrev contains no-contains points-at sort",
        ),
        true,
        0,
    ),
    known_as(
        "git tag",
        ("il", "n"),
        (
            "column ignore-case list no-column",
            "contains merged no-contains no-merged points-at sort",
        ),
        true,
        0,
    ),
    known_as("git remote", ("v", ""), ("verbose", ""), false, 0),
    known_as(
        "git blame",
        ("eflnpstwCM", "L"),
        (
            "color incremental line-porcelain no-color porcelain root score-debug show-email show-name \
         show-number show-stats",
            "abbrev date ignore-rev ignore-revs-file",
        ),
        true,
        ANY,
    ),
    known_as(
        "git ls-files",
        ("cdfikmostuvz", "xX"),
        (
            "cached debug deleted directory eol error-unmatch exclude-standard full-name ignored killed \
         modified others recurse-submodules stage unmerged",
            "abbrev exclude exclude-from exclude-per-directory",
        ),
        true,
        ANY,
    ),
    known_as(
        "git grep",
        ("chilnoqvwEFGHLP", "eABC"),
        (
            "and basic-regexp break cached color count extended-regexp files-with-matches \
         files-without-match fixed-strings full-name heading ignore-case invert-match line-number \
         no-color no-index not only-matching or perl-regexp quiet recurse-submodules untracked \
         word-regexp",
            "after-context before-context context max-depth threads",
        ),
        true,
        ANY,
    ),
    known_as(
        "git rev-parse",
        ("", ""),
        (
            "abbrev-ref absolute-git-dir git-common-dir git-dir is-bare-repository is-inside-git-dir \
         is-inside-work-tree show-cdup show-prefix show-toplevel symbolic symbolic-full-name verify",
            "short",
        ),
        true,
        ANY,
    ),
    known_as(
        "git describe",
        ("", ""),
        (
            "always broken contains dirty exact-match long tags",
            "abbrev candidates exclude match",
        ),
        true,
        ANY,
    ),
    known_as("git cat-file", ("epst", ""), ("batch-check", ""), true, ANY),
    known_as(
        "git for-each-ref",
        ("", ""),
        (
            "",
            "contains count format merged no-contains no-merged points-at sort",
        ),
        true,
        ANY,
    ),
    known_as(
        "git shortlog",
        ("cens", ""),
        (
            "all branches committer email no-merges numbered remotes summary tags",
            "after author before group since until",
        ),
        true,
        ANY,
    ),
    known_as(
        "git reflog",
        ("", "n"),
        (
            "all branches decorate graph no-decorate oneline remotes tags",
            "after author before committer date grep max-count since until",
        ),
        true,
        0,
    ),
    known_as(
        "git rev-list",
        ("", "n"),
        (
            "abbrev-commit all branches count first-parent graph merges no-max-parents no-merges \
         no-min-parents oneline remotes reverse source sparse tags",
            "abbrev after author before committer grep max-age max-count max-parents min-age min-parents \
         since skip until",
        ),
        true,
        ANY,
    ),
    known_as(
        "git ls-remote",
        ("bhqt", ""),
        (
            "branches exit-code get-url heads quiet refs symref tags",
            "sort",
        ),
        true,
        0,
    ),
    known_as(
        "git merge-base",
        ("", ""),
        ("all fork-point independent is-ancestor octopus", ""),
        true,
        ANY,
    ),
    known_as(
        "docker logs",
        ("ft", "n"),
        ("details follow timestamps", "since tail until"),
        false,
        ANY,
    ),
    known_as(
        "docker inspect",
        ("s", "f"),
        ("size", "format type"),
        false,
        ANY,
    ),
    known_as("git stash list", ("", ""), ("oneline", ""), false, 0),
    known_as("git stash show", ("p", ""), ("patch stat", ""), false, ANY),
    known_as(
        "git worktree list",
        ("v", ""),
        ("porcelain verbose", ""),
        false,
        0,
    ),
    known_as(
        "jq",
        ("abcdeghijklmnopqrstuvwxyzABCDEFGHIJKMNOPQRSTUVWXYZ", ""),
        ("slurp", "arg"),
        false,
        ANY,
    ),
];
