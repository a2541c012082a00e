-- Aggregates for the reads, kept inside the parts of the event tables, so that they always agree with the rows. Merges
-- build them and inserts do not; parts that are not merged yet are small and are read row by row.
--
-- by_day, by_hour and series answer whole days and whole hours; by_user counts one user's rows; the two indexes find
-- the rows of a rare user or session.
-- deduplicate_merge_projection_mode: a merge that drops a duplicate counts the remaining rows again.
-- lightweight_mutation_projection_mode: see 0024_no_deleted_rows_in_parts.sql.

ALTER TABLE decisions MODIFY SETTING
    materialize_projections_on_insert = 0,
    materialize_projections_on_merge = 1,
    deduplicate_merge_projection_mode = 'rebuild',
    lightweight_mutation_projection_mode = 'rebuild';

ALTER TABLE decisions ADD PROJECTION IF NOT EXISTS by_day
(
    SELECT
        project_id,
        toDate(occurred_at),
        agent_name,
        role,
        tool_name,
        outcome,
        count()
    GROUP BY
        project_id,
        toDate(occurred_at),
        agent_name,
        role,
        tool_name,
        outcome
);

ALTER TABLE decisions ADD PROJECTION IF NOT EXISTS by_hour
(
    SELECT
        project_id,
        toStartOfHour(occurred_at),
        agent_name,
        role,
        tool_name,
        outcome,
        count()
    GROUP BY
        project_id,
        toStartOfHour(occurred_at),
        agent_name,
        role,
        tool_name,
        outcome
);

ALTER TABLE decisions ADD PROJECTION IF NOT EXISTS series
(
    SELECT
        project_id,
        toStartOfHour(occurred_at),
        outcome,
        count()
    GROUP BY
        project_id,
        toStartOfHour(occurred_at),
        outcome
);

ALTER TABLE decisions ADD PROJECTION IF NOT EXISTS by_user
(
    SELECT
        project_id,
        user_id,
        occurred_at,
        agent_name,
        role,
        tool_name,
        outcome
    ORDER BY
        project_id,
        user_id,
        occurred_at
);

ALTER TABLE decisions ADD INDEX IF NOT EXISTS of_user user_id TYPE bloom_filter(0.01) GRANULARITY 1;

ALTER TABLE decisions ADD INDEX IF NOT EXISTS of_session session_id TYPE bloom_filter(0.01) GRANULARITY 1;

ALTER TABLE llm_invocations MODIFY SETTING
    materialize_projections_on_insert = 0,
    materialize_projections_on_merge = 1,
    deduplicate_merge_projection_mode = 'rebuild',
    lightweight_mutation_projection_mode = 'rebuild';

-- Sums that cannot overflow and do not depend on the order of the rows: whole numbers, money in 10^-12 dollars.
ALTER TABLE llm_invocations ADD PROJECTION IF NOT EXISTS usage_by_hour
(
    SELECT
        project_id,
        toStartOfHour(occurred_at),
        agent_name,
        model,
        count(),
        sum(toUInt128(input_tokens)),
        sum(toUInt128(output_tokens)),
        sum(toUInt128(cached_input_tokens)),
        sum(toUInt128(reasoning_tokens)),
        sum(toInt256(round(least(ifNull(cost_usd, 0), 1e30) * 1e12)))
    GROUP BY
        project_id,
        toStartOfHour(occurred_at),
        agent_name,
        model
)
