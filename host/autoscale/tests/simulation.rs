//! The controller in whole systems, in simulated time: it settles near what a system can do, stays there, follows when the system
//! changes, and never stops the crawl.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod world;

use world::{Scatter, Simulation, World};

const MINUTE: usize = 60;

/// Lets it settle, and checks that it stays: few changes, all of them trials of one stride.
fn settle(simulation: &mut Simulation, minutes: usize, band: std::ops::RangeInclusive<usize>) {
    let from = simulation.seconds.len() + minutes * MINUTE;
    simulation.run((minutes + 20) * MINUTE);
    let settled = simulation.median_limit(from);
    assert!(band.contains(&settled), "{settled} is not in {band:?}\n{}", simulation.story());
    let changes = simulation.changes(from);
    assert!(changes <= 30, "{changes} changes in 20 minutes\n{}", simulation.story());
    for second in &simulation.seconds[from..] {
        assert!(
            (1..=2 * settled + 1).contains(&second.limit) && 3 * second.limit >= settled,
            "{}\n{}",
            second.limit,
            simulation.story()
        );
    }
}

#[test]
fn beyond_a_knee_where_more_do_less_it_comes_down_to_the_knee() {
    let world = World { knee: 16.0, steepness: 2.0, ..World::default() };
    let mut simulation = Simulation::new(world, 1, 64);
    settle(&mut simulation, 5, 11..=20);
    let best = 16.0 / 0.2;
    assert!(simulation.throughput(5 * MINUTE) > 0.85 * best, "{}\n{}", simulation.throughput(5 * MINUTE), simulation.story());
}

#[test]
fn beyond_a_knee_where_more_do_as_much_it_comes_down_to_the_knee() {
    for (knee, most) in [(16.0, 64), (4.0, 200), (50.0, 64)] {
        let world = World { knee, steepness: 1.0, ..World::default() };
        let mut simulation = Simulation::new(world, 1, most);
        let band = (knee * 0.7) as usize..=(knee * 1.45) as usize;
        settle(&mut simulation, 10, band);
        let best = knee / 0.2;
        assert!(
            simulation.throughput(10 * MINUTE) > 0.85 * best,
            "{}\n{}",
            simulation.throughput(10 * MINUTE),
            simulation.story()
        );
    }
}

#[test]
fn without_a_knee_all_that_are_allowed_stay_in_flight() {
    for scatter in [Scatter::None, Scatter::Even, Scatter::Exponential] {
        for answer in [0.05, 0.5, 5.0] {
            let mut simulation = Simulation::new(World { answer, scatter, ..World::default() }, 1, 64);
            settle(&mut simulation, 5, 64..=64);
            let mean = simulation.mean_limit(0);
            assert!(mean > 62.0, "{mean} {scatter:?} {answer}\n{}", simulation.story());
        }
    }
}

#[test]
fn a_busy_processor_alone_changes_nothing() {
    let mut simulation = Simulation::new(World { looks_busy: true, ..World::default() }, 1, 64);
    settle(&mut simulation, 5, 64..=64);
    assert!(simulation.mean_limit(0) > 63.0, "{}", simulation.story());
}

#[test]
fn half_a_processor_gets_as_many_as_it_can_serve() {
    // 25 pages a second are all that it can do; 8 in flight would be enough for that, if none waited for another.
    let world = World { answer: 0.3, work: 0.02, processors: 0.5, scatter: Scatter::Exponential, ..World::default() };
    let mut simulation = Simulation::new(world, 1, 64);
    settle(&mut simulation, 15, 6..=26);
    assert!(simulation.throughput(15 * MINUTE) > 0.85 * 25.0, "{}\n{}", simulation.throughput(15 * MINUTE), simulation.story());
}

#[test]
fn memory_stays_below_its_limit_and_the_concurrency_below_what_it_bears() {
    // Requests grow while the crawl runs, from 2 to 30 MB: at first all 64 fit, and in the end 16.
    let world = World { memory: 512.0, holds: 2.0, answer: 1.0, ..World::default() };
    let mut simulation = Simulation::new(world, 1, 64);
    for _ in 0..140 {
        simulation.run(1);
        simulation.world.holds += 0.2;
    }
    assert!(simulation.peak_memory(0) < 512.0, "{}\n{}", simulation.peak_memory(0), simulation.story());
    settle(&mut simulation, 5, 12..=30);
    assert!(simulation.peak_memory(0) < 512.0, "{}\n{}", simulation.peak_memory(0), simulation.story());
}

