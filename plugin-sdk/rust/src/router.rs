//! Which function handles a request: its label decides.

use crate::{Call, Error, HandlerResult, fatal};

/// A function that handles pages.
pub type Handler = fn(&Call) -> HandlerResult;

/// Handlers by label.
///
/// Requests without a label go to the default handler. A label that no handler is for is a mistake in the plugin, and
/// fails the request with the code `unknown-label`.
///
/// ```no_run
/// # use nephila_sdk::prelude::*;
/// # fn detail(_: &Call) -> HandlerResult { Ok(()) }
/// # fn listing(_: &Call) -> HandlerResult { Ok(()) }
/// fn handle(call: &Call) -> HandlerResult {
///     Router::new().on("detail", detail).default(listing).dispatch(call)
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Router {
    labelled: Vec<(&'static str, Handler)>,
    default: Option<Handler>,
}

impl Router {
    /// A router without handlers.
    #[allow(clippy::new_without_default, reason = "`default` sets the default handler")]
    pub fn new() -> Self {
        Router { labelled: Vec::new(), default: None }
    }

    /// Handles requests with this label. Of two handlers for one label the later one counts.
    pub fn on(mut self, label: &'static str, handler: Handler) -> Self {
        self.labelled.push((label, handler));
        self
    }

    /// Handles requests without a label.
    pub fn default(mut self, handler: Handler) -> Self {
        self.default = Some(handler);
        self
    }

    /// Calls the handler for the request.
    pub fn dispatch(&self, call: &Call) -> HandlerResult {
        self.find(call.label())?(call)
    }

    fn find(&self, label: Option<&str>) -> Result<Handler, Error> {
        match label {
            Some(label) => self
                .labelled
                .iter()
                .rev()
                .find(|(known, _)| *known == label)
                .map(|(_, handler)| *handler)
                .ok_or_else(|| fatal("unknown-label", format!("no handler is for the label `{label}`"))),
            None => {
                self.default.ok_or_else(|| fatal("unknown-label", "the request has no label, and the router no default handler"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(_: &Call) -> HandlerResult {
        Err(fatal("detail", ""))
    }

    fn listing(_: &Call) -> HandlerResult {
        Err(fatal("listing", ""))
    }

    fn found(router: &Router, label: Option<&str>) -> Result<usize, String> {
        router.find(label).map(|handler| handler as usize).map_err(|error| error.code().to_owned())
    }

    #[test]
    fn a_label_goes_to_its_handler_and_no_label_to_the_default() {
        let router = Router::new().on("detail", detail).default(listing);

        assert_eq!(found(&router, Some("detail")), Ok(detail as Handler as usize));
        assert_eq!(found(&router, None), Ok(listing as Handler as usize));
    }

    #[test]
    fn an_unknown_label_does_not_fall_back_to_the_default() {
        let router = Router::new().on("detail", detail).default(listing);

        assert_eq!(found(&router, Some("details")), Err("unknown-label".into()));
    }

    #[test]
    fn without_a_default_a_request_without_a_label_fails() {
        assert_eq!(found(&Router::new().on("detail", detail), None), Err("unknown-label".into()));
    }
}
