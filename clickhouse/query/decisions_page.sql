-- One page of the records of one project, newest first.
-- project_id; since, before: records with since <= occurred_at < before; days: the days of the page.
-- until, until_id: only records after this one in the order of the list; limit, offset: counted from there.
-- agent, role, outcome, tool, user_id, session_id, reason and not_…: see summary.sql; q: see decisions_over_time.sql.
-- optional: if that parameter is null or an empty list, every row meets the condition, and the service drops it.
-- Records with the same occurred_at are ordered by event_id as text, because ClickHouse would order UUIDs by their
-- halves.
-- is_final: whether a row may be stored twice on those days until their parts are merged.
-- The wide columns are read for the page only.
WITH text -> if(isValidASCII(text) AND isValidASCII({q: Array(String)}[1]), positionCaseInsensitive(text, {q: Array(String)}[1]) > 0, match(text, concat('(?i)', regexpQuoteMeta({q: Array(String)}[1])))) AS contains_q -- optional: q
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
    AND occurred_at < {before: DateTime64(3, 'UTC')}
    AND ({until: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at <= {until: Nullable(DateTime64(3, 'UTC'))}) -- optional: until
    AND ({until: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at < {until: Nullable(DateTime64(3, 'UTC'))} OR event_id < {until_id: Nullable(String)}) -- optional: until
    AND (empty({agent: Array(String)}) OR agent_name IN {agent: Array(String)}) -- optional: agent
    AND agent_name NOT IN {not_agent: Array(String)} -- optional: not_agent
    AND (empty({role: Array(String)}) OR role IN {role: Array(String)}) -- optional: role
    AND role NOT IN {not_role: Array(String)} -- optional: not_role
    AND (empty({outcome: Array(String)}) OR outcome IN {outcome: Array(String)}) -- optional: outcome
    AND outcome NOT IN {not_outcome: Array(String)} -- optional: not_outcome
    AND (empty({tool: Array(String)}) OR tool_name IN {tool: Array(String)}) -- optional: tool
    AND tool_name NOT IN {not_tool: Array(String)} -- optional: not_tool
    AND (empty({user_id: Array(String)}) OR user_id IN {user_id: Array(String)}) -- optional: user_id
    AND user_id NOT IN {not_user_id: Array(String)} -- optional: not_user_id
    AND (empty({session_id: Array(String)}) OR session_id IN {session_id: Array(String)}) -- optional: session_id
    AND session_id NOT IN {not_session_id: Array(String)} -- optional: not_session_id
    AND (empty({reason: Array(String)}) OR reason IN {reason: Array(String)}) -- optional: reason
    AND reason NOT IN {not_reason: Array(String)} -- optional: not_reason
    AND (empty({q: Array(String)}) OR contains_q(reason) OR contains_q(arguments)) -- optional: q
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
