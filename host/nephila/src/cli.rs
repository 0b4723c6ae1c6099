//! What can be said on the command line. The words are a contract (docs/cli.md): they only grow.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

const RUN_EXAMPLES: &str = "\
Examples:
  nephila run books.wasm https://books.toscrape.com/ -o books.jsonl
  nephila run books https://books.toscrape.com/ --job jobs/books      (the same command again resumes it)
  nephila run linkcheck http://localhost:8000/ --delay 0 -o - | jq .url
  nephila run crawler.ts https://quotes.toscrape.com/ --watch         (built first, and again whenever it is saved)
  nephila run linkcheck http://localhost:8000/ -n 100 --set max-retries=5 --input '{\"external\": true}'

Exit codes:
  0 done   1 requests failed (max-failed-ratio, abort-on-error)   2 refused before it began   3 stopped, the same command resumes it";

/// A web crawler host: plugins in a sandbox, every page durable.
#[derive(Debug, Parser)]
#[command(name = "nephila", version, propagate_version = true, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Begin a plugin: a project folder with a crawler that works
    New(NewOptions),
    /// Build a plugin from its source
    Build(BuildOptions),
    /// Try a plugin on its fixtures: saved pages, and what is expected of them
    Check(CheckOptions),
    /// Crawl with a plugin
    Run(Box<RunOptions>),
    /// Show the plugins in a folder
    List(ListOptions),
    /// Show what a plugin imports, exports and asks for
    Inspect(InspectOptions),
    /// Fetch a page and show what the host sees; or save it as a fixture
    Fetch(FetchOptions),
    /// Fetch a page and show what a plugin makes of it; nothing is kept
    Parse(ParseOptions),
    /// Show where a job stands, also while it runs
    Status(StatusOptions),
    /// Write what a job has somewhere else, also while it runs
    Export(ExportOptions),
}

const NEW_EXAMPLES: &str = "\
Examples:
  nephila new quotes --lang ts
  nephila new quotes --lang rust && nephila run ./quotes https://quotes.toscrape.com/ -n 20 -o quotes.jsonl";

/// `nephila new`.
#[derive(Debug, Args)]
#[command(after_help = NEW_EXAMPLES)]
pub struct NewOptions {
    /// The plugin's name, and that of its folder: lower-case letters, digits and inner hyphens
    pub name: String,

    /// The language: rust, js, ts, python or c
    #[arg(long, value_name = "rust|js|ts|python|c", value_parser = ["rust", "js", "ts", "python", "c"])]
    pub lang: String,
}

/// `nephila build`.
#[derive(Debug, Args)]
pub struct BuildOptions {
    /// The plugin's source: a project's folder, or a file .js, .mjs, .ts, .mts, .py or .c
    #[arg(default_value = ".")]
    pub source: PathBuf,

    /// The component to write [default: NAME.wasm beside the source]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Install what is missing for building in the user's folder; the commands are said first
    #[arg(long)]
    pub install: bool,

    /// Replace the project's folder sdk by this program's SDK first
    #[arg(long)]
    pub update_sdk: bool,
}

/// `nephila run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunOptions {
    /// The plugin: a .wasm file, a name that `nephila list` shows, or a source, which is built first (see `nephila build`)
    pub plugin: String,

    /// Where to start; without any, the plugin's own start URLs
    pub urls: Vec<String>,

    /// Keep the crawl's state in DIR; the same command again resumes it (Scrapy's JOBDIR)
    #[arg(long, value_name = "DIR", conflicts_with_all = ["resume", "store"])]
    pub job: Option<PathBuf>,

    /// Resume this plugin's last unfinished crawl under ./storage/runs
    #[arg(long, conflicts_with = "store")]
    pub resume: bool,

    /// The crawler id that use_state and the state records carry [default: the plugin's name]
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,

    /// Write the items there too: FILE.jsonl, or - for standard output; may be repeated
    #[arg(short, long = "output", value_name = "TARGET")]
    pub outputs: Vec<String>,

    /// Replace output files that exist
    #[arg(long, conflicts_with = "append")]
    pub overwrite: bool,

    /// Go on at the end of output files that exist
    #[arg(long)]
    pub append: bool,

    /// Let another plugin look at each item before it is kept; may be repeated, in order
    #[arg(long = "pipeline", value_name = "PLUGIN")]
    pub pipelines: Vec<String>,

    /// Let another plugin hear this crawl's events; may be repeated, in order
    #[arg(long = "listener", value_name = "PLUGIN")]
    pub listeners: Vec<String>,

    /// Stop after N items
    #[arg(short = 'n', long, value_name = "N")]
    pub max_items: Option<u64>,

    /// Stop after N requests were finished or failed
    #[arg(long, value_name = "N")]
    pub max_requests: Option<u64>,

    /// Links between a start URL and a request at most
    #[arg(long, value_name = "N")]
    pub max_depth: Option<u32>,

    /// Stop after this long: seconds, or a number with ms, s, m, h or d
    #[arg(long, value_name = "DURATION")]
    pub max_time: Option<String>,

    /// Requests in flight at most [default: 16]
    #[arg(short, long, value_name = "N")]
    pub concurrency: Option<usize>,

    /// Between two requests to one site [default: 1; 0 for sites of your own]
    #[arg(long, value_name = "SECONDS")]
    pub delay: Option<String>,

    /// Set any setting of docs/settings.md; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,

    /// The plugin's input: JSON, or @FILE
    #[arg(long, value_name = "JSON|@FILE")]
    pub input: Option<String>,

    /// Where the crawl's state is kept: memory: or sqlite:DIR
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,

    /// Let this crawl reach loopback and private addresses beyond the hosts of the URLs given here
    #[arg(long)]
    pub allow_private: bool,

    /// Build the source again whenever it is saved, and go on with what comes of it
    #[arg(long)]
    pub watch: bool,

    /// Print final statistics as one JSON object on standard output
    #[arg(long)]
    pub json: bool,
}

