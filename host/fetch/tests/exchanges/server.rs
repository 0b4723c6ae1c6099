//! A web server that says exactly what a test tells it to, byte by byte.

use nephila_fetch::{AddressGuard, Exchange, FetchConfig, FetchError, Fetched, Fetcher, Redirect};
use nephila_model::Page;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// What to do about a request.
pub enum Answer {
    /// Send this, and wait for the next request on the connection.
    Send(Vec<u8>),
    /// Send this and hang up.
    Close(Vec<u8>),
    /// Send this and nothing more, for ever.
    Hold(Vec<u8>),
    /// Send this, then a byte every few milliseconds, for ever.
    Drip(Vec<u8>),
}

pub struct Server {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers each request by what `answer` says to its text.
    pub async fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let server =
            Self { address: listener.local_addr().expect("an address"), connections: Arc::default(), requests: Arc::default() };
        let (answer, connections, requests) = (Arc::new(answer), server.connections.clone(), server.requests.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                let (answer, requests) = (answer.clone(), requests.clone());
                tokio::spawn(async move {
                    // The client hangs up in many tests.
                    let _ = serve(stream, &*answer, &requests).await;
                });
            }
        });
        server
    }

    /// Answers every request in the same way.
    pub async fn always(answer: fn() -> Answer) -> Self {
        Self::start(move |_| answer()).await
    }

    pub fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).expect("a URL")
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no panic").clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    answer: &(dyn Fn(&str) -> Answer + Send + Sync),
    requests: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    loop {
        let mut request = Vec::new();
        while !is_whole(&request) {
            if stream.read_buf(&mut request).await? == 0 {
                return Ok(());
            }
        }
        let request = String::from_utf8_lossy(&request).into_owned();
        requests.lock().expect("no panic").push(request.clone());
        match answer(&request) {
            Answer::Send(bytes) => stream.write_all(&bytes).await?,
            Answer::Close(bytes) => {
                stream.write_all(&bytes).await?;
                return stream.shutdown().await;
            }
            Answer::Hold(bytes) => {
                stream.write_all(&bytes).await?;
                return std::future::pending().await;
            }
            Answer::Drip(bytes) => {
                stream.write_all(&bytes).await?;
                loop {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    stream.write_all(b"x").await?;
                }
            }
        }
    }
}

/// Whether a request has come with all of its body. What is no HTTP (a TLS handshake) is whole at once.
fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    if request.first().is_some_and(|byte| !byte.is_ascii_alphabetic()) {
        return true;
    }
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    body.len() >= length.unwrap_or(0)
}

/// A response with a body and its length.
pub fn response(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

pub fn html(body: &str) -> Answer {
    Answer::Send(response(200, "Content-Type: text/html\r\n", body.as_bytes()))
}

/// A configuration that allows the test servers.
pub fn config() -> FetchConfig {
    FetchConfig { guard: AddressGuard::new().allow_host("127.0.0.1"), ..FetchConfig::default() }
}

pub fn fetcher(config: FetchConfig) -> Fetcher {
    Fetcher::new(config).expect("a fetcher")
}

pub async fn get(fetcher: &Fetcher, url: &Url) -> Result<Fetched, FetchError> {
    fetcher.fetch(&Exchange::get(url)).await
}

pub async fn page(fetcher: &Fetcher, url: &Url) -> Page {
    match get(fetcher, url).await.expect("a page") {
        Fetched::Page(page) => page,
        Fetched::Redirect(redirect) => panic!("{redirect:?} is no page"),
    }
}

pub async fn redirect(fetcher: &Fetcher, url: &Url) -> Redirect {
    match get(fetcher, url).await.expect("a redirect") {
        Fetched::Redirect(redirect) => redirect,
        Fetched::Page(page) => panic!("{} is no redirect", page.status),
    }
}

pub async fn error(fetcher: &Fetcher, url: &Url) -> FetchError {
    match get(fetcher, url).await {
        Err(error) => error,
        Ok(fetched) => panic!("{fetched:?} is no error"),
    }
}
