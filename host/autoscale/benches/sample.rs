//! What a sample costs, each second: alone, with children, and as sysinfo takes it.

use nephila_autoscale::{AutoscaleSettings, Vitals};
use std::process::{Child, Command};

fn main() {
    divan::main();
}

/// As much as a crawl may hold.
fn ballast() -> Vec<u8> {
    let mut ballast = vec![0_u8; 300 << 20];
    ballast.iter_mut().step_by(1_024).for_each(|byte| *byte = 1);
    ballast
}

struct Children(Vec<Child>);

impl Children {
    fn start(count: usize) -> Self {
        Self((0..count).filter_map(|_| Command::new("sleep").arg("600").spawn().ok()).collect())
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[divan::bench(args = [0, 1, 20])]
fn sample_with_children(bencher: divan::Bencher<'_, '_>, children: usize) {
    let ballast = ballast();
    let children = Children::start(children);
    let mut vitals = Vitals::new(&AutoscaleSettings::default());
    bencher.bench_local(|| vitals.sample());
    drop((ballast, children));
}

#[divan::bench]
fn first_sample(bencher: divan::Bencher<'_, '_>) {
    let ballast = ballast();
    bencher.bench_local(|| Vitals::new(&AutoscaleSettings::default()));
    drop(ballast);
}

#[divan::bench]
fn as_sysinfo_takes_it(bencher: divan::Bencher<'_, '_>) {
    use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};
    let ballast = ballast();
    let Ok(mut system) = System::new() else { return };
    bencher.bench_local(|| {
        system.refresh_memory();
        system.refresh_cpu_usage();
        let kind = ProcessRefreshKind::nothing().with_memory().with_cpu();
        system.refresh_processes_specifics(ProcessesToUpdate::All, true, kind)
    });
    drop(ballast);
}
