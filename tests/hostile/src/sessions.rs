//! What the hostile plugin does with sessions, by word: on a page, and where it makes one (`{"session": "WORD"}` in the input).

use nephila_sdk::prelude::*;
use nephila_sdk::raw;
use nephila_sdk::serde_json::{Value, json};

/// Does on a page what the word says.
pub(crate) fn on_page(word: &str, call: &Call) -> HandlerResult {
    match word {
        "session-bind" => {
            push_id(call)?;
            bind(&session::id()?)
        }
        "session-bind-gone" => bind("no-such-session"),
        "session-id" => push_id(call),
        "session-retire" => {
            session::retire()?;
            push_id(call)?;
            crate::well_behaved(call)
        }
        "session-cookie" => {
            push_id(call)?;
            session::set_cookies(["visitor=planted; Path=/"])?;
            session::set_user_data(&json!({ "seen": call.request().url }))?;
            crate::well_behaved(call)
        }
        "session" => everything(),
        "session-then-fatal" => {
            changes()?;
            session::retire()?;
            Err(fatal("asked", "the test asked to fail after retiring its session"))
        }
        "session-then-bad-state" => {
            session::retire()?;
            // Nobody has read the key, so that only the store finds out.
            state::increment("word", 1)?;
            state::append("word", "text")
        }
        "session-then-trap" => {
            changes()?;
            session::bad()?;
            crate::behaviour::trap()
        }
        "session-bad-data" => session::set_user_data(&[1]),
        "session-huge-data" => session::set_user_data(&json!({ "text": "x".repeat(100_000) })),
        "session-bad-cookie" => session::set_cookies(["a=b\r\nX-Injected: yes"]),
        "session-bad-url" => session::set_cookies_for("ftp://example.com/", ["a=b"]),
        "session-flood" => (0..10_000_u32).try_for_each(|turn| session::set_cookies([format!("c{turn}=1")])),
        word if word.starts_with("session-add") || word == "session-login" => added(word, call),
        other => Err(fatal("unknown-label", format!("no behaviour is called `{other}`"))),
    }
}

/// Adds sessions to the pool.
fn added(word: &str, call: &Call) -> HandlerResult {
    let addition = || session::Addition::new(&json!({ "account": 7 })).map(|addition| addition.id("account-7"));
    match word {
        "session-add" => {
            let addition = addition()?.cookies(["a=1; Path=/"]).cookies_for("http://other.example/", ["b=2", "c=3"]);
            let id = session::add(addition)?;
            dataset::push(&json!({ "added": id, "other": session::add(session::Addition::default())? }))
        }
        "session-add-then-fatal" => {
            session::add(addition()?)?;
            Err(fatal("asked", "the test asked to fail after adding a session"))
        }
        "session-add-twice" => {
            session::add(addition()?)?;
            session::add(addition()?).map(drop)
        }
        "session-add-taken" => session::add(session::Addition::default().id("taken")).map(drop),
        "session-add-bad-id" => session::add(session::Addition::default().id("a\nb")).map(drop),
        "session-add-bad-data" => session::add(session::Addition::new(&[1])?).map(drop),
        "session-add-bad-cookie" => session::add(addition()?.cookies(["a=b\r\nX-Injected: yes"])).map(drop),
        "session-add-flood" => (0..10_000_u32).try_for_each(|_| session::add(session::Addition::default()).map(drop)),
        // One session that all pages of a kind want to add: the first one does, and the others are told.
        "session-add-once" => {
            let added = match session::add(addition()?.cookies(["visitor=account-7; Path=/"])) {
                Ok(id) => Some(id),
                Err(error) if error.code() == "session-exists" => None,
                Err(error) => return Err(error),
            };
            dataset::push(&json!({ "page": call.request().url, "added": added }))?;
            crate::well_behaved(call)
        }
        // Ten pages for each of three accounts.
        "session-login" => (1..=3_u32).try_for_each(|number| {
            let name = format!("account-{number}");
            let addition = session::Addition::new(&json!({ "account": number }))?.id(&name);
            let id = session::add(addition.cookies([format!("visitor={name}; Path=/")]))?;
            bind(&id)
        }),
        other => Err(fatal("unknown-label", format!("no behaviour is called `{other}`"))),
    }
}

/// Asks for ten pages by one session.
fn bind(id: &str) -> HandlerResult {
    let bound = |n: u32| Request::get(format!("/?bound={n}&by={id}")).label("session-id").session(id);
    enqueue((0..10).map(bound))?;
    Ok(())
}

fn push_id(call: &Call) -> HandlerResult {
    dataset::push(&json!({ "page": call.request().url, "session": session::id()?, "data": session::user_data::<Value>()? }))
}

/// Everything that can be asked of a session, before and after it was changed.
fn everything() -> HandlerResult {
    let seen = || -> Result<Value, Error> {
        let names = |cookies: Vec<session::Cookie>| cookies.into_iter().map(|cookie| cookie.name).collect::<Vec<_>>();
        Ok(json!({
            "data": session::user_data::<Value>()?,
            "here": names(session::cookies()?),
            "there": names(session::cookies_for("/shop/")?),
        }))
    };
    let first = session::cookies()?.into_iter().next().map(|cookie| {
        json!({ "domain": cookie.domain, "hostOnly": cookie.host_only, "expires": cookie.expires, "sameSite": cookie.same_site })
    });
    let before = seen()?;
    changes()?;
    session::bad()?;
    session::good()?;
    dataset::push(&json!({ "id": session::id()?, "first": first, "before": before, "after": seen()? }))
}

fn changes() -> HandlerResult {
    raw::session::set_user_data("{\n\"seen\": true\n}")?;
    session::set_cookies(["a=1; Path=/", "b=2"])?;
    session::set_cookies_for("/shop/", ["c=3"])
}

/// Makes a session as the word says.
pub(crate) fn create(word: &str) -> Result<NewSession, Error> {
    match word {
        "trap" => crate::behaviour::trap(),
        "fatal" => Err(fatal("asked", "the test asked for no session")),
        "not-an-object" => NewSession::new(&[1]),
        "huge" => NewSession::new(&json!({ "text": "x".repeat(100_000) })),
        "state" => NewSession::new(&json!({ "text": state::get::<String>("text")? })),
        "events" => {
            events::on("exit")?;
            NewSession::new(&json!({}))
        }
        other => NewSession::new(&json!({ "word": other })),
    }
}
