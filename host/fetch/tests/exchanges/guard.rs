//! The address guard on the way of real requests.

use crate::server::{Answer, Server, config, error, fetcher, get, html, redirect, response};
use nephila_fetch::{AddressGuard, FetchConfig, FetchError, Refusal};
use url::Url;

fn guarded(guard: AddressGuard) -> FetchConfig {
    FetchConfig { guard, ..config() }
}

#[tokio::test]
async fn loopback_is_not_contacted_unless_somebody_named_it() {
    let server = Server::always(|| html("secret")).await;
    let port = server.address.port();
    let fetcher = fetcher(guarded(AddressGuard::new()));
    for host in [
        "127.0.0.1",
        "0x7f.1",
        "2130706433",
        "localhost",
        "a.localhost",
        "localhost.",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "user@127.1",
    ] {
        let error = error(&fetcher, &Url::parse(&format!("http://{host}:{port}/")).expect("a URL")).await;
        assert_eq!((error.code(), error.is_transient()), ("address-refused", false), "{host}: {error}");
        assert!(error.to_string().contains("--allow-private"), "{error}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_named_host_is_contacted_and_no_other_name_of_it() {
    let server = Server::always(|| html("intranet")).await;
    let port = server.address.port();
    let url = |host: &str| Url::parse(&format!("http://{host}:{port}/")).expect("a URL");
    let by_name = fetcher(guarded(AddressGuard::new().allow_host("localhost")));
    assert!(get(&by_name, &url("localhost")).await.is_ok());
    let refused = error(&by_name, &url("127.0.0.1")).await;
    assert!(matches!(refused, FetchError::Refused(refused) if refused.refusal == Refusal::Loopback));
    assert_eq!(error(&by_name, &url("a.localhost")).await.code(), "address-refused");
    let anything = fetcher(guarded(AddressGuard::new().allow_all_private()));
    assert!(get(&anything, &url("a.localhost")).await.is_ok());
}

#[tokio::test]
async fn a_redirect_into_the_own_network_is_stopped_at_the_next_fetch() {
    let secret = Server::always(|| html("secret")).await;
    let to = format!("http://localhost:{}/", secret.address.port());
    let server = Server::start(move |request| match request.split(' ').nth(1) {
        Some("/meta") => html(&format!("<meta http-equiv=refresh content='0;url={to}'>")),
        _ => Answer::Send(response(302, &format!("Location: {to}\r\n"), b"")),
    })
    .await;
    let fetcher = fetcher(config());
    for path in ["/meta", "/location"] {
        let redirect = redirect(&fetcher, &server.url(path)).await;
        assert_eq!(error(&fetcher, &redirect.to).await.code(), "address-refused");
    }
    assert_eq!(secret.connections(), 0);
}
