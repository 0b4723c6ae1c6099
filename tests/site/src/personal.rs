//! The pages of the practice site that answer by who asks, and with what: login, account, search, visitors, and the API of
//! quotes.
//!
//! No answer is remembered. Who may see the account proves it by a cookie that is a hash of the seed and the visitor, and so is
//! the token of the login's form: a token is good for the visitor that it was given to, and a login for as long as its visitor
//! keeps both cookies.

use crate::form::Form;
use crate::orders::{PASSWORD, USER, orders};
use crate::pages::Origin;
use crate::practice::{JSON, VISITOR_PAGES, has_next, on_page};
use crate::practice_html as html;
use crate::prepared::Prepared;
use crate::quotes::{authors, quotes};
use crate::seed::Seed;
use hyper::StatusCode;

/// The cookie of a visitor who is logged in.
const COOKIE: &str = "login";

/// A page that answers by who asks, and with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Personal {
    Login,
    Account,
    Order(usize),
    Search,
    Visitor(usize),
    Quotes,
}

/// Who asks, and with what.
pub(crate) struct Asker<'r> {
    /// By the cookie of the gate.
    pub visitor: &'r str,
    /// The values of the `Cookie` fields.
    pub cookies: Vec<&'r str>,
    pub query: Form,
    /// What a POST brings; `None` for who only looks.
    pub sent: Option<Form>,
}

/// What it is told.
pub(crate) enum Said {
    Page(Prepared),
    /// To go on at `location`, with this cookie.
    LedOn {
        location: &'static str,
        cookie: String,
    },
    Refused(StatusCode),
}

impl Personal {
    pub fn find(path: &str) -> Option<Self> {
        let number = |rest: &str, most: usize| {
            // One path for each page: no sign, no leading zero.
            let number: usize = rest.parse().ok().filter(|number: &usize| number.to_string() == rest)?;
            (1..=most).contains(&number).then_some(number)
        };
        match path {
            "/login" => Some(Self::Login),
            "/account/" => Some(Self::Account),
            "/search" => Some(Self::Search),
            "/api/quotes" => Some(Self::Quotes),
            _ => path
                .strip_prefix("/account/orders/")
                .and_then(|rest| number(rest, orders(0).len()))
                .map(Self::Order)
                .or_else(|| path.strip_prefix("/visitors/").and_then(|rest| number(rest, VISITOR_PAGES)).map(Self::Visitor)),
        }
    }

    pub fn answer(self, seed: Seed, origin: Origin, asker: &Asker<'_>) -> Said {
        match (self, &asker.sent) {
            (Self::Login, None) => page(html::login(&token(seed, asker.visitor), "", origin)),
            (Self::Login, Some(form)) => log_in(seed, origin, asker.visitor, form),
            (Self::Search, None) => page(html::search(&authors(seed.0), origin)),
            (Self::Search, Some(form)) => page(html::found(form.get("author"), &quotes(seed.0), origin)),
            (_, Some(_)) => Said::Refused(StatusCode::METHOD_NOT_ALLOWED),
            (Self::Account | Self::Order(_), None) if !is_logged_in(seed, asker) => Said::Refused(StatusCode::FORBIDDEN),
            (Self::Account, None) => page(html::account(&orders(seed.0), origin)),
            (Self::Order(number), None) => match orders(seed.0).get(number - 1) {
                Some(order) => page(html::order(order, origin)),
                None => Said::Refused(StatusCode::NOT_FOUND),
            },
            (Self::Visitor(number), None) => page(html::visitor(number, asker.visitor, origin)),
            (Self::Quotes, None) => api(seed, &asker.query),
        }
    }
}

fn page(html: String) -> Said {
    Said::Page(Prepared::html(html, None, false))
}

fn log_in(seed: Seed, origin: Origin, visitor: &str, form: &Form) -> Said {
    if form.get("csrf_token") != token(seed, visitor) {
        return Said::Refused(StatusCode::FORBIDDEN);
    }
    if (form.get("username"), form.get("password")) != (USER, PASSWORD) {
        return page(html::login(&token(seed, visitor), "Invalid username or password", origin));
    }
    Said::LedOn { location: "/account/", cookie: format!("{COOKIE}={}; Path=/; HttpOnly", proof(seed, visitor)) }
}

fn is_logged_in(seed: Seed, asker: &Asker<'_>) -> bool {
    let proof = proof(seed, asker.visitor);
    let mut pairs = asker.cookies.iter().flat_map(|field| field.split(';'));
    pairs.any(|pair| pair.trim().strip_prefix(COOKIE).and_then(|pair| pair.strip_prefix('=')) == Some(proof.as_str()))
}

fn token(seed: Seed, visitor: &str) -> String {
    format!("{:016x}", seed.hash(&format!("token of {visitor}"), 0))
}

fn proof(seed: Seed, visitor: &str) -> String {
    format!("{:016x}", seed.hash(&format!("login of {visitor}"), 0))
}

/// `?page=N`; without it the first page.
fn api(seed: Seed, query: &Form) -> Said {
    let number = if query.has("page") { query.get("page").parse().unwrap_or(0) } else { 1 };
    let quotes = quotes(seed.0);
    match on_page(&quotes, number) {
        Some(quotes) => {
            let answer = serde_json::json!({ "page": number, "has_next": has_next(number), "quotes": quotes });
            Said::Page(Prepared::raw(answer.to_string(), JSON))
        }
        None => Said::Refused(StatusCode::NOT_FOUND),
    }
}

#[cfg(test)]
mod tests {
    use super::Personal;

    #[test]
    fn a_page_has_one_path() {
        assert_eq!(Personal::find("/visitors/20"), Some(Personal::Visitor(20)));
        assert_eq!(Personal::find("/account/orders/1"), Some(Personal::Order(1)));
        for path in ["/visitors/0", "/visitors/21", "/visitors/01", "/visitors/+1", "/account", "/account/orders/", "/login/"] {
            assert_eq!(Personal::find(path), None, "{path}");
        }
    }
}
