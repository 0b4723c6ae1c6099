//! What every store must do: invariants S1 to S11 of docs/architecture.md as one suite of tests.
//!
//! Decision: the suite is ordinary code of this crate, so that a store of another crate runs the same tests. It knows nothing of any
//! implementation but whether it keeps what it was given ([`Fixture::keeps`]); a special case for one of them would mean that the
//! abstraction is wrong. [`store_contract!`](crate::store_contract) makes a test of each of its functions.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test support: a broken contract ends the test")]
#![allow(missing_docs, reason = "the tests' names are sentences")]

pub mod atomic;
pub mod crawls;
pub mod datasets;
pub mod dedup;
pub mod durable;
pub mod events;
mod given;
pub mod limits;
mod model;
pub mod order;
pub mod session_ends;
pub mod session_uses;
pub mod sessions;
pub mod sharing;
pub mod state;
pub mod statistics;
pub mod verdicts;
pub mod walk;

#[cfg(test)]
pub(crate) use given::{Crawl, ending, failed, items, page, pages, reason, retry_at, spec};

use crate::Store;
use async_trait::async_trait;
use std::sync::Arc;

/// A place for one store, empty at first.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// Opens the store in this place, with what the one before it left. Only after that one is dropped or closed.
    async fn open(&self) -> Arc<dyn Store>;

    /// Whether a store in this place finds what the one before it had committed.
    fn keeps(&self) -> bool;
}

