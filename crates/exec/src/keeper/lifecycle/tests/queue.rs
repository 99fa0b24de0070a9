//! Waiting for a turn.

use crate::keeper::lifecycle::{Queue, may_add_job};

#[test]
fn executions_start_in_order_while_fewer_run_than_may() {
    let mut queue = Queue::default();
    (1..=4).for_each(|run| queue.push(run));
    assert_eq!(queue.next(|_| Some(2), || 0), Some(1));
    assert_eq!(queue.next(|_| Some(2), || 1), Some(2));
    assert_eq!(queue.next(|_| Some(2), || 2), None);
    assert_eq!(queue.next(|_| Some(2), || 3), None);
    assert_eq!(queue.next(|_| Some(2), || 1), Some(3), "it kept its place");
    assert_eq!(queue.next(|_| Some(2), || 0), Some(4));
    assert_eq!(queue.next(|_| Some(2), || 0), None);
}

#[test]
fn a_maximum_of_zero_means_one() {
    let mut queue = Queue::default();
    queue.push(1);
    assert_eq!(queue.next(|_| Some(0), || 1), None);
    assert_eq!(queue.next(|_| Some(0), || 0), Some(1));
}

#[test]
fn the_first_in_the_queue_delays_the_others() {
    let mut queue = Queue::default();
    queue.push(1);
    queue.push(2);
    let max_running = |run| Some(if run == 1 { 1 } else { 9 });
    assert_eq!(queue.next(max_running, || 1), None, "2 could start, and would overtake 1");
    assert_eq!(queue.next(max_running, || 0), Some(1));
    assert_eq!(queue.next(max_running, || 1), Some(2));
}

#[test]
fn executions_that_are_gone_are_skipped() {
    let mut queue = Queue::default();
    (1..=3).for_each(|run| queue.push(run));
    let max_running = |run| (run == 3).then_some(1);
    assert_eq!(queue.next(max_running, || 1), None);
    assert_eq!(queue.next(max_running, || 0), Some(3));
}

#[test]
fn jobs_are_counted() {
    for (jobs, max_jobs, may) in [(0, 0, false), (0, 1, true), (1, 1, false), (7, 8, true), (9, 8, false)] {
        assert_eq!(may_add_job(jobs, max_jobs), may, "{jobs} of {max_jobs}");
    }
}
