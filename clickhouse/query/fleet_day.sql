-- Writes one day of the demo fleet's decisions. Rows depend only on (seed, day, row number), so equal seeds give equal
-- fleets. Their senders and numbers depend on the insert.
--
-- project_id, seed, day, rows; since, until: only rows in between are written; users: number of users (Zipf); flush: the
-- number of this insert.
-- fleet: JSON with hours (24 shares of the day, cumulative), agents, agent_shares (cumulative), agent_versions, tool_counts and
-- roles of each agent (the most common first), the number of variants of a call, calls (each with its place, names, arguments
-- and decision), and incidents, in which an agent calls its last tool with its last role: incident_agents (from 1),
-- incident_from, incident_to (seconds of the day), incident_rates.
-- Each agent is one sender. The second one drops five events; one event of the fifth is lost in transit.
INSERT INTO decisions
(
    project_id, event_id, occurred_at, received_at, agent_name, agent_version_id, tool_name, outcome, role,
    error_type, reason, violations, hint, arguments, user_id, session_id, version, salt, emitter, sequence, dropped, flush
)
WITH
    drawn AS
    (
        WITH
            JSONExtract({fleet: String}, 'agent_shares', 'Array(Float64)') AS agent_shares,
            JSONExtract({fleet: String}, 'roles', 'Array(Array(String))') AS roles,
            JSONExtract({fleet: String}, 'tool_counts', 'Array(UInt32)') AS tool_counts,
            JSONExtractUInt({fleet: String}, 'variants') AS variants,
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
            intHash64(h + 10) / 18446744073709551616. AS u_variant,
            arrayFirstIndex(share -> u_agent < share, agent_shares) AS agent,
            arrayFirstIndex(share -> u_hour < share, hours) AS hour,
            (hour - 1 + u_second) * 3600 AS second,
            tool_counts[agent] AS tool_count,
            length(roles[agent]) AS role_count,
            toDateTime64({day: Date}, 3, 'UTC') + toIntervalMillisecond(toUInt32(second * 1000)) AS occurred,
            arrayMax(arrayMap(
                (who, since, until, rate) -> if(who = agent AND second >= since AND second < until, rate, 0.),
                incident_agents, incident_from, incident_to,
                incident_rates
            )) AS incident_rate,
            u_incident < incident_rate AS is_incident,
            if(is_incident, tool_count, toUInt32(floor(tool_count * u_tool * u_tool)) + 1) AS tool,
            if(is_incident, role_count, toUInt32(floor(role_count * u_role * u_role)) + 1) AS role,
            toUInt32(floor(variants * u_variant * u_variant)) + 1 AS variant,
            15 + intHash64(h + 9) % 400 AS delay_ms,
            occurred + toIntervalMillisecond(delay_ms) AS received,
            toUInt32(pow({users: UInt32}, u_user)) AS person
        SELECT
            h,
            agent,
            role,
            tool,
            variant,
            hour,
            occurred,
            received,
            person,
            row_number() OVER (PARTITION BY agent ORDER BY occurred, number) AS place
        FROM numbers({rows: UInt64})
        WHERE occurred > {since: DateTime64(3, 'UTC')} AND occurred <= {until: DateTime64(3, 'UTC')}
    ),
    calls AS
    (
        SELECT arrayJoin(JSONExtract({fleet: String}, 'calls', $$Array(Tuple(
            agent UInt32, role UInt32, tool UInt32, variant UInt32,
            role_name String, tool_name String, arguments String,
            outcome String, reason String, violations Array(String), hint String
        ))$$)) AS call
    )
SELECT
    {project_id: String},
    reinterpretAsUUID(concat(
        reinterpretAsFixedString(bitOr(bitAnd(intHash64(h + 7), 0xFFFFFFFFFFFF0FFF), 0x4000)),
        reinterpretAsFixedString(bitOr(bitAnd(intHash64(h + 8), 0x3FFFFFFFFFFFFFFF), 0x8000000000000000))
    )),
    occurred,
    received,
    JSONExtract({fleet: String}, 'agents', 'Array(String)')[agent],
    JSONExtract({fleet: String}, 'agent_versions', 'Array(String)')[agent],
    call.tool_name,
    call.outcome,
    call.role_name,
    multiIf(call.outcome = 'deny', 'policy_denied', call.outcome = 'needs_approval', 'approval_required', ''),
    call.reason,
    call.violations,
    call.hint,
    replaceAll(call.arguments, '{n}', toString(10000 + h % 90000)),
    if(h % 20 = 0, '', concat('user-', leftPad(toString(person), 6, '0'))),
    concat('session-', lower(hex(sipHash64({seed: UInt64}, person, {day: Date}, hour)))),
    -- As in server/ingest/event-row.ts: counts down with received_at; the low bits break ties.
    (toUInt64(4398046511104) - toUnixTimestamp64Milli(received)) * 2048 + h % 2048,
    reinterpretAsUUID(concat(
        reinterpretAsFixedString(intHash64(sipHash64(h, 'salt'))),
        reinterpretAsFixedString(intHash64(sipHash64(h, 'log')))
    )),
    reinterpretAsUUID(concat(
        reinterpretAsFixedString(intHash64(sipHash64({flush: UInt64}, {project_id: String}, agent))),
        reinterpretAsFixedString(intHash64(sipHash64({flush: UInt64}, {project_id: String}, agent, 'emitter')))
    )),
    place,
    if(agent = 2 AND place > 104, 5, 0),
    {flush: UInt64}
FROM drawn
INNER JOIN calls ON agent = call.agent AND role = call.role AND tool = call.tool AND variant = call.variant
WHERE NOT (agent = 2 AND place BETWEEN 100 AND 104) AND NOT (agent = 5 AND place = 60)
