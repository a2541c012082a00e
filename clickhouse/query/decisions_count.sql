-- How many records match the filters of decisions_page. A filter that is NULL does not filter; '' selects the empty value.
SELECT count() AS total
FROM decisions FINAL
WHERE project_id = {project_id: String}
    AND occurred_at >= {since: DateTime64(3, 'UTC')}
    AND ({agent: Nullable(String)} IS NULL OR agent_name = {agent: Nullable(String)})
    AND ({role: Nullable(String)} IS NULL OR role = {role: Nullable(String)})
    AND ({outcome: Nullable(String)} IS NULL OR toString(outcome) = {outcome: Nullable(String)})
    AND ({tool: Nullable(String)} IS NULL OR tool_name = {tool: Nullable(String)})
    AND ({user_id: Nullable(String)} IS NULL OR user_id = {user_id: Nullable(String)})
    AND ({session_id: Nullable(String)} IS NULL OR session_id = {session_id: Nullable(String)})
SETTINGS do_not_merge_across_partitions_select_final = 1