#[test]
fn half_a_processor_and_half_a_gigabyte_let_it_settle_and_never_stop() {
    // All 32 would just fit into memory, and 8 keep the processor busy.
    let world = World { memory: 512.0, holds: 12.0, answer: 0.3, work: 0.02, processors: 0.5, ..World::default() };
    let mut simulation = Simulation::new(world, 1, 32);
    settle(&mut simulation, 10, 6..=16);
    assert!(simulation.seconds[10..].iter().all(|second| second.completed > 0), "{}", simulation.story());
    assert!(simulation.throughput(10 * MINUTE) > 0.85 * 25.0, "{}", simulation.story());
    assert!(simulation.peak_memory(0) < 512.0, "{}\n{}", simulation.peak_memory(0), simulation.story());
}

#[test]
fn a_sudden_want_of_memory_is_answered_within_seconds_and_forgotten_in_minutes() {
    let world = World { memory: 512.0, holds: 4.0, answer: 0.5, ..World::default() };
    let mut simulation = Simulation::new(world, 1, 64);
    simulation.run(2 * MINUTE);
    assert_eq!(simulation.settled(), 64);
    // Somebody else takes most of it.
    simulation.world.base = 400.0;
    simulation.run(10);
    assert!(simulation.settled() <= 32, "{}", simulation.story());
    assert!(simulation.peak_memory(simulation.seconds.len() - 3) < 480.0, "{}", simulation.story());
    simulation.run(5 * MINUTE);
    simulation.world.base = 20.0;
    simulation.run(10 * MINUTE);
    assert_eq!(simulation.settled(), 64, "{}", simulation.story());
}

#[test]
fn memory_that_never_suffices_lets_the_least_go_on() {
    let world = World { memory: 100.0, base: 99.0, answer: 0.2, ..World::default() };
    let mut simulation = Simulation::new(world, 3, 64);
    simulation.run(10 * MINUTE);
    assert_eq!(simulation.settled(), 3);
    assert!(simulation.seconds.iter().all(|second| second.limit >= 3 && second.completed > 0));
    assert!(simulation.throughput(MINUTE) > 14.0);
}

#[test]
fn when_the_knee_moves_it_follows_up_and_down() {
    let world = World { knee: 10.0, steepness: 2.0, ..World::default() };
    let mut simulation = Simulation::new(world, 1, 64);
    settle(&mut simulation, 10, 7..=13);
    simulation.world.knee = 40.0;
    settle(&mut simulation, 15, 28..=50);
    simulation.world.knee = 10.0;
    settle(&mut simulation, 10, 7..=13);
}

#[test]
fn when_load_drops_it_recovers() {
    // Another program takes three quarters of the processors for half an hour.
    let world = World { answer: 0.5, work: 0.02, processors: 0.5, ..World::default() };
    let mut simulation = Simulation::new(world, 1, 64);
    simulation.run(30 * MINUTE);
    assert!((9..=32).contains(&simulation.settled()), "{}", simulation.story());
    simulation.world.processors = 2.0;
    simulation.run(10 * MINUTE);
    // 2 processors do 100 pages a second, and need 52 in flight for that.
    assert!(simulation.settled() >= 40, "{}", simulation.story());
    assert!(simulation.throughput(35 * MINUTE) > 80.0, "{}", simulation.story());
}

#[test]
fn when_sites_become_slow_more_go_in_flight_again() {
    let world = World { answer: 0.2, work: 0.02, processors: 1.0, ..World::default() };
    let mut simulation = Simulation::new(world, 1, 100);
    simulation.run(15 * MINUTE);
    assert!((9..=25).contains(&simulation.settled()), "{}", simulation.story());
    simulation.world.answer = 2.0;
    simulation.run(10 * MINUTE);
    assert!(simulation.settled() >= 70, "{}", simulation.story());
}

#[test]
fn what_politeness_holds_back_says_nothing_about_concurrency() {
    let mut simulation = Simulation::new(World { ready: 20.0, ..World::default() }, 1, 64);
    simulation.run(60 * MINUTE);
    assert_eq!(simulation.changes(0), 0, "{}", simulation.story());
}

#[test]
fn a_slow_crawl_is_not_shrunk_by_chance() {
    // Three pages a second, as irregular as they come.
    let world = World { answer: 5.0, scatter: Scatter::Exponential, ..World::default() };
    let mut simulation = Simulation::new(world, 1, 16);
    simulation.run(120 * MINUTE);
    assert_eq!(simulation.settled(), 16, "{}", simulation.story());
    assert!(simulation.mean_limit(0) > 14.5, "{}\n{}", simulation.mean_limit(0), simulation.story());
}

#[test]
fn one_at_a_time_is_possible_and_zero_is_not() {
    let mut simulation = Simulation::new(World { knee: 1.0, steepness: 2.0, ..World::default() }, 1, 8);
    settle(&mut simulation, 15, 1..=2);
    let mut simulation = Simulation::new(World::default(), 1, 1);
    simulation.run(10 * MINUTE);
    assert!(simulation.seconds.iter().all(|second| second.limit == 1 && second.completed > 0));
}
