-- The current alert settings of projects.
-- project_id: of one project; null for all that have a rule on.
SELECT
    project_id,
    denials,
    new_names,
    silence,
    muted_until,
    webhook_url,
    webhook_secret,
    version
FROM alert_settings FINAL
WHERE ({project_id: Nullable(String)} IS NULL OR project_id = {project_id: Nullable(String)})
    AND ({project_id: Nullable(String)} IS NOT NULL OR denials OR new_names OR silence)
ORDER BY project_id
