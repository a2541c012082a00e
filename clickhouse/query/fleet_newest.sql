-- The time up to which the demo fleet is filled; 1970 if it is empty.
-- project_id, now.
SELECT
    (SELECT max(occurred_at) FROM decisions WHERE project_id = {project_id: String}) AS decisions,
    (SELECT max(occurred_at) FROM llm_invocations WHERE project_id = {project_id: String}) AS llm_invocations,
    least(decisions, llm_invocations) > {now: DateTime64(3, 'UTC')} - INTERVAL 1 HOUR AS is_recent
