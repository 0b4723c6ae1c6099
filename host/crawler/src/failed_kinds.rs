//! Kinds of failures whose page need not be copied any more.
//!
//! Decision: the store keeps a page with the first failure of a kind alone, and says so itself; whoever commits remembers which kinds are
//! past that, so that a site that fails each request costs no copy of each page. What is forgotten with the process costs a copy more.

use nephila_model::{ErrorKind, FailureReason};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Kinds that are remembered at most; a plugin can make them up.
const MOST: usize = 1_000;

/// Kinds of failures that this process has committed, by their names.
#[derive(Debug, Default)]
pub struct FailedKinds(Mutex<HashSet<String>>);

impl FailedKinds {
    /// Such a failure of the request with this URL is committed.
    pub fn learn(&self, reason: &FailureReason, url: &str) {
        let kind = ErrorKind::of(reason, url).name();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MOST {
            known.insert(kind);
        }
    }

    /// Whether one of its kind is known to be.
    pub fn is_known(&self, reason: &FailureReason, url: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&ErrorKind::of(reason, url).name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nephila_model::FailureCode;

    const URL: &str = "https://a.example/";

    #[test]
    fn kinds_are_remembered_up_to_a_number() {
        let kinds = FailedKinds::default();
        let code = |number: usize| {
            let code = FailureCode(number.to_string().into());
            FailureReason { code, message: format!("page {number} is empty"), status: None }
        };
        let (learn, is_known) = (|number| kinds.learn(&code(number), URL), |number| kinds.is_known(&code(number), URL));
        assert!(!is_known(0));
        for number in 0..=MOST {
            learn(number);
        }
        assert!(is_known(0) && is_known(MOST - 1) && !is_known(MOST));
        assert!(kinds.is_known(&FailureReason { message: "page 7,000 is empty".to_owned(), ..code(0) }, URL), "what varies");
        assert!(!kinds.is_known(&FailureReason { message: "no page is empty".to_owned(), ..code(0) }, URL));
    }
}
