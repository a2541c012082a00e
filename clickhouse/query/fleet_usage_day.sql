-- Writes one day of the demo fleet's model calls, like fleet_day.sql.
-- project_id, seed, day, rows, since, until, users; fleet: JSON with hours, agents, agent_shares, agent_versions, roles,
-- and models and model_prices (dollars per million tokens) of each agent.
INSERT INTO llm_invocations
(
    project_id, event_id, occurred_at, received_at, agent_name, agent_version_id, model, provider, operation,
    input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, duration_ms, cost_usd, finish_reason,
    role, user_id, session_id, version
)
WITH
    JSONExtract({fleet: String}, 'hours', 'Array(Float64)') AS hours,
    JSONExtract({fleet: String}, 'agents', 'Array(String)') AS agents,
    JSONExtract({fleet: String}, 'agent_shares', 'Array(Float64)') AS agent_shares,
    JSONExtract({fleet: String}, 'agent_versions', 'Array(String)') AS agent_versions,
    JSONExtract({fleet: String}, 'roles', 'Array(Array(String))') AS roles,
    JSONExtract({fleet: String}, 'models', 'Array(String)') AS models,
    JSONExtract({fleet: String}, 'model_prices', 'Array(Float64)') AS model_prices,
    sipHash64({seed: UInt64}, {day: Date}, number, 'usage') AS h,
    intHash64(h) / 18446744073709551616. AS u_agent,
    intHash64(h + 1) / 18446744073709551616. AS u_hour,
    intHash64(h + 2) / 18446744073709551616. AS u_second,
    intHash64(h + 3) / 18446744073709551616. AS u_size,
    intHash64(h + 4) / 18446744073709551616. AS u_user,
    arrayFirstIndex(share -> u_agent < share, agent_shares) AS agent,
    arrayFirstIndex(share -> u_hour < share, hours) AS hour,
    toDateTime64({day: Date}, 3, 'UTC') + toIntervalMillisecond(toUInt32((hour - 1 + u_second) * 3600000)) AS occurred,
    occurred + toIntervalMillisecond(15 + h % 400) AS received,
    toUInt32(300 * exp(3 * u_size)) AS input,
    toUInt32(40 * exp(2 * u_size)) AS output,
    toUInt32(pow({users: UInt32}, u_user)) AS person
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
    models[agent],
    splitByChar('-', models[agent])[1],
    'chat',
    input,
    output,
    if(h % 3 = 0, intDiv(input, 2), 0),
    if(h % 5 = 0, intDiv(output, 3), 0),
    toUInt32(200 + output * 12),
    round((input + 4 * output) * model_prices[agent] / 1e6, 6),
    if(h % 40 = 0, 'length', 'stop'),
    roles[agent][1],
    if(h % 20 = 0, '', concat('user-', leftPad(toString(person), 6, '0'))),
    concat('session-', lower(hex(sipHash64({seed: UInt64}, person, {day: Date}, hour)))),
    (toUInt64(4398046511104) - toUnixTimestamp64Milli(received)) * 2048 + h % 2048
FROM numbers({rows: UInt64})
WHERE occurred > {since: DateTime64(3, 'UTC')} AND occurred <= {until: DateTime64(3, 'UTC')}
