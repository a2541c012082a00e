-- A page of an export: the same rows as decisions_page, each as a line of the export, with its place in the list.
-- Parameters as there, without offset; format: ndjson (a record a line), csv (RFC 4180, formulas made inert by ') or
-- proofs (event_id, salt, entry in the log, and received_at in milliseconds: 36, 16, 32 and 13 bytes). The engine
-- builds the lines, so that an export does not fill the memory of the service.
WITH
    text -> if(isValidASCII(text) AND isValidASCII({q: Array(String)}[1]), positionCaseInsensitive(text, {q: Array(String)}[1]) > 0, match(text, concat('(?i)', regexpQuoteMeta({q: Array(String)}[1])))) AS contains_q, -- optional: q
    concat(
        '{"event_id":"', event_id, '"',
        ',"occurred_at":"', replaceOne(toString(occurred_at), ' ', 'T'), 'Z"',
        ',"agent_name":', toJSONString(agent_name),
        ',"tool_name":', toJSONString(tool_name),
        ',"outcome":"', toString(outcome), '"',
        ',"role":', toJSONString(role),
        ',"error_type":', toJSONString(error_type),
        ',"reason":', toJSONString(reason),
        ',"violations":', toJSONString(violations),
        ',"hint":', if(hint = '', 'null', hint),
        ',"arguments":', if(arguments = '', 'null', arguments),
        ',"user_id":', toJSONString(user_id),
        ',"session_id":', toJSONString(session_id),
        ',"project_id":', toJSONString(project_id),
        ',"agent_version_id":', toJSONString(agent_version_id),
        ',"received_at":"', replaceOne(toString(received_at), ' ', 'T'), 'Z"',
        '}'
    ) AS ndjson
SELECT
    toUnixTimestamp64Milli(occurred_at) AS occurred_ms,
    event_id,
    multiIf(
        {format: String} = 'csv',
        concat(arrayStringConcat(arrayMap(
            cell -> if(match(cell, '[",\\r\\n]'), concat('"', replaceAll(cell, '"', '""'), '"'), cell),
            arrayMap(cell -> if(match(cell, '^[=+@\\t\\r\\n＝＋－＠-]'), concat('\'', cell), cell), [
                event_id,
                concat(replaceOne(toString(occurred_at), ' ', 'T'), 'Z'),
                toString(agent_name),
                toString(tool_name),
                toString(outcome),
                toString(role),
                toString(error_type),
                toString(reason),
                toJSONString(violations),
                if(hint = '', 'null', hint),
                if(arguments = '', 'null', arguments),
                toString(user_id),
                toString(session_id),
                toString(project_id),
                toString(agent_version_id),
                concat(replaceOne(toString(received_at), ' ', 'T'), 'Z')
            ])
        ), ','), '\r\n'),
        {format: String} = 'proofs',
        concat(
            event_id,
            UUIDToNum(salt),
            SHA256(concat(UUIDToNum(salt), ndjson)),
            leftPad(toString(toUnixTimestamp64Milli(received_at)), 13, '0')
        ),
        concat(ndjson, '\n')
    ) AS line
FROM
(
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
        received_at,
        salt
    FROM decisions
    WHERE project_id = {project_id: String}
        AND toDate(occurred_at) IN {days: Array(Date)}
        AND occurred_at >= {since: DateTime64(3, 'UTC')}
        AND occurred_at < {before: DateTime64(3, 'UTC')}
        AND ({until: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at <= {until: Nullable(DateTime64(3, 'UTC'))}) -- optional: until
        AND ({until: Nullable(DateTime64(3, 'UTC'))} IS NULL OR occurred_at < {until: Nullable(DateTime64(3, 'UTC'))} OR toString(event_id) < {until_id: Nullable(String)}) -- optional: until
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
        toString(event_id) DESC
    LIMIT {limit: UInt32}
)
ORDER BY
    occurred_at DESC,
    event_id DESC
SETTINGS
    final = {is_final: UInt8},
    do_not_merge_across_partitions_select_final = 1,
    query_plan_max_limit_for_lazy_materialization = 20000,
    output_format_json_escape_forward_slashes = 0,
    max_block_size = 8192
FORMAT RowBinary