/// `nephila list`.
#[derive(Debug, Args)]
pub struct ListOptions {
    /// The folder [default: ./plugins and ./target/plugins]
    pub dir: Option<PathBuf>,
}

/// `nephila inspect`.
#[derive(Debug, Args)]
pub struct InspectOptions {
    /// The plugin: a .wasm file, a name that `nephila list` shows, or a source, which is built first (see `nephila build`)
    pub plugin: String,
}

const STATUS_EXAMPLES: &str = "\
Examples:
  nephila status jobs/books
  nephila status storage/runs                 (all crawls without --job that are kept)
  nephila status jobs/books --failed --json   (a JSON object on a line for each request that has failed)";

/// `nephila status`.
#[derive(Debug, Args)]
#[command(after_help = STATUS_EXAMPLES)]
pub struct StatusOptions {
    /// The job's folder, or a folder of jobs, which are listed then
    pub dir: PathBuf,

    /// As one JSON object; with --failed an object on a line for each
    #[arg(long)]
    pub json: bool,

    /// With the state of its handlers (use_state)
    #[arg(long)]
    pub state: bool,

    /// List the requests that have failed for good, with code, attempts and message
    #[arg(long, conflicts_with = "state")]
    pub failed: bool,

    /// Of several crawls in the folder the one with this crawler id; without, they are listed
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  nephila export jobs/books -o crawlee:storage     (a storage folder that Crawlee opens: CRAWLEE_STORAGE_DIR=storage)
  nephila export jobs/books -o books.jsonl         (the items once more)";

/// `nephila export`.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct ExportOptions {
    /// The job's folder
    pub dir: PathBuf,

    /// Where to: crawlee:FOLDER for all of it in Crawlee's storage layout, FILE.jsonl or - for the items; may be repeated
    #[arg(short, long = "output", value_name = "TARGET", required = true)]
    pub outputs: Vec<String>,

    /// Replace files, and a storage folder, that exist
    #[arg(long, conflicts_with = "append")]
    pub overwrite: bool,

    /// Write all items behind what is in files that exist; those that an earlier export wrote are there twice then
    #[arg(long)]
    pub append: bool,

    /// Of several crawls in the folder the one with this crawler id [default: the one that was opened last]
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  nephila check .                                   (the fixtures of this project: fixtures/*.json)
  nephila check quotes.wasm fixtures/quotes.json
  nephila fetch https://quotes.toscrape.com/page/2/ --save fixtures/page-2.json && nephila check . --update";

/// `nephila check`.
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckOptions {
    /// The plugin: a .wasm file, a name that `nephila list` shows, or a source, which is built first (see `nephila build`)
    pub plugin: String,

    /// Fixtures, or folders of them [default: the folder fixtures beside the plugin]
    pub fixtures: Vec<PathBuf>,

    /// Call the plugin three times for each fixture, and compare what it does to the byte
    #[arg(long)]
    pub deterministic: bool,

    /// Write what the plugin does into the fixtures, as what is expected from now on
    #[arg(long)]
    pub update: bool,

    /// Set any setting of docs/settings.md; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,

    /// The plugin's input where a fixture has none: JSON, or @FILE
    #[arg(long, value_name = "JSON|@FILE")]
    pub input: Option<String>,

    /// One JSON object for each fixture, on standard output
    #[arg(long)]
    pub json: bool,
}

/// `nephila fetch`.
#[derive(Debug, Args)]
pub struct FetchOptions {
    /// The page
    pub url: String,

    /// Write the page, and a fixture FILE.json that names it, for `nephila check`
    #[arg(long, value_name = "FILE.json")]
    pub save: Option<PathBuf>,

    /// Replace a fixture that exists
    #[arg(long, requires = "save")]
    pub overwrite: bool,

    /// Set any setting of docs/settings.md; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,

    /// Let redirects reach loopback and private addresses beyond the host of the URL
    #[arg(long)]
    pub allow_private: bool,

    /// As one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `nephila parse`.
#[derive(Debug, Args)]
pub struct ParseOptions {
    /// The page
    pub url: String,

    /// The plugin: a .wasm file, a name that `nephila list` shows, or a source, which is built first (see `nephila build`)
    #[arg(short, long)]
    pub plugin: String,

    /// The request's label, which the plugin's router goes by
    #[arg(long)]
    pub label: Option<String>,

    /// What the plugin gave the request along
    #[arg(long, value_name = "JSON")]
    pub user_data: Option<String>,

    /// Set any setting of docs/settings.md; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,

    /// The plugin's input: JSON, or @FILE
    #[arg(long, value_name = "JSON|@FILE")]
    pub input: Option<String>,

    /// Let redirects reach loopback and private addresses beyond the host of the URL
    #[arg(long)]
    pub allow_private: bool,

    /// As one JSON object
    #[arg(long)]
    pub json: bool,
}
