//! A quote, and how it is read. No host is needed for that, so it is tested here.

use serde::{Deserialize, Serialize};

/// What is pushed for every quote.
#[derive(Serialize, Deserialize)]
pub struct Quote {
    pub text: String,
    pub author: String,
    pub tags: Vec<String>,
}

impl Quote {
    /// Without the quotation marks around its text.
    pub fn cleaned(mut self) -> Self {
        self.text = clean(&self.text).to_owned();
        self
    }
}

fn clean(text: &str) -> &str {
    text.trim().trim_start_matches('“').trim_end_matches('”')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotation_marks_are_left_away() {
        assert_eq!(clean(" “To be, or not to be” "), "To be, or not to be");
        assert_eq!(clean("plain"), "plain");
    }
}
