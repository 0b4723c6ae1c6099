//! What stands behind the login of the practice site.

use crate::seed::Seed;
use crate::words::{ADJECTIVES, NOUNS};
use serde::{Deserialize, Serialize};

const ORDERS: usize = 12;
/// Who may log in.
pub(crate) const USER: &str = "reader";
/// With what.
pub(crate) const PASSWORD: &str = "practice";

/// An order of the one account that the practice site has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// From 1 on; its path is `/account/orders/NUMBER`.
    pub number: usize,
    /// The text of `.title`.
    pub title: String,
    /// The total in pence; the page shows `£51.77`.
    pub total_pence: u32,
}

impl Order {
    /// The total as the page shows it.
    pub fn total(&self) -> String {
        format!("£{}.{:02}", self.total_pence / 100, self.total_pence % 100)
    }
}

/// The orders of the practice site with this seed, by their numbers.
pub fn orders(seed: u64) -> Vec<Order> {
    let seed = Seed(seed);
    let order = |number: usize| {
        let n = number as u64;
        Order {
            number,
            title: format!("The {} {}", seed.pick("order", n, &ADJECTIVES), seed.pick("ordered", n, &NOUNS)),
            total_pence: 500 + seed.below("total", n, 9_500) as u32,
        }
    };
    (1..=ORDERS).map(order).collect()
}
