//! Settings of fetches.

use super::{POSITIVE, SIZE, Setting, TIME, positive, shown, some_time};
use crate::units::duration;
use crate::units::size;

pub(super) const TABLE: &[Setting] = &[
    setting!("request-timeout", TIME, "For one fetch as a whole.", |s, v| s.request_timeout = some_time(v)?, |s| shown(
        s.request_timeout
    )),
    setting!("connect-timeout", TIME, "For a connection to be made.", |s, v| s.connect_timeout = some_time(v)?, |s| shown(
        s.connect_timeout
    )),
    setting!("read-timeout", TIME, "Without a byte from the server.", |s, v| s.read_timeout = some_time(v)?, |s| shown(
        s.read_timeout
    )),
    setting!(
        "max-body-size",
        SIZE,
        "Of a decompressed body; a larger page is skipped as too-large.",
        |s, v| s.max_body_size =
            size(v).and_then(|bytes| if bytes == 0 { Err("leaves no room".to_owned()) } else { Ok(bytes) })?,
        |s| s.max_body_size.to_string()
    ),
    setting!("max-url-length", "bytes", "A longer URL is refused.", |s, v| s.max_url_length = positive(v)?, |s| s
        .max_url_length
        .to_string()),
    setting!(
        "slow-after",
        TIME,
        "After which a request that waits for its site no longer counts against concurrency.",
        |s, v| s.slow_after = duration(v)?,
        |s| shown(s.slow_after)
    ),
    setting!(
        "max-sockets",
        POSITIVE,
        "Requests in flight at most, slow ones included.",
        |s, v| s.max_sockets = positive(v)?,
        |s| s.max_sockets.to_string()
    ),
    setting!(
        "user-agent",
        "text",
        "What the host calls itself.",
        |s, v| {
            if v.is_empty() || !v.bytes().all(|b| (0x20..0x7f).contains(&b)) {
                return Err("cannot stand in a header".to_owned());
            }
            s.user_agent = v.to_owned();
        },
        |s| s.user_agent.clone()
    ),
];
