//! What is refused when a plugin is loaded, and what is said of it.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests end with the first thing that is wrong")]

#[path = "loading/wrong.rs"]
mod wrong;

use nephila_plugin::{CallFailure, CallSettings, HostConfig, InstancePolicy, Limits, LoadError, PluginHost};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use wrong::{mistyped, with_entry_points};

struct Bench {
    folder: tempfile::TempDir,
    host: PluginHost,
}

fn bench() -> Bench {
    bench_with(Limits { cpu: Duration::from_millis(100), memory: 8 << 20, ..Limits::default() })
}

fn bench_with(limits: Limits) -> Bench {
    let config =
        HostConfig { pool: false, plugin_bytes: 1 << 20, limits, instances: InstancePolicy::Fresh, ..HostConfig::default() };
    Bench { folder: tempfile::tempdir().expect("a folder"), host: PluginHost::new(config).expect("a host") }
}

impl Bench {
    fn file(&self, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join("plugin.wasm");
        std::fs::write(&path, bytes).expect("written");
        path
    }

    async fn refused(&self, bytes: impl AsRef<[u8]>) -> LoadError {
        let error = self.host.load(self.file(bytes)).await.expect_err("it should be refused");
        let text = error.to_string();
        assert!(!text.contains('\n'), "in one line: {text}");
        assert!(text.contains("plugin.wasm"), "it names the file: {text}");
        error
    }

    async fn refused_wat(&self, wat: &str) -> LoadError {
        self.refused(wat::parse_str(wat).expect("well-formed")).await
    }
}

#[tokio::test]
async fn files_that_are_no_component_are_refused_by_what_they_are() {
    let bench = bench();
    assert!(matches!(bench.host.load(bench.folder.path().join("none.wasm")).await, Err(LoadError::Missing { .. })));
    assert!(matches!(bench.host.load(bench.folder.path()).await, Err(LoadError::Unreadable { .. })));
    assert!(matches!(bench.refused("").await, LoadError::NotWasm { is: "is empty", .. }));
    assert!(matches!(bench.refused("export function handle() {}").await, LoadError::NotWasm { .. }));
    assert!(matches!(bench.refused("\x7fELF\x02\x01\x01").await, LoadError::NotWasm { is: "is native code", .. }));
    assert!(matches!(bench.refused(vec![0; 2 << 20]).await, LoadError::TooLarge { .. }));
    let core = wat::parse_str("(module (memory 1))").expect("well-formed");
    assert!(bench.refused(&core).await.to_string().contains("is a core module, not a component: build with"));
    assert!(matches!(bench.refused(&core[..core.len() - 1]).await, LoadError::Truncated { .. }));
    let garbage = [wat::parse_str("(component)").expect("well-formed").as_slice(), &[1, 3, 9, 9, 9]].concat();
    assert!(matches!(bench.refused(garbage).await, LoadError::Compile { .. }));
}

#[tokio::test]
async fn every_wrong_plugin_gets_the_right_verdict_in_one_line() {
    let bench = bench();
    let all = wrong::all();
    assert!(all.len() >= 20);
    for wrong in all {
        let error = bench.host.load(wrong.write(bench.folder.path())).await.expect_err(wrong.name).to_string();
        assert!(!error.contains('\n'), "{}: in one line: {error}", wrong.name);
        let mut rest = error.as_str();
        for word in [&[wrong.name], wrong.words].concat() {
            let found =
                rest.split_once(word).unwrap_or_else(|| panic!("{}: `{word}` is not where it should be in: {error}", wrong.name));
            rest = found.1;
        }
    }
}

