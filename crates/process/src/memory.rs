//! Memory that a process holds and does not need.
//!
//! Owns two ways to return it, what the allocator keeps and the program's own code, and one not to hold it in the first
//! place. Decides nothing about when. Invariant: nothing that is lost cannot be had again.

/// Keeps the C library to two heaps. It makes up to eight for each core and shares nothing between them: a host of many
/// sessions, whose work wanders over threads, then holds twice what it uses. To be called before there are threads.
pub fn few_heaps() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    limit_heaps();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "a plain call of the C library")]
fn limit_heaps() {
    // SAFETY: takes two numbers and sets a number of the allocator under its own lock.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}

/// Gives memory that is not used any more back to the system. Where the C library has no such call, it decides itself.
pub fn return_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    trim();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "a plain call of the C library")]
fn trim() {
    // SAFETY: takes a number, may be called at any time from any thread, touches only memory that is free.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Lets go of the code that ran so far: for a process that has begun to wait, perhaps for days. What is needed again comes
/// from the file again.
pub fn return_code() {
    #[cfg(target_os = "linux")]
    {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        for range in maps.lines().filter_map(code) {
            forget(range);
        }
    }
}

/// Where a line of `/proc/self/maps` says that code of a file is: it can be run and never was written.
#[cfg(target_os = "linux")]
fn code(line: &str) -> Option<std::ops::Range<usize>> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let is_code = words.next()? == "r-xp";
    let is_file = words.nth(3)?.starts_with('/');
    let address = |text| usize::from_str_radix(text, 16).ok();
    (is_code && is_file).then_some(address(start)?..address(end)?)
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a plain call of the C library")]
fn forget(range: std::ops::Range<usize>) {
    let start = std::ptr::with_exposed_provenance_mut(range.start);
    // SAFETY: the range is a private mapping of a file that is run and cannot be written, so its pages hold what the file
    // holds; the kernel reads them from there when they are needed again.
    unsafe {
        libc::madvise(start, range.len(), libc::MADV_DONTNEED);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_files_is_let_go_of() {
        let line = |perms: &str, path: &str| format!("1000-3000 {perms} 00001000 fe:00 12 {path}");
        assert_eq!(code(&line("r-xp", "/usr/bin/x")), Some(0x1000..0x3000));
        for (perms, path) in [
            ("r--p", "/usr/bin/x"),
            ("rw-p", "/usr/bin/x"),
            ("rwxp", "/usr/bin/x"),
            ("r-xs", "/usr/bin/x"),
            ("r-xp", "[vdso]"),
            ("r-xp", ""),
        ] {
            assert_eq!(code(&line(perms, path)), None, "{perms} {path}");
        }
        for bad in ["", "x", "1000 r-xp 0 0 0 /x", "y-z r-xp 0 0:0 0 /x"] {
            assert_eq!(code(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_program_goes_on_without_the_code_it_had() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let here = return_code as fn() as usize;
        assert!(
            maps.lines()
                .filter_map(code)
                .any(|range| range.contains(&here))
        );
        return_code();
        return_memory();
    }
}
