-- One page of the model calls of one project, newest first.
-- agent, model, role, user_id, session_id and not_…; all other parameters, and the assumptions of the list: see
-- decisions_page.sql.
SELECT
    toString(event_id) AS event_id,
    occurred_at,
    agent_name,
    model,
    provider,
    operation,
    input_tokens,
    output_tokens,
    cached_input_tokens,
    reasoning_tokens,
    duration_ms,
    cost_usd,
    finish_reason,
    error_type,
    role,
    user_id,
    session_id,
    project_id,
    received_at
FROM llm_invocations
WHERE project_id = {project_id: String}
    AND toDate(occurred_at) IN {days: Array(Date)}
    AND occurred_at >= {since: DateTime64(3, 'UTC')}
    AND occurred_at < {before: DateTime64(3, 'UTC')}
    AND ({until: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at <= {until: Nullable(DateTime64(3, 'UTC'))}) -- optional: until
    AND ({until: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at < {until: Nullable(DateTime64(3, 'UTC'))} OR event_id < {until_id: Nullable(String)}) -- optional: until
    AND (empty({agent: Array(String)}) OR agent_name IN {agent: Array(String)}) -- optional: agent
    AND agent_name NOT IN {not_agent: Array(String)} -- optional: not_agent
    AND (empty({model: Array(String)}) OR model IN {model: Array(String)}) -- optional: model
    AND model NOT IN {not_model: Array(String)} -- optional: not_model
    AND (empty({role: Array(String)}) OR role IN {role: Array(String)}) -- optional: role
    AND role NOT IN {not_role: Array(String)} -- optional: not_role
    AND (empty({user_id: Array(String)}) OR user_id IN {user_id: Array(String)}) -- optional: user_id
    AND user_id NOT IN {not_user_id: Array(String)} -- optional: not_user_id
    AND (empty({session_id: Array(String)}) OR session_id IN {session_id: Array(String)}) -- optional: session_id
    AND session_id NOT IN {not_session_id: Array(String)} -- optional: not_session_id
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