/// Makes a test of every function of the contract. `$fixture` is an expression that gives a new [`Fixture`].
#[macro_export]
macro_rules! store_contract {
    ($fixture:expr) => {
        $crate::store_contract! { @tests $fixture;
            dedup::a_request_is_accepted_once_per_key_for_ever,
            dedup::a_pending_request_keeps_the_least_depth_that_it_was_found_at,
            dedup::an_outcome_tells_which_pending_rows_it_found_at_a_lesser_depth,
            dedup::a_lesser_depth_counts_however_large_it_is,
            dedup::a_key_is_known_when_its_outcome_is_committed_and_not_when_it_is_rejected,
            dedup::keys_are_known_to_their_own_crawl_alone_and_after_a_restart,
            dedup::a_standing_is_never_settled_where_to_enqueue_once_more_would_change_something,
            dedup::a_refused_request_occupies_no_key_and_is_counted_by_reason,
            dedup::where_a_request_stands_can_be_asked_by_its_key,
            order::within_a_site_priority_then_forefront_then_arrival,
            order::last_in_first_out_by_setting,
            order::a_changed_order_acts_on_what_is_accepted_from_then_on,
            order::a_window_says_whether_it_is_complete,
            order::ready_sites_come_by_head_and_by_turn,
            order::every_ready_site_is_first_by_turn_before_one_is_so_again,
            order::a_site_is_not_asked_before_its_time_whatever_comes_in_between,
            order::an_undue_request_is_not_ready_until_it_is_woken,
            order::waking_is_cut_at_its_limit_and_says_so,
            order::a_retried_and_a_moved_request_keep_their_rank,
            order::a_moved_request_may_have_to_wait_for_its_time,
            atomic::a_commit_with_a_stale_epoch_changes_nothing,
            atomic::a_lease_on_another_shard_decides_nothing,
            atomic::each_outcome_of_a_group_stands_or_falls_alone,
            atomic::a_decided_request_is_decided_for_ever,
            atomic::an_outcome_that_makes_no_sense_is_refused_alone,
            atomic::an_empty_group_commits,
            atomic::an_unknown_crawl_is_an_error_of_the_group,
            verdicts::a_handled_request_commits_all_its_effects,
            verdicts::a_failed_request_commits_its_effects_and_its_error,
            verdicts::a_retry_keeps_only_refusals,
            verdicts::a_skipped_request_keeps_its_reason,
            verdicts::a_moved_request_is_the_same_row_at_its_new_site,
            verdicts::the_second_request_of_a_label_to_end_at_a_page_is_skipped_without_effects,
            verdicts::a_finish_is_committed_once,
            verdicts::the_crawl_as_a_whole_may_want_things_often,
            verdicts::whoever_counts_for_the_store_is_not_believed,
            statistics::errors_of_retried_attempts_are_told_apart_from_those_of_failed_requests,
            statistics::the_first_error_of_a_kind_keeps_its_page_and_no_later_one_does,
            statistics::what_is_not_applied_keeps_no_page,
            statistics::errors_of_one_code_are_told_apart_by_place_and_words_and_not_by_what_varies,
            statistics::what_one_code_says_leaves_room_for_the_others,
            statistics::pages_are_kept_of_so_many_kinds_and_no_more,
            statistics::the_least_and_the_most_are_those_of_all_outcomes_in_any_order,
            statistics::the_time_of_a_duplicate_is_that_of_an_attempt_which_finished_nothing,
            statistics::the_state_is_shown_as_far_as_there_is_room,
            limits::the_outcome_that_crosses_a_limit_is_kept_whole_and_the_rest_stays_pending,
            limits::requests_are_limited_by_those_that_ended,
            limits::a_limit_counts_what_earlier_openings_did,
            limits::made_up_codes_do_not_grow_without_end,
            state::operations_are_applied_in_order,
            state::an_operation_costs_what_it_brings_and_not_what_is_there,
            state::a_read_of_a_key_that_changed_is_a_conflict_whatever_the_verdict,
            state::a_read_of_an_absent_key_conflicts_with_its_appearance,
            state::a_listing_conflicts_with_keys_that_come_and_go_alone,
            state::writes_without_reads_never_conflict,
            state::a_call_that_saw_what_a_lost_one_wrote_is_caught,
            state::an_operation_that_does_not_fit_changes_nothing_of_its_outcome,
            state::a_value_that_is_written_as_it_was_has_not_changed,
            state::auto_saved_values_are_checked_as_state_and_listed_apart,
            state::the_record_that_an_auto_saved_value_begins_with_is_checked,
            datasets::a_cursor_reads_every_row_once_in_order,
            datasets::a_slice_is_cut_at_its_bytes_and_says_more,
            datasets::the_same_page_gives_the_same_ids,
            datasets::a_key_value_pair_is_written_replaced_and_removed,
            datasets::a_sink_keeps_its_place,
            crawls::a_new_crawl_is_fresh_and_clean,
            crawls::a_crawl_that_was_not_closed_has_crashed,
            crawls::a_closed_crawl_tells_how_it_ended,
            crawls::a_crawl_that_dropped_fetches_says_so_until_it_is_closed_without,
            crawls::looking_for_a_crawl_refuses_as_opening_does_and_changes_nothing,
            crawls::another_plugin_is_refused_and_another_digest_is_an_upgrade,
            crawls::another_choice_of_site_is_refused,
            crawls::a_refused_opening_changes_nothing,
            crawls::a_suspect_that_crashes_the_host_three_times_is_failed,
            crawls::a_request_without_a_mark_is_never_counted,
            crawls::a_mark_goes_with_the_outcome_and_with_a_close_of_either_kind,
            crawls::a_stale_lease_marks_nobody,
            crawls::what_a_plugin_says_of_its_crawl_is_kept,
            sharing::crawls_share_named_things_and_nothing_else,
            sharing::crawls_of_one_store_do_not_touch_each_other,
            events::an_event_waits_until_it_was_heard_once,
            events::what_is_not_applied_emits_nothing,
            events::what_is_done_on_a_passing_event_is_told_apart_each_time,
            events::an_event_is_heard_though_a_limit_is_reached,
            events::events_outlive_an_opening_and_belong_to_their_crawl,
            events::an_event_is_the_crawls_own_and_has_no_verdict,
            events::an_event_that_crashes_the_host_three_times_is_given_up,
            events::only_a_crash_inside_its_mark_counts_against_an_event,
            session_ends::a_session_is_added_with_the_page_that_adds_it_or_not_at_all,
            session_ends::an_id_that_is_taken_refuses_its_outcome_alone,
            session_ends::that_a_session_is_over_is_told_once_whatever_ends_it,
            session_ends::an_outcome_that_is_refused_tells_of_no_session,
            session_ends::what_a_limit_defers_tells_that_its_session_is_over,
            session_ends::sessions_that_are_taken_away_for_their_age_are_told_of_before,
            session_ends::a_crawl_that_is_finished_is_told_of_no_session_any_more,
            session_ends::a_crawl_that_goes_on_after_its_finish_is_told_of_sessions,
            session_uses::uses_are_given_out_once_and_never_more_than_there_may_be,
            session_uses::what_was_reserved_and_not_reported_counts_as_used_when_the_pool_is_opened_again,
            session_uses::a_kill_between_reserving_and_committing_forgets_no_use,
            session_uses::uses_that_were_not_begun_are_taken_back,
            session_uses::whoever_lost_the_crawl_changes_nothing_in_its_pool,
            session_uses::an_opening_settles_all_sessions_and_gives_the_newest,
            sessions::a_session_comes_back_as_it_was_written,
            sessions::deltas_come_to_the_same_in_every_order,
            sessions::a_use_counts_whatever_the_verdict,
            sessions::an_outcome_that_changes_nothing_changes_no_session,
            sessions::pools_are_told_apart_and_named_ones_are_shared,
            sessions::sessions_that_are_over_are_taken_away_in_pieces,
            sessions::marks_that_reach_the_maximum_score_together_retire_a_session_for_good,
            sessions::the_session_of_an_outcome_that_a_limit_defers_was_used,
            sessions::cookies_of_a_session_are_bounded_whatever_sites_send,
            sessions::a_session_that_is_gone_is_no_reason_to_refuse_an_outcome,
            durable::what_was_committed_is_there_after_a_kill,
            durable::what_was_closed_is_there_and_clean,
            durable::a_closed_store_says_so,
            walk::a_random_walk_agrees_with_a_model_in_maps,
        }
    };
    (@tests $fixture:expr; $($part:ident :: $name:ident),* $(,)?) => {
        $(
            #[tokio::test]
            async fn $name() {
                $crate::contract::$part::$name(&$fixture).await;
            }
        )*
    };
}
