//! Links that are only checked for their status: HEAD first, and GET where that fails, since many servers refuse or
//! mistreat HEAD. One try for HEAD; the retries are GET's.
//!
//! Nothing is noted where HEAD succeeds: then the queue knows no GET for the URL, and the finish takes that for a good sign.

use nephila_sdk::prelude::*;
use nephila_sdk::{Method, NewRequest};

use crate::record::{Failed, LinkRow};

/// HEAD for a link that leads out of the site.
pub(crate) const EXTERNAL: &str = "external";

/// HEAD for what a page of the site embeds, and is on the site itself.
pub(crate) const ASSET: &str = "asset";

/// GET for a link that leads out of the site.
pub(crate) const EXTERNAL_GET: &str = "external-get";

/// The first try. For what is on the site, `site` says which.
pub(crate) fn head(url: &str, site: Option<&str>) -> NewRequest {
    let request = NewRequest::new(Method::Head, url).no_retry();
    match site {
        Some(site) => request.label(ASSET).user_data(site),
        None => request.label(EXTERNAL),
    }
}

/// The second try. On the site it is a page like any other: a link may lead to it, too.
pub(crate) fn head_failed(call: &Call, reason: &FailureReason) -> HandlerResult {
    let url = &call.request().original_url;
    let request = match call.user_data::<Option<String>>()? {
        Some(site) => Request::get(url.as_str()).user_data(&site),
        None => Request::get(url.as_str()).label(EXTERNAL_GET),
    };
    let refused = enqueue([request])?.into_iter().any(|answer| answer.refused.is_some());
    if refused {
        let failed = Failed { reason: reason.code.clone(), status: reason.status };
        return LinkRow { heads: vec![url.clone()], head_failed: Some(failed), ..LinkRow::default() }.push();
    }
    Ok(())
}
