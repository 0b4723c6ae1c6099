//! What uses at the same time see of each other, and what each of them gives for its outcome.

use super::*;
use crate::given::{Given, NOW, uses};
use crate::settings::ReuseStrategy;
use crate::{SiteState, StatusAccepted};

#[test]
fn uses_at_the_same_time_share_cookies_at_once_and_each_gives_its_own_changes() {
    let url = Url::parse("http://a.example/").expect("a URL");
    let mut given = Given::small(ReuseStrategy::UntilFailure, 1, uses(50));
    let (mut one, mut two) = (given.take(), given.take());
    one.receive(&url, ["a=1", "b=1"], NOW);
    assert_eq!(two.cookie_header(&url, NOW).as_deref(), Some("a=1; b=1"));
    two.receive(&url, ["a=2", "b=; Max-Age=0", "a=3"], NOW);
    one.receive(&url, ["c=1"], NOW);
    let key = one.cookies(NOW)[1].key.clone();
    assert_eq!(key.name, "c");
    two.remove_cookie(&key, NOW);
    let names = |finished: &Finished| finished.delta.cookies.iter().map(|change| change.key().name.clone()).collect::<Vec<_>>();
    let (two, one) = (two.finish(UseMark::Good, NOW), one.finish(UseMark::Good, NOW));
    assert_eq!((names(&one), names(&two)), (vec!["a".into(), "b".into(), "c".into()], vec!["b".into(), "a".into(), "c".into()]));
    // The store gets them the other way round than they happened, and has the same.
    let mut jar = crate::CookieJar::default();
    two.delta.cookies.iter().chain(&one.delta.cookies).for_each(|change| jar.apply(change));
    assert_eq!(jar.header(&url, NOW).as_deref(), Some("a=3"));
    assert_eq!(given.take().cookie_header(&url, NOW).as_deref(), Some("a=3"));
}

#[test]
fn user_data_and_proxy_stay_with_the_session() {
    let mut given = Given::small(ReuseStrategy::UntilFailure, 1, uses(50));
    let mut one = given.take();
    assert_eq!((one.user_data().as_str(), one.proxy()), ("{}", None));
    one.set_user_data("{\"n\":1}".into()).expect("an object");
    assert!(matches!(one.set_user_data("1".into()), Err(InvalidSetting::UserData { .. })));
    let proxy = ProxyId::new("p").expect("a name");
    one.set_proxy(proxy.clone());
    let two = given.take();
    assert_eq!((one.user_data().as_str(), two.user_data().as_str(), two.proxy().as_ref()), ("{\"n\":1}", "{}", Some(&proxy)));
    let delta = one.finish(UseMark::Good, NOW).delta;
    assert_eq!((delta.user_data.as_deref(), delta.proxy.as_ref()), (Some("{\"n\":1}"), Some(&proxy)));
    assert_eq!((two.user_data().as_str(), two.finish(UseMark::Good, NOW).delta.user_data), ("{\"n\":1}", None));
}

#[test]
fn a_judgement_retires_and_the_last_mark_counts() {
    let mut given = Given::small(ReuseStrategy::UntilFailure, 9, uses(50));
    let answer =
        |status| crate::Answer { status, headers: &[], body: b"", accepted: StatusAccepted::No, site: SiteState::AsUsual };
    let mut fine = given.take();
    assert_eq!(fine.judge(&answer(200)), Judgement::Fine);
    fine.mark(UseMark::Good);
    fine.mark(UseMark::Bad);
    let finished = fine.finish(UseMark::Good, NOW);
    assert_eq!((finished.delta.mark, finished.delta.retired), (UseMark::Bad, false));
    let mut blocked = given.take();
    assert!(matches!(blocked.judge(&answer(403)), Judgement::Blocked(_)));
    assert!(blocked.finish(UseMark::Bad, NOW).delta.retired);
}

