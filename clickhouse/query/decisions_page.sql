-- One page of the records of one project, newest first.
-- project_id; since: records with occurred_at from here on; days: the days on which the page lies.
-- until, until_id: only what comes after this record in the order of the list; limit, offset: counted from there.
-- agent, role, outcome, tool, user_id, session_id: null does not filter, '' selects the empty value.
-- optional: where that parameter is null or an empty list, every row meets the condition, and the service drops it.
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
    AND ({until: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at <= {until: Nullable(DateTime64(3, 'UTC'))}) -- optional: until
    AND ({until: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at < {until: Nullable(DateTime64(3, 'UTC'))} OR event_id < {until_id: Nullable(String)}) -- optional: until
    AND ({agent: Nullable(String)} IS NULL OR agent_name = {agent: Nullable(String)}) -- optional: agent
    AND ({role: Nullable(String)} IS NULL OR role = {role: Nullable(String)}) -- optional: role
    AND ({outcome: Nullable(String)} IS NULL OR toString(outcome) = {outcome: Nullable(String)}) -- optional: outcome
    AND ({tool: Nullable(String)} IS NULL OR tool_name = {tool: Nullable(String)}) -- optional: tool
    AND ({user_id: Nullable(String)} IS NULL OR user_id = {user_id: Nullable(String)}) -- optional: user_id
    AND ({session_id: Nullable(String)} IS NULL OR session_id = {session_id: Nullable(String)}) -- optional: session_id
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
