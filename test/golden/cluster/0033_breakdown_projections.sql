ALTER TABLE decisions_rows ON CLUSTER 'fleet' ADD PROJECTION IF NOT EXISTS counts_by_day
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

ALTER TABLE decisions_rows ON CLUSTER 'fleet' ADD PROJECTION IF NOT EXISTS counts_by_hour
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

ALTER TABLE decisions_rows ON CLUSTER 'fleet' MATERIALIZE PROJECTION counts_by_day SETTINGS mutations_sync = 0;

ALTER TABLE decisions_rows ON CLUSTER 'fleet' MATERIALIZE PROJECTION counts_by_hour SETTINGS mutations_sync = 0;

ALTER TABLE decisions_rows ON CLUSTER 'fleet' DROP PROJECTION IF EXISTS by_day, DROP PROJECTION IF EXISTS by_hour SETTINGS alter_sync = 0
