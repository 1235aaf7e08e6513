//! As much of HTTP/1.1 as the client speaks: requests with a body of stated or chunked length, one
//! response each, on connections that stay open.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

use super::Request;

/// The longest request line plus headers that are read.
const MAX_HEAD: u64 = 64 * 1024;
/// The longest request body that is read; a full context window is far below it.
const MAX_BODY: u64 = 32 * 1024 * 1024;

/// A complete response; its length is always stated, so that the connection can be used again.
pub(super) struct Response {
    status: u16,
    content_type: &'static str,
    body: Vec<u8>,
}

impl Response {
    pub(super) fn json(status: u16, body: &Value) -> Response {
        Response { status, content_type: "application/json", body: body.to_string().into_bytes() }
    }

    pub(super) fn events(body: String) -> Response {
        Response { status: 200, content_type: "text/event-stream", body: body.into_bytes() }
    }

    pub(super) fn other(content_type: &'static str, body: String) -> Response {
        Response { status: 200, content_type, body: body.into_bytes() }
    }

    pub(super) fn empty() -> Response {
        Response { status: 200, content_type: "text/plain", body: Vec::new() }
    }
}

/// Reads the next request; `None` when the client has closed the connection between two requests.
pub(super) fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut head = reader.by_ref().take(MAX_HEAD);
    let line = read_line(&mut head)?;
    if line.is_empty() {
        return Ok(None);
    }
    let mut words = line.split(' ');
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Err(invalid("the request line is not HTTP"));
    };
    let mut headers = Vec::new();
    loop {
        let line = read_line(&mut head)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(|| invalid("a header has no colon"))?;
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request =
        Request { method: method.to_owned(), path: path.to_owned(), headers, body: Value::Null };
    let body = read_body(reader, &request)?;
    if !body.is_empty() {
        request.body = serde_json::from_slice(&body)?;
    }
    Ok(Some(request))
}

/// Writes a response and flushes it.
pub(super) fn write_response(mut stream: impl Write, response: &Response) -> io::Result<()> {
    let Response { status, content_type, body } = response;
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} Mock\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n"
    )?;
    stream.write_all(body)?;
    stream.flush()
}

fn read_body(reader: &mut impl BufRead, request: &Request) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if request.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        loop {
            let size = read_line(reader)?;
            let size = u64::from_str_radix(&size, 16).map_err(|_| invalid("a chunk has no size"))?;
            read_exactly(reader, size, &mut body)?;
            read_line(reader)?;
            if size == 0 {
                return Ok(body);
            }
        }
    }
    if let Some(length) = request.header("content-length") {
        let length = length.parse().map_err(|_| invalid("the content length is not a number"))?;
        read_exactly(reader, length, &mut body)?;
    }
    Ok(body)
}

/// Appends exactly `size` bytes to `body`, which never grows over the limit.
fn read_exactly(reader: &mut impl BufRead, size: u64, body: &mut Vec<u8>) -> io::Result<()> {
    if size > MAX_BODY - body.len() as u64 {
        return Err(invalid("the body is over the limit"));
    }
    let read = reader.by_ref().take(size).read_to_end(body)?;
    if (read as u64) < size {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(())
}

/// Reads one line without its line end; the end of the stream reads as an empty line.
fn read_line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.by_ref().take(MAX_HEAD).read_line(&mut line)?;
    if !line.is_empty() && !line.ends_with('\n') {
        return Err(invalid("a line is cut short or over the limit"));
    }
    Ok(line.trim_end().to_owned())
}

fn invalid(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}
