//! What is refused when a plugin is loaded, and what is said of it.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests end with the first thing that is wrong")]

use nephila_plugin::{CallFailure, HostConfig, InstancePolicy, Limits, LoadError, PluginHost};
use std::path::PathBuf;
use std::time::Duration;

struct Bench {
    folder: tempfile::TempDir,
    host: PluginHost,
}

fn bench() -> Bench {
    let limits = Limits { cpu: Duration::from_millis(100), memory: 8 << 20, ..Limits::default() };
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

/// A component whose `handle` has no parameters, with `core` in its core module.
fn mistyped(core: &str, interface: &str) -> String {
    format!(
        "(component (core module $m {core} (func (export \"handle\")))
           (core instance $i (instantiate $m))
           (func $f (canon lift (core func $i \"handle\")))
           (instance $h (export \"handle\" (func $f)))
           (export \"{interface}\" (instance $h)))"
    )
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
async fn a_component_that_misbehaves_at_its_start_is_refused_within_its_limits() {
    let bench = bench();
    let handler = "nephila:crawler/handler@0.1.0";
    let start = std::time::Instant::now();
    let error = bench.refused_wat(&mistyped("(func $s (loop br 0)) (start $s)", handler)).await;
    assert!(matches!(&error, LoadError::Start { failure, .. } if failure.code() == "cpu-limit"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
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
