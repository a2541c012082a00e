-- One page of the records of one project, newest first.
-- project_id; since: records with occurred_at from here on; days: the days on which the page lies.
-- until, until_id: only what comes after this record in the order of the list; limit, offset: counted from there.
-- agent, role, outcome, tool, user_id, session_id: '' selects the empty value (SPECIFICATION 4.5).
-- A condition whose Nullable parameter is null is left out (server/store/idle-conditions.ts).
-- Ties of occurred_at go by event_id as text: ClickHouse would order UUIDs by their halves.
-- is_final: whether a row may be stored twice on those days until their parts are merged.
-- The wide columns are read for the page alone.
SELECT
    toString(event_id) AS event_id,
    occurred_at,
    agent_name,
    tool_name,
    outcome,
    role,
    error_type,
    reason,
    violations,
    hint,
    arguments,
    user_id,
    session_id,
    project_id,
    agent_version_id,
    received_at
FROM decisions
WHERE project_id = {project_id: String}
    AND toDate(occurred_at) IN {days: Array(Date)}
    AND occurred_at >= {since: DateTime64(3, 'UTC')}
    AND occurred_at <= {until: Nullable(DateTime64(3, 'UTC'))}
    AND (occurred_at < {until: Nullable(DateTime64(3, 'UTC'))} OR event_id < {until_id: Nullable(String)})
    AND agent_name = {agent: Nullable(String)}
    AND role = {role: Nullable(String)}
    AND toString(outcome) = {outcome: Nullable(String)}
    AND tool_name = {tool: Nullable(String)}
    AND user_id = {user_id: Nullable(String)}
    AND session_id = {session_id: Nullable(String)}
ORDER BY
    occurred_at DESC,
    event_id DESC
LIMIT {limit: UInt32} OFFSET {offset: UInt32}
SETTINGS
    final = {is_final: UInt8},
    do_not_merge_across_partitions_select_final = 1,
    query_plan_max_limit_for_lazy_materialization = 20000,
    use_skip_indexes_on_data_read = 0,
    use_top_k_dynamic_filtering = 0
