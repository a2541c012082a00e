-- What the reads need, kept inside the parts of decisions: an aggregate is built and merged together with its part,
-- so it can never disagree with the rows. Built when parts are merged, not when they are inserted: an insert costs what
-- it did, and what is not merged yet is small and recent and is read row by row.
--
-- by_day and by_hour answer whole days and whole hours; by_user and by_session find one user's or session's rows.
-- deduplicate_merge_projection_mode: a merge that drops a duplicate counts again what is left.

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
)
