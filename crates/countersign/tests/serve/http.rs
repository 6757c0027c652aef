//! A few bytes of HTTP: enough to be a browser without a script.
//!
//! Owns [`Browser`]: one address, one cookie jar. Every request is a connection of its own, and has a deadline.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// How long an answer may take. Machines that run tests are busy.
const DEADLINE: Duration = Duration::from_secs(40);

/// Somebody with an address and a cookie.
#[derive(Debug, Clone)]
pub(crate) struct Browser {
    /// `127.0.0.1:PORT`.
    pub(crate) address: String,
    pub(crate) cookie: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The value of the first field of a form with this name.
    #[track_caller]
    pub(crate) fn field(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let from = self
            .body
            .find(&start)
            .unwrap_or_else(|| panic!("no {name} in {}", self.body));
        let rest = &self.body[from + start.len()..];
        rest[..rest.find('"').unwrap()].to_owned()
    }
}

impl Browser {
    pub(crate) fn new(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            cookie: None,
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "")
    }

    /// A form of our own page.
    pub(crate) fn post_form(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let origin = format!("http://{}", self.address);
        self.post_form_from(&origin, path, fields)
    }

    pub(crate) fn post_form_from(
        &self,
        origin: &str,
        path: &str,
        fields: &[(&str, &str)],
    ) -> Answer {
        let fields: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
            .collect();
        let headers = [
            ("origin", origin),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        self.send("POST", path, &headers, &fields.join("&"))
    }

    /// Opens a login link and presses its button.
    #[track_caller]
    pub(crate) fn sign_in(&mut self, link: &str) -> Answer {
        let path = link.split_once(&self.address).unwrap().1;
        let shown = self.get(path);
        assert_eq!(shown.status, 200, "{shown:?}");
        let code = path.split_once("code=").unwrap().1;
        let answer = self.post_form("/login", &[("code", code)]);
        if let Some(cookie) = answer.header("set-cookie") {
            self.cookie = Some(cookie.split(';').next().unwrap().to_owned());
        }
        answer
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: {}\r\n",
            self.address,
            body.len()
        );
        if let Some(cookie) = &self.cookie {
            head.push_str(&format!("cookie: {cookie}\r\n"));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream
            .write_all(format!("{head}\r\n{body}").as_bytes())
            .unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        parse(&String::from_utf8_lossy(&bytes))
    }
}

fn parse(text: &str) -> Answer {
    let (head, body) = text
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no answer: {text:?}"));
    let mut lines = head.lines();
    let status = lines
        .next()
        .unwrap()
        .split(' ')
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let is_chunked = headers
        .iter()
        .any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = match is_chunked {
        true => unchunked(body),
        false => body.to_owned(),
    };
    Answer {
        status,
        headers,
        body,
    }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            break;
        }
        whole.push_str(&rest[..size]);
        body = &rest[size + 2..];
    }
    whole
}

fn encoded(text: &str) -> String {
    let bytes = text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => (byte as char).to_string(),
        byte => format!("%{byte:02X}"),
    });
    bytes.collect()
}
