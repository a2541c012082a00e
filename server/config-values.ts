import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseVerifierKey, type VerifierKey, verifierKeyFrom } from '../client/proof/index.ts';
import type { ClickHouseConfig } from './config.ts';
import { isAddressRange } from './http/address-range.ts';
import { type Role, ROLES } from './rights.ts';
import { createParser } from './validate.ts';
import { Type } from './type.ts';

/** The memberships that each group of the OpenID Connect provider gives. */
export type GroupRoles = Record<string, { project_id: string; role: Role }[]>;

/** A witness of the logs: the base URL of its calls, and the key of its cosignatures. */
export type Witness = { url: URL; key: VerifierKey };

const parseGroupRoles = createParser<GroupRoles>(
  Type.Record(
    Type.String(),
    Type.Array(Type.Object({ project_id: Type.String({ minLength: 1 }), role: Type.Enum([...ROLES]) })),
  ),
);

// Each function reads the text of one variable, or throws an error that says what is wrong. No message holds a value that may be
// secret.

export function integer(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new Error(`is "${text}"; it must be a whole number from ${min} to ${max}`);
  };
}

export function oneOf<T extends string>(allowed: readonly T[]) {
  return (text: string): T => {
    const found = allowed.find((value) => value === text);
    if (found !== undefined) return found;
    throw new Error(`is "${text}"; it must be one of ${allowed.join(', ')}`);
  };
}

export function listOf<T>(parse: (text: string) => T) {
  return (text: string): T[] =>
    text
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean)
      .map(parse);
}

function url(...protocols: string[]) {
  return (text: string): URL => {
    const parsed = URL.canParse(text) ? new URL(text) : undefined;
    if (parsed === undefined || !protocols.includes(parsed.protocol))
      throw new Error(`must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    if (parsed.hostname === '') throw new Error(`must name a host, as in ${protocols[0]}//host`);
    return parsed;
  };
}

const webUrl = url('http:', 'https:');

export function smtpUrl(text: string): string {
  const { href, username, password } = url('smtp:', 'smtps:')(text);
  for (const part of [username, password]) decoded(part);
  return href;
}

export function clickhouseUrl(text: string): ClickHouseConfig {
  const { origin, pathname, username, password } = webUrl(text);
  const database = decoded(pathname.slice(1));
  if (!/^(?:[A-Za-z_][A-Za-z0-9_]*)?$/.test(database))
    throw new Error('must name a database of letters, digits and _, as in http://host:8123/gatehouse');
  return {
    url: origin,
    username: decoded(username) || 'default',
    password: decoded(password),
    database: database || 'default',
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Error('has a % that is not part of an escape; write %25 for a literal %');
  }
}

/** The base of the links in mails. */
export function dashboardUrl(text: string): string {
  const { href, origin, pathname } = webUrl(text);
  if (href === origin + pathname) return href.replace(/\/+$/, '');
  throw new Error('must have no user, query or fragment, because paths are appended to it');
}

/** It receives codes and secrets, so it must be https, except on this machine. */
export function issuer(text: string): URL {
  const parsed = webUrl(text);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(parsed.hostname);
  if (parsed.protocol === 'https:' || isLocal) return parsed;
  throw new Error('must begin with https://');
}

/** `{ "group": [{ "project_id": "…", "role": "…" }] }` as JSON. */
export function groupRoles(text: string): GroupRoles {
  try {
    return parseGroupRoles(JSON.parse(text));
  } catch {
    throw new Error(
      `must be JSON such as {"group": [{"project_id": "…", "role": "editor"}]}, with a role of ${ROLES.join(', ')}`,
    );
  }
}

export function clusterName(text: string): string {
  if (/^[A-Za-z0-9_.-]+$/.test(text)) return text;
  throw new Error('must be a cluster name of letters, digits, _, . and -');
}

/** The syntax only: whether this machine has the address is known when the service listens. */
export function hostName(text: string): string {
  if (isIP(text) !== 0 || /^(?=.{1,253}$)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?$/.test(text)) return text;
  throw new Error(`is "${text}"; it must be an address or a host name`);
}

export function addressRange(text: string): string {
  if (isAddressRange(text)) return text;
  throw new Error('must list addresses or ranges, as in 127.0.0.1,10.0.0.0/8');
}

export function signingKey(text: string): string {
  if (isBytes32(text) || isEd25519File(text)) return text;
  throw new Error(
    'must be the base64 of a 32-byte seed, or the path of a PKCS#8 PEM file with an Ed25519 key',
  );
}

export function publicKey(text: string): string {
  if (isBytes32(text)) return text;
  throw new Error('must list the base64 of 32-byte public keys');
}

function isBytes32(base64: string): boolean {
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(base64) && Buffer.from(base64, 'base64').length === 32;
}

function isEd25519File(path: string): boolean {
  try {
    return createPrivateKey(readFileSync(path)).asymmetricKeyType === 'ed25519';
  } catch {
    // The system's own message would repeat the value.
    return false;
  }
}

/** `<url> <verifier key>`. Lists of witnesses often state the key with the type of an ordinary signature, but it is the same key. */
export function witness(text: string): Witness {
  const [address = '', key = '', ...others] = text.split(/ +/);
  try {
    if (others.length > 0) throw new Error('a part too many');
    const { name, publicKey } = parseVerifierKey(key);
    return { url: webUrl(address), key: verifierKeyFrom({ name, type: 'cosignature', publicKey }) };
  } catch (cause) {
    throw new Error('must list witnesses as <url> <verifier key>, separated by commas', { cause });
  }
}

/** RFC 6750 section 2.1. */
export function bearerToken(text: string): string {
  if (/^[\w.~+/-]+=*$/.test(text)) return text;
  throw new Error('must consist of letters, digits and - . _ ~ + /, as a bearer token does');
}

export function serviceName(text: string): string {
  // A line break in a mail subject would start another header.
  if (!/\p{Cc}/u.test(text) && text.length <= 100) return text;
  throw new Error('must be at most 100 characters, none of them a control character');
}
