//! Paths as text: the machine that is played may have other ones than the machine that plays.

/// The absolute path that a file's name means in a folder.
pub(super) fn absolute(cwd: &str, file: &str) -> String {
    let windows = is_drive(cwd) || cwd.starts_with("\\\\");
    if let Some(rest) = file.strip_prefix("~/") {
        return format!("${{home}}/{}", super::plain(rest));
    }
    let whole = if file.starts_with(['/', '\\']) || is_drive(file) {
        file.to_owned()
    } else {
        let between = if cwd.ends_with(['/', '\\']) { "" } else { "/" };
        format!("{cwd}{between}{file}")
    };
    super::plain(&tidied(&whole, windows || is_drive(file)))
}

/// `C:\` or `C:/`.
fn is_drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.len() >= 3
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && matches!(bytes[2], b'/' | b'\\')
}

/// Without `.` and `..`, with one kind of slash.
fn tidied(path: &str, windows: bool) -> String {
    let (slash, slashes): (&str, &[char]) = if windows {
        ("\\", &['/', '\\'])
    } else {
        ("/", &['/'])
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(slashes) {
        match part {
            "." => {}
            "" if parts.len() > 1 => {}
            // The first part is the root or the drive.
            ".." if parts.len() > 1 => {
                parts.pop();
            }
            ".." if !parts.is_empty() => {}
            _ => parts.push(part),
        }
    }
    match parts.as_slice() {
        [root] => format!("{root}{slash}"),
        parts => parts.join(slash),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_a_path_of_the_same_kind_as_the_folder() {
        let table = [
            ("/project", "a.txt", "/project/a.txt"),
            ("/project", "./b/a.txt", "/project/b/a.txt"),
            ("/project/x", "../a.txt", "/project/a.txt"),
            ("/project", "../../../a.txt", "/a.txt"),
            ("/project", "/etc/hosts", "/etc/hosts"),
            ("/", "a", "/a"),
            ("/project", "..", "/"),
            ("/project", "~/a.txt", "${home}/a.txt"),
            ("/project", "${cwd}.txt", "/project/$${cwd}.txt"),
            ("C:\\work", "src/a.txt", "C:\\work\\src\\a.txt"),
            ("C:\\work", "..\\a.txt", "C:\\a.txt"),
            ("/project", "C:\\work\\a.txt", "C:\\work\\a.txt"),
            ("/project", "a\\b.txt", "/project/a\\b.txt"),
        ];
        for (cwd, file, expected) in table {
            assert_eq!(absolute(cwd, file), expected, "{file} in {cwd}");
        }
    }
}
