-- Answers a breakdown by error_type as well, with the first and the last time of each value. They replace by_day and
-- by_hour and have their columns, so the reads of an earlier version use them, too.
-- Existing parts get them in the background. Until then reads of many days come from rows, exact but slower. The removal comes last:
-- on a cluster, a table may refuse a change while an earlier change that was not waited for is running.
ALTER TABLE decisions ADD PROJECTION IF NOT EXISTS counts_by_day
(
    SELECT
        project_id,
        toDate(occurred_at),
        agent_name,
        role,
        tool_name,
        outcome,
        error_type,
        count(),
        min(occurred_at),
        max(occurred_at)
    GROUP BY
        project_id,
        toDate(occurred_at),
        agent_name,
        role,
        tool_name,
        outcome,
        error_type
);

ALTER TABLE decisions ADD PROJECTION IF NOT EXISTS counts_by_hour
(
    SELECT
        project_id,
        toStartOfHour(occurred_at),
        agent_name,
        role,
        tool_name,
        outcome,
        error_type,
        count(),
        min(occurred_at),
        max(occurred_at)
    GROUP BY
        project_id,
        toStartOfHour(occurred_at),
        agent_name,
        role,
        tool_name,
        outcome,
        error_type
);

ALTER TABLE decisions MATERIALIZE PROJECTION counts_by_day SETTINGS mutations_sync = 0;

ALTER TABLE decisions MATERIALIZE PROJECTION counts_by_hour SETTINGS mutations_sync = 0;

ALTER TABLE decisions DROP PROJECTION IF EXISTS by_day, DROP PROJECTION IF EXISTS by_hour SETTINGS alter_sync = 0