#[test]
fn a_draft_changes_nothing_until_the_use_ends_with_it() {
    let url = Url::parse("http://a.example/").expect("a URL");
    let mut given = Given::small(ReuseStrategy::UntilFailure, 1, uses(50));
    let mut taken = given.take();
    taken.receive(&url, ["a=1"], NOW);
    let set_cookies = vec![(url.clone(), "b=2".to_owned()), (url.clone(), "c=3; Domain=other.example".to_owned())];
    let ask = UseAsk { word: Some(UseWord::Bad), user_data: Some("{\"n\":1}".to_owned()), set_cookies };
    let (draft, sight) = (taken.draft(UseMark::Good, &ask, NOW), taken.sight());
    assert_eq!((draft.mark, draft.retired, draft.user_data.as_deref()), (UseMark::Bad, false, Some("{\"n\":1}")));
    assert_eq!(draft.cookies.iter().map(|change| change.key().name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(taken.cookie_header(&url, NOW).as_deref(), Some("a=1"));
    assert_eq!((sight.id(), sight.user_data().as_str()), (taken.id(), "{}"));
    let names = |set: &[(Url, String)]| sight.cookies_for(&url, set, NOW).into_iter().map(|c| c.key.name).collect::<Vec<_>>();
    assert_eq!((names(&[]), names(&ask.set_cookies)), (vec!["a".to_owned()], vec!["a".to_owned(), "b".to_owned()]));
    // It is made anew, since its outcome was refused.
    let again = taken.draft(UseMark::Good, &UseAsk { word: Some(UseWord::Retire), ..ask }, NOW);
    assert_eq!((again.mark, again.retired, again.cookies.len()), (UseMark::Good, true, 2));
    let finished = taken.end(again, NOW);
    assert_eq!(finished.ended, Some(Unusable::Retired));
    assert_eq!((sight.user_data().as_str(), given.take().cookie_header(&url, NOW)), ("{}", None), "it is gone");
}

#[test]
fn of_what_is_asked_the_later_word_holds_and_retiring_is_final() {
    let word = |word| UseAsk { word, ..UseAsk::default() };
    use UseWord::{Bad, Good, Retire};
    assert_eq!(word(Some(Good)).then(word(Some(Bad))).word, Some(Bad));
    assert_eq!(word(Some(Good)).then(word(None)).word, Some(Good));
    assert_eq!(word(Some(Retire)).then(word(Some(Good))).word, Some(Retire));
}

#[test]
fn uses_beside_each_other_that_reach_the_maximum_score_together_retire_the_session() {
    let mut given = Given::small(ReuseStrategy::UntilFailure, 1, uses(50));
    let (record, flying) = (given.pool.sessions(), [given.take(), given.take(), given.take(), given.take()]);
    assert!(record.is_empty());
    let mut stored = given.pool.sessions().remove(0);
    // None of them can know it when its outcome is made.
    let marks = [UseMark::Bad, UseMark::Bad, UseMark::Bad, UseMark::Good];
    let drafts: Vec<_> = flying.iter().zip(marks).map(|(taken, mark)| taken.draft(mark, &UseAsk::default(), NOW)).collect();
    assert!(drafts.iter().all(|draft| !draft.retired));
    let mut ended = Vec::new();
    for (taken, mut draft) in flying.into_iter().zip(drafts) {
        let in_store = stored.end_use(&draft, NOW);
        draft.retired |= stored.retired;
        assert_eq!(taken.end(draft, NOW).ended, in_store);
        ended.extend(in_store);
    }
    assert_eq!((ended, stored.retired), (vec![Unusable::Blocked { score: 3.0, max: 3.0 }], true));
    assert_eq!(stored.score(), 2.5, "it did well later: too late");
}

#[test]
fn a_use_that_was_put_aside_goes_back_until_it_is_taken_up() {
    let mut given = Given::small(ReuseStrategy::UntilFailure, 1, uses(50));
    let first = given.take().put_aside();
    assert_eq!(first.number(), UseNumber(1));
    drop(first);
    let mut again = given.take().put_aside();
    assert_eq!(again.number(), UseNumber(1));
    again.take_up();
    drop(again);
    assert_eq!(given.take().number(), UseNumber(2));
}

#[test]
fn what_a_use_gives_is_bounded_whatever_a_site_sends() {
    let url = Url::parse("http://a.example/").expect("a URL");
    let mut given = Given::small(ReuseStrategy::UntilFailure, 1, uses(50));
    let mut taken = given.take();
    for answer in 0..20 {
        let fields: Vec<String> = (0..100).map(|field| format!("{answer}-{field}={}", "x".repeat(3_000))).collect();
        taken.receive(&url, fields.iter().map(String::as_str), NOW);
    }
    let delta = taken.draft(UseMark::Good, &UseAsk::default(), NOW);
    let removed = delta.cookies.iter().filter(|change| matches!(change.deed, nephila_model::CookieDeed::Remove(_))).count();
    assert_eq!((removed, delta.cookies.len()), (100, 150));
    assert!(delta.weight() < 512 * 1024);
    // What is left is what the jar has.
    let mut jar = crate::CookieJar::default();
    delta.cookies.iter().for_each(|change| jar.apply(change));
    assert_eq!(jar.header(&url, NOW), taken.cookie_header(&url, NOW));
}

#[test]
fn a_use_that_comes_back_to_a_session_that_seemed_used_up_is_returned() {
    let mut given = Given::small(ReuseStrategy::UntilFailure, 1, uses(2));
    let (one, two) = (given.take(), given.take());
    let name = one.id().clone();
    // Its last uses are in hand: another session takes its place.
    assert_ne!(*given.take().id(), name);
    drop(one.finish(UseMark::Good, NOW));
    two.give_back();
    let unused = given.pool.take_unused();
    assert!(unused.iter().any(|(id, range)| *id == name && range.first == UseNumber(2)), "{unused:?}");
    assert!(given.pool.session(&name).is_none(), "it is forgotten now");
}
