"""Fewer cases of expensive tests in the gate: every k-th of their parameters; `make long` runs all of them.

Each of these tests states one claim for many settings, and every setting alone can refute it. The first case is always
among those that run. The list is by name, and `tests/promises/test_gate.py` checks that each name is there once.
"""

from collections import defaultdict

import pytest

EVERY = {
    "test_500_conditions_keep_the_same_rows": 2,
    "test_a_fine_lattice_by_gauss_rules_is_the_whole_sum": 4,
    "test_a_format_changes_no_answer": 2,
    "test_a_histogram_is_that_of_the_array": 3,
    "test_a_long_ladder_follows_its_law": 3,
    "test_a_notebook_runs": 2,
    "test_a_table_answers_as_the_function_does_on_its_column": 3,
    "test_a_tally_is_that_of_the_array": 4,
    "test_a_type_gives_the_same_answers_from_every_engine": 2,
    "test_a_user_with_half_of_the_rows_costs_no_more_than_is_stated": 3,
    "test_all_draws_are_known": 2,
    "test_all_groups_together_cost_no_more_than_is_stated": 3,
    "test_all_places_together_cost_their_levels": 12,
    "test_an_epsilon_at_a_delta_holds": 3,
    "test_answers_follow_the_law_that_is_audited": 2,
    "test_answers_follow_their_law": 12,
    "test_answers_stay_near_the_data_where_records_suffice": 6,
    "test_any_bytes_are_read_as_by_a_loop_over_characters": 2,
    "test_broken_mechanisms_are_caught_by_runs": 3,
    "test_bugs_are_caught_at_a_delta": 3,
    "test_bugs_planted_in_programs_are_found": 6,
    "test_columns_may_have_any_name": 4,
    "test_counts_under_add_remove_with_the_threshold_moving": 4,
    "test_describe_pays_for_every_decision": 3,
    "test_describe_pays_for_every_decision_at_each_number_of_statistics": 2,
    "test_deviations_from_the_first_answer_cost_their_level": 2,
    "test_draws_match_the_law_and_reject_one_10_percent_off": 3,
    "test_equal_groups_follow_the_law_and_reject_an_epsilon_10_percent_off": 3,
    "test_equal_groups_in_a_frame_answer_as_one_does": 3,
    "test_error_bars_hold": 2,
    "test_every_claim_of_code_as_it_runs_holds": 6,
    "test_every_claim_of_the_quick_table_holds": 5,
    "test_every_engine_makes_the_same_tally": 6,
    "test_every_form_gives_the_answer_that_is_expected": 4,
    "test_every_group_has_the_answer_of_the_scalar_code": 8,
    "test_forked_processes_get_the_answers_of_their_parent": 2,
    "test_it_costs_epsilon": 3,
    "test_monotonic_streams_keep_their_epsilon_and_use_it_up": 3,
    "test_more_epsilon_never_errs_more": 8,
    "test_more_records_never_err_more": 2,
    "test_no_column_tells_of_a_record": 3,
    "test_no_engine_is_poisoned": 2,
    "test_no_group_tells_of_a_row": 2,
    "test_no_other_method_or_share_has_much_less_noise": 2,
    "test_no_table_has_another_type_with_a_record_more": 2,
    "test_no_table_tells_of_a_row": 2,
    "test_no_table_tells_of_a_user": 2,
    "test_places_follow_the_joint_law": 3,
    "test_planted_bugs_are_caught": 4,
    "test_processes_get_no_more_than_there_is": 2,
    "test_pure_composition_is_that_of_randomised_response": 3,
    "test_queries_of_every_scale_cost_what_is_claimed": 3,
    "test_rho_holds": 3,
    "test_samples_of_quantiles_pass_for_epsilon": 8,
    "test_samples_of_sums_pass_for_epsilon_and_fail_beyond": 2,
    "test_sides_compose_as_the_package_composes_their_laws": 2,
    "test_some_transcript_tells_nearly_what_was_charged": 6,
    "test_sums_lie_on_a_lattice_that_the_release_tells": 3,
    "test_sums_means_and_counts_pay_for_every_decision": 4,
    "test_that_many_rows_are_enough_and_half_are_not": 2,
    "test_the_answer_is_not_ten_times_too_large": 3,
    "test_the_average_costs_what_it_says": 2,
    "test_the_command_says_so_of_any_query": 2,
    "test_the_epsilon_asked_for_is_charged": 4,
    "test_the_error_is_the_same_at_every_location": 2,
    "test_the_error_is_the_same_in_every_unit": 2,
    "test_the_inverse_undoes_the_forecast": 5,
    "test_the_law_of_a_clip_is_that_of_the_search": 2,
    "test_the_loop_and_the_sampler_have_the_law_on_paper": 3,
    "test_the_loss_of_every_transcript_is_within_what_was_charged": 6,
    "test_the_maximum_exceeds_ten_times_the_true_one_with_probability_below_1e_4": 3,
    "test_the_minimum_of_minus_x_is_minus_the_maximum_of_x_in_law": 3,
    "test_the_parts_of_every_plan_cost_no_more_than_is_charged": 2,
    "test_the_power_is_what_the_docs_say": 2,
    "test_the_rho_asked_for_is_all_but_spent": 2,
    "test_the_rows_of_a_unit_are_the_same_wherever_they_lie": 4,
    "test_the_same_answers_from_every_kind_of_table": 2,
    "test_the_share_is_within_five_points_for_a_twentieth_of_epsilon": 6,
    "test_threads_get_the_answers_of_one_thread": 6,
    "test_three_levels_cost_three_levels": 2,
    "test_uqe_has_the_law_of_algorithm_2": 4,
    "test_vectors_pay_for_every_decision": 3,
    "test_walks_outward_cost_no_more_than_choices": 6,
    "test_what_is_called_answered_is_answered": 2,
    "test_what_is_said_of_a_rung_holds_by_exact_laws": 4,
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-cases", action="store_true", help="run all cases of expensive tests")
    parser.addoption("--heaviest", type=int, default=0, help="name this many tests that took most processor time")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the cases between each k-th of the tests listed; a test that is named on the command line runs whole."""
    if config.getoption("--all-cases") or any("::" in given for given in config.args):
        return
    seen: dict[tuple[str, str], int] = defaultdict(int)
    kept, left = [], []
    for item in items:
        name = getattr(item, "originalname", item.name)
        place = seen[str(item.path), name]
        seen[str(item.path), name] += 1
        (left if place % EVERY.get(name, 1) else kept).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept
