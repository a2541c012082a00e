const ENTITY_TAG = /(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;
/** Tags with commas between them (RFC 9110 sections 5.6.1 and 8.8.3). An element may be empty. */
const LIST = new RegExp(`^(?:[ \\t,]|${ENTITY_TAG.source}(?=[ \\t]*(?:,|$)))*$`);

/** The tags that a conditional header lists, as matches of ENTITY_TAG; none if the header is malformed. */
function entityTags(header: string): RegExpExecArray[] {
  return LIST.test(header) ? [...header.matchAll(ENTITY_TAG)] : [];
}

/** The single ETag that a conditional header names, without W/; undefined for a list, `*` and anything else. */
export function singleEntityTag(header: string): string | undefined {
  const [first, second] = entityTags(header);
  return second === undefined ? first?.[2] : undefined;
}

/**
 * Whether a conditional header (RFC 9110 sections 13.1.1 and 13.1.2) names this ETag: `*`, or a list, with or without W/. Written by hand,
 * because Express's own check answers "not fresh" to Node's fetch, which adds Cache-Control: no-cache. `strong`, for If-Match: a weak tag
 * does not match.
 */
export function etagMatches(header: string, etag: string, comparison: 'weak' | 'strong' = 'weak'): boolean {
  if (header.trim() === '*') return true;
  return entityTags(header).some(
    ([, weak, tag]) => tag === etag && (weak === undefined || comparison === 'weak'),
  );
}
