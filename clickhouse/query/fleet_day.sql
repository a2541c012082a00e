-- Writes one day of the demo fleet's decisions. Rows depend on (seed, day, row number) only, so equal seeds give equal fleets.
--
-- project_id, seed, day, rows; since, until: only rows in between are written; users: number of users (Zipf); flush: the
-- number of this insert.
-- fleet: JSON with hours (24 shares of the day, cumulative), agents, agent_shares (cumulative), agent_versions, tools and
-- roles of each agent (the most common first), outcomes, reasons, violations and hints by agent, role and tool, and
-- incidents, in which an agent calls its last tool with its last role: incident_agents (from 1), incident_from,
-- incident_to (seconds of the day), incident_rates.
INSERT INTO decisions
(
    project_id, event_id, occurred_at, received_at, agent_name, agent_version_id, tool_name, outcome, role,
    error_type, reason, violations, hint, arguments, user_id, session_id, version, salt, flush
)
WITH
    JSONExtract({fleet: String}, 'agents', 'Array(String)') AS agents,
    JSONExtract({fleet: String}, 'agent_shares', 'Array(Float64)') AS agent_shares,
    JSONExtract({fleet: String}, 'agent_versions', 'Array(String)') AS agent_versions,
    JSONExtract({fleet: String}, 'tools', 'Array(Array(String))') AS tools,
    JSONExtract({fleet: String}, 'roles', 'Array(Array(String))') AS roles,
    JSONExtract({fleet: String}, 'outcomes', 'Array(Array(Array(String)))') AS outcomes,
    JSONExtract({fleet: String}, 'reasons', 'Array(Array(Array(String)))') AS reasons,
    JSONExtract({fleet: String}, 'violations', 'Array(Array(Array(Array(String))))') AS violations_of,
    JSONExtract({fleet: String}, 'hints', 'Array(Array(Array(String)))') AS hints,
    JSONExtract({fleet: String}, 'hours', 'Array(Float64)') AS hours,
    JSONExtract({fleet: String}, 'incident_agents', 'Array(UInt32)') AS incident_agents,
    JSONExtract({fleet: String}, 'incident_from', 'Array(Float64)') AS incident_from,
    JSONExtract({fleet: String}, 'incident_to', 'Array(Float64)') AS incident_to,
    JSONExtract({fleet: String}, 'incident_rates', 'Array(Float64)') AS incident_rates,
    sipHash64({seed: UInt64}, {day: Date}, number) AS h,
    intHash64(h) / 18446744073709551616. AS u_agent,
    intHash64(h + 1) / 18446744073709551616. AS u_tool,
    intHash64(h + 2) / 18446744073709551616. AS u_role,
    intHash64(h + 3) / 18446744073709551616. AS u_hour,
    intHash64(h + 4) / 18446744073709551616. AS u_second,
    intHash64(h + 5) / 18446744073709551616. AS u_incident,
    intHash64(h + 6) / 18446744073709551616. AS u_user,
    arrayFirstIndex(share -> u_agent < share, agent_shares) AS agent,
    arrayFirstIndex(share -> u_hour < share, hours) AS hour,
    (hour - 1 + u_second) * 3600 AS second,
    tools[agent] AS agent_tools,
    roles[agent] AS agent_roles,
    toDateTime64({day: Date}, 3, 'UTC') + toIntervalMillisecond(toUInt32(second * 1000)) AS occurred,
    arrayMax(arrayMap(
        (who, since, until, rate) -> if(who = agent AND second >= since AND second < until, rate, 0.),
        incident_agents, incident_from, incident_to,
        incident_rates
    )) AS incident_rate,
    u_incident < incident_rate AS is_incident,
    if(is_incident, length(agent_tools), toUInt32(floor(length(agent_tools) * u_tool * u_tool)) + 1) AS tool,
    if(is_incident, length(agent_roles), toUInt32(floor(length(agent_roles) * u_role * u_role)) + 1) AS role_at,
    outcomes[agent][role_at][tool] AS result,
    15 + intHash64(h + 9) % 400 AS delay_ms,
    occurred + toIntervalMillisecond(delay_ms) AS received,
    toUInt32(pow({users: UInt32}, u_user)) AS person,
    concat('user-', leftPad(toString(person), 6, '0')) AS user
SELECT
    {project_id: String},
    reinterpretAsUUID(concat(
        reinterpretAsFixedString(bitOr(bitAnd(intHash64(h + 7), 0xFFFFFFFFFFFF0FFF), 0x4000)),
        reinterpretAsFixedString(bitOr(bitAnd(intHash64(h + 8), 0x3FFFFFFFFFFFFFFF), 0x8000000000000000))
    )),
    occurred,
    received,
    agents[agent],
    agent_versions[agent],
    agent_tools[tool],
    result,
    agent_roles[role_at],
    multiIf(result = 'deny', 'policy_denied', result = 'needs_approval', 'approval_required', ''),
    reasons[agent][role_at][tool],
    violations_of[agent][role_at][tool],
    hints[agent][role_at][tool],
    concat('{"query":"order ', toString(10000 + h % 90000), '","limit":', toString(10 + h % 5 * 10), ',"dry_run":', if(h % 7 = 0, 'true', 'false'), '}'),
    if(h % 20 = 0, '', user),
    concat('session-', lower(hex(sipHash64({seed: UInt64}, person, {day: Date}, hour)))),
    -- As in server/ingest/event-row.ts: counts down with received_at; the low bits break ties.
    (toUInt64(4398046511104) - toUnixTimestamp64Milli(received)) * 2048 + h % 2048,
    reinterpretAsUUID(concat(
        reinterpretAsFixedString(intHash64(sipHash64(h, 'salt'))),
        reinterpretAsFixedString(intHash64(sipHash64(h, 'log')))
    )),
    {flush: UInt64}
FROM numbers({rows: UInt64})
WHERE occurred > {since: DateTime64(3, 'UTC')} AND occurred <= {until: DateTime64(3, 'UTC')}