#[tokio::test]
async fn what_a_plugin_has_beyond_the_contract_is_its_own_affair() {
    let bench = bench();
    let more = with_entry_points(&[]).replace(
        "(export \"nephila:crawler/handler@0.1.0\"",
        "(export \"run\" (func $nothing)) (instance $own (export \"nothing\" (func $nothing))) (export \"acme:shop/api@2.0.0\" (instance $own))
         (export \"nephila:crawler/handler@0.1.0\"",
    );
    let plugin = bench.host.load(bench.file(wat::parse_str(more).expect("well-formed"))).await.expect("it loads");
    assert!(plugin.entry_points().handler);
}

#[tokio::test]
async fn imports_that_reach_out_or_are_unknown_are_named() {
    let bench = bench();
    let error = bench
        .refused_wat("(component (import \"wasi:http/outgoing-handler@0.2.0\" (instance)) (import \"a:b/c@1.0.0\" (instance)))")
        .await;
    assert!(matches!(&error, LoadError::UnknownImports { imports, .. } if imports.len() == 2), "{error}");
    assert!(error.to_string().contains("wasi:http/outgoing-handler@0.2.0, a:b/c@1.0.0"), "{error}");
    let error = bench.refused_wat("(component (import \"nephila:crawler/log@0.2.0\" (instance)))").await;
    assert!(error.to_string().contains("made for nephila:crawler@0.2.0, and this host speaks 0.1.0"), "{error}");
    let later = "(component (import \"nephila:crawler/log@0.1.9\" (instance (export \"of-a-later-version\" (func)))))";
    assert!(matches!(bench.refused_wat(later).await, LoadError::Mismatch { .. }));
}

#[tokio::test]
async fn wasi_is_there_for_those_that_import_it() {
    let bench = bench();
    let wasi = mistyped("", "nephila:crawler/handler@0.1.0").replacen(
        "(component",
        "(component
           (import \"wasi:cli/environment@0.2.9\" (instance (export \"get-arguments\" (func (result (list string))))))
           (import \"wasi:random/random@0.2.0\" (instance (export \"get-random-u64\" (func (result u64)))))
           (import \"wasi:sockets/instance-network@0.2.3\" (instance))
           (import \"wasi:filesystem/preopens@0.2.3\" (instance))",
        1,
    );
    // It gets as far as its handler, which is of other types.
    let error = bench.refused_wat(&wasi).await;
    assert!(matches!(error, LoadError::Mistyped { .. }), "{error}");
}

#[tokio::test]
async fn a_component_built_with_async_is_told_the_way_out() {
    let error = bench().refused_wat("(component (type (stream u8)))").await;
    assert!(matches!(error, LoadError::Async { .. }), "{error}");
    assert!(error.to_string().contains("contract is synchronous; build it without (componentize-qjs: `--sync`)"), "{error}");
}

#[tokio::test]
async fn a_component_without_a_fitting_handler_is_refused() {
    let bench = bench();
    let error = bench.refused_wat(&mistyped("", "a:b/c@1.0.0")).await;
    assert!(error.to_string().contains("it exports a:b/c@1.0.0, and needs nephila:crawler/handler@0.1.0"), "{error}");
    assert!(bench.refused_wat("(component)").await.to_string().contains("exports nothing"));
    let error = bench.refused_wat(&mistyped("", "nephila:crawler/handler@0.1.0")).await;
    assert!(matches!(error, LoadError::Mistyped { entry_point: "handler", .. }), "{error}");
    let error = bench.refused_wat(&mistyped("", "nephila:crawler/handler@0.3.0")).await;
    assert!(matches!(error, LoadError::ContractVersion { .. }), "{error}");
}

#[tokio::test]
async fn an_entry_point_of_other_types_is_named() {
    let bench = bench();
    let plain = wat::parse_str(with_entry_points(&[])).expect("well-formed");
    let has = bench.host.load(bench.file(plain)).await.expect("it loads").entry_points();
    assert!(
        has.handler && !has.pipeline && !has.manifest && !has.failure && !has.finish && !has.listener && !has.sessions,
        "{has:?}"
    );
    for (expected, functions) in [
        ("manifest", &["describe"][..]),
        ("failure", &["on-failure"]),
        ("finish", &["on-finish"]),
        ("listener", &["subscriptions", "on-event"]),
        ("sessions", &["create"]),
        ("pipeline", &["process-item"]),
    ] {
        let error = bench.refused_wat(&with_entry_points(&[(expected, functions)])).await;
        assert!(matches!(error, LoadError::Mistyped { entry_point, .. } if entry_point == expected), "{error}");
    }
    // One of its two functions is not there at all.
    let error = bench.refused_wat(&with_entry_points(&[("listener", &["subscriptions"])])).await;
    assert!(matches!(error, LoadError::Mistyped { entry_point: "listener", .. }), "{error}");
}

#[tokio::test]
async fn a_plugin_without_a_listener_hears_nothing_and_makes_no_sessions() {
    let bench = bench();
    let plain = wat::parse_str(with_entry_points(&[])).expect("well-formed");
    let plugin = bench.host.load(bench.file(plain)).await.expect("it loads");
    let settings = Arc::new(CallSettings::default());
    assert_eq!(plugin.listener(Arc::clone(&settings)).subscriptions().await, Ok(BTreeSet::new()));
    assert_eq!(plugin.create_session(settings).await.0, Ok(None));
}

#[tokio::test]
async fn a_plugin_is_compiled_once_and_again_where_what_was_kept_is_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = folder.path().join("cache");
    let plain = folder.path().join("plain.wasm");
    std::fs::write(&plain, wat::parse_str(with_entry_points(&[])).expect("well-formed")).expect("written");
    let config = || HostConfig { pool: false, cache_dir: Some(cache.clone()), ..HostConfig::default() };
    let kept = || std::fs::read_dir(&cache).expect("the cache").map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>();

    for _ in 0..2 {
        PluginHost::new(config()).expect("a host").load(&plain).await.expect("it loads");
        assert_eq!(kept().len(), 1);
    }
    let file = kept().remove(0);
    let whole = std::fs::read(&file).expect("the file");
    for damaged in [&whole[..whole.len() / 2], b"", &[whole.as_slice(), b"more"].concat()] {
        std::fs::write(&file, damaged).expect("written");
        PluginHost::new(config()).expect("a host").load(&plain).await.expect("it loads all the same");
        assert_eq!(std::fs::read(&file).expect("the file").len(), whole.len(), "it is whole again");
    }
}

#[test]
fn compiling_holds_up_nothing_else_on_the_runtime() {
    // Its one thread for work that blocks is taken, so that a plugin cannot be compiled; all else goes on.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build().expect("a runtime");
    runtime.block_on(async {
        let bench = bench();
        let file = bench.file(wat::parse_str(with_entry_points(&[])).expect("well-formed"));
        let (release, released) = std::sync::mpsc::channel::<()>();
        let taken = tokio::task::spawn_blocking(move || released.recv());
        let host = bench.host.clone();
        let loading = tokio::spawn(async move { host.load(file).await });
        for _ in 0..100 {
            tokio::task::yield_now().await;
            assert!(!loading.is_finished());
        }
        release.send(()).expect("somebody waits");
        taken.await.expect("no panic").expect("released");
        loading.await.expect("no panic").expect("it loads");
    });
}

#[tokio::test]
async fn a_component_that_misbehaves_at_its_start_is_refused_within_its_limits() {
    let bench = bench();
    let handler = "nephila:crawler/handler@0.1.0";
    let error = bench.refused_wat(&mistyped("(func $s (loop br 0)) (start $s)", handler)).await;
    assert!(matches!(&error, LoadError::Start { failure, .. } if failure.code() == "cpu-limit"), "{error}");
    let error = bench.refused_wat(&mistyped("(func $s unreachable) (start $s)", handler)).await;
    assert!(matches!(&error, LoadError::Start { failure: CallFailure::Trap { .. }, .. }), "{error}");
    let error = bench.refused_wat(&mistyped("(memory 1000)", handler)).await;
    assert!(matches!(&error, LoadError::Start { failure, .. } if failure.code() == "memory-limit"), "{error}");
}

#[tokio::test]
async fn a_host_with_a_pool_refuses_the_same() {
    let limits = Limits { memory: 8 << 20, ..Limits::default() };
    let host = PluginHost::new(HostConfig { sandboxes: 4, limits, ..HostConfig::default() }).expect("a host");
    let bench = Bench { folder: tempfile::tempdir().expect("a folder"), host };
    let memories = "(memory 1) ".repeat(2);
    let error = bench.refused_wat(&mistyped(&memories, "nephila:crawler/handler@0.1.0")).await;
    assert!(matches!(error, LoadError::Mistyped { .. }), "{error}");
    let error = bench.refused_wat(&mistyped("(memory 1000)", "nephila:crawler/handler@0.1.0")).await;
    let text = error.to_string();
    assert!(text.contains("memory"), "{text}");
}

/// A component that does something at its start, with what it imports for that.
fn starting(imports_and_modules: &str) -> String {
    mistyped("", "nephila:crawler/handler@0.1.0").replacen("(component", &format!("(component {imports_and_modules}"), 1)
}

#[tokio::test]
async fn a_plugin_that_sleeps_is_ended_soon_after_its_time() {
    let bench = bench_with(Limits { wall: Duration::from_millis(100), ..Limits::default() });
    let sleeper = starting(
        r#"
        (import "wasi:io/poll@0.2.0" (instance $poll
            (export "pollable" (type $pollable (sub resource)))
            (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
        (alias export $poll "pollable" (type $pollable))
        (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
            (alias outer 1 $pollable (type $outer))
            (export "pollable" (type $pollable (eq $outer)))
            (export "subscribe-duration" (func (param "when" u64) (result (own $pollable))))))
        (core func $subscribe (canon lower (func $clock "subscribe-duration")))
        (core func $block (canon lower (func $poll "[method]pollable.block")))
        (core module $main
            (import "host" "subscribe" (func $subscribe (param i64) (result i32)))
            (import "host" "block" (func $block (param i32)))
            (func $start (call $block (call $subscribe (i64.const 3600000000000))))
            (start $start))
        (core instance (instantiate $main (with "host" (instance
            (export "subscribe" (func $subscribe)) (export "block" (func $block))))))"#,
    );
    let sleeper = wat::parse_str(sleeper).expect("well-formed");
    let error = bench.refused(sleeper).await;
    assert!(matches!(&error, LoadError::Start { failure, .. } if failure.code() == "time-limit"), "{error}");
}

#[tokio::test]
async fn a_plugin_that_recurses_into_its_allocator_from_any_depth_cannot_overrun_the_stack() {
    // What the host returns is put where the plugin's `realloc` says, which is called on what the plugin has left of the stack.
    let bench = bench_with(Limits::default());
    // The deepest that it can reach and still call the host is searched for: there is the least left.
    let (mut reached, mut beyond) = (0, 200_000);
    while beyond - reached > 1 {
        let depth = (reached + beyond) / 2;
        let recursive = starting(&format!(
            r#"
            (import "wasi:random/random@0.2.0" (instance $random
                (export "get-random-bytes" (func (param "len" u64) (result (list u8))))))
            (core module $allocator
                (memory (export "memory") 1)
                (func $allocating (param i32) (result i32)
                    (i32.add (call $allocating (i32.add (local.get 0) (i32.const 1))) (local.get 0)))
                (func (export "realloc") (param i32 i32 i32 i32) (result i32) (call $allocating (i32.const 0))))
            (core instance $allocator (instantiate $allocator))
            (core func $bytes (canon lower (func $random "get-random-bytes")
                (memory (core memory $allocator "memory")) (realloc (core func $allocator "realloc"))))
            (core module $main
                (import "host" "bytes" (func $bytes (param i64 i32)))
                (func $down (param i32) (result i32)
                    (if (result i32) (i32.eqz (local.get 0))
                        (then (call $bytes (i64.const 8) (i32.const 0)) (i32.const 0))
                        (else (i32.add (call $down (i32.sub (local.get 0) (i32.const 1))) (local.get 0)))))
                (func $start (drop (call $down (i32.const {depth}))))
                (start $start))
            (core instance (instantiate $main (with "host" (instance (export "bytes" (func $bytes))))))"#
        ));
        let error = bench.refused_wat(&recursive).await;
        let LoadError::Start { failure: CallFailure::Trap { message, backtrace }, .. } = &error else {
            panic!("{depth}: {error}")
        };
        assert!(message.contains("its call stack is exhausted"), "{depth}: {error}");
        if backtrace[0].contains("allocating") {
            reached = depth;
        } else {
            beyond = depth;
        }
    }
    assert!(reached > 1_000 && beyond < 200_000, "{reached} levels");
}

/// Set in the process that has no room.
const CRAMPED: &str = "NEPHILA_TEST_CRAMPED";

#[test]
#[cfg(target_os = "linux")]
fn a_machine_without_address_space_is_not_the_plugins_fault() {
    if std::env::var_os(CRAMPED).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let plugin = mistyped("(memory 1)", "nephila:crawler/handler@0.1.0");
        let error = runtime.block_on(async { bench_with(Limits::default()).refused_wat(&plugin).await });
        let LoadError::Start { failure, .. } = &error else { panic!("{error}") };
        assert!(failure.code() == "host" && failure.may_be_retried(), "{error}");
        assert!(error.to_string().contains("the machine gave a sandbox no memory"), "{error}");
        return;
    }
    // A memory takes 4 GiB of addresses.
    let this = std::env::current_exe().expect("a path");
    let test = "a_machine_without_address_space_is_not_the_plugins_fault";
    let script = format!("ulimit -v 4000000 && exec \"$0\" --exact {test} --test-threads 1");
    let output = Command::new("sh").args(["-c", &script]).arg(this).env(CRAMPED, "1").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
