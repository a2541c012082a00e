-- Answers a breakdown by error_type as well, with the first and the last time of each value. They take the place of by_day and
-- by_hour, whose columns they have: the reads of an earlier version use them, too.
-- Existing parts get them in the background. Until then reads of many days come from rows, exact but slower. The removal stands last:
-- on a cluster, a change of a table right behind one that nobody waited for may be refused.
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
