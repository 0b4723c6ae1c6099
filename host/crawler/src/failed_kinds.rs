//! Kinds of failures whose page need not be copied any more.
//!
//! Decision: the store keeps a page with the first failure of a kind alone, and says so itself; whoever commits remembers which kinds are
//! past that, so that a site that fails each request costs no copy of each page. What is forgotten with the process costs a copy more.

use nephila_model::FailureCode;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Kinds that are remembered at most; a plugin can make codes up.
const MOST: usize = 1_000;

/// Codes of failures that this process has committed.
#[derive(Debug, Default)]
pub struct FailedKinds(Mutex<HashSet<String>>);

impl FailedKinds {
    /// A failure with this code is committed.
    pub fn learn(&self, code: &FailureCode) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MOST && !known.contains(code.as_str()) {
            known.insert(code.as_str().to_owned());
        }
    }

    /// Whether one is known to be.
    pub fn is_known(&self, code: &FailureCode) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(code.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_remembered_up_to_a_number() {
        let kinds = FailedKinds::default();
        let code = |number: usize| FailureCode(number.to_string().into());
        assert!(!kinds.is_known(&code(0)));
        for number in 0..=MOST {
            kinds.learn(&code(number));
        }
        assert!(kinds.is_known(&code(0)) && kinds.is_known(&code(MOST - 1)) && !kinds.is_known(&code(MOST)));
    }
}
