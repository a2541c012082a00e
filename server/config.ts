import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { directoryFault } from './make-directory.ts';
import { isAddressRange } from './http/address-range.ts';

export type ClickHouseConfig = { url: string; username: string; password: string; database: string };

export type Config = {
  host: string;
  port: number;
  dataDir: string;
  /** `1` makes the demo with its fleet, `project` without. */
  demo: (typeof DEMO_CHOICES)[number];
  clickhouse: ClickHouseConfig | undefined;
  cluster: string | undefined;
  signingKey: string | undefined;
  retiredSigningKeys: string[];
  readAuth: 'open' | 'required';
  serviceName: string;
  dashboardUrl: string;
  /** Proxies whose X-Forwarded-For is believed: addresses, or ranges as 10.0.0.0/8. */
  trustedProxies: string[];
  emailFrom: string | undefined;
  mailerApiKey: string | undefined;
  mailerSmtpUrl: string;
  logLevel: string;
  batchRowsMax: number;
  queueRowsMax: number;
  workers: number;
};

/** Lists everything that is wrong with the environment, one line a fault. */
export class ConfigError extends Error {
  constructor(faults: string[]) {
    super(`The configuration is not valid:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const DEMO_CHOICES = ['0', '1', 'project'] as const;
const SEED_BYTES = 32;

type Environment = Record<string, string | undefined>;

/** Reads one variable after the other and collects what is wrong, so that all faults come in one message. */
class Reader {
  readonly faults: string[] = [];
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  /** An empty variable counts as unset. */
  text(name: string): string | undefined {
    const value = this.#env[name];
    return value === undefined || value === '' ? undefined : value;
  }

  integer(name: string, fallback: number, { min, max }: { min: number; max: number }): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    this.faults.push(`${name} is "${text}"; it must be a whole number from ${min} to ${max}`);
    return fallback;
  }

  choice<T extends string>(name: string, fallback: T, allowed: readonly T[]): T {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const found = allowed.find((value) => value === text);
    if (found !== undefined) return found;
    this.faults.push(`${name} is "${text}"; it must be one of ${allowed.join(', ')}`);
    return fallback;
  }

  /** The URL's value is never printed: it may carry a password. */
  url(name: string, protocols: string[]): URL | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url !== undefined && protocols.includes(url.protocol) && url.hostname !== '') return url;
    this.faults.push(`${name} must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    return undefined;
  }
}

function readClickHouse(read: Reader): ClickHouseConfig | undefined {
  const url = read.url('GATE_CLICKHOUSE_URL', ['http:', 'https:']);
  if (url === undefined) return undefined;
  const [database, username, password] = [url.pathname.slice(1), url.username, url.password].map(decoded);
  if (database === undefined || username === undefined || password === undefined) {
    read.faults.push('GATE_CLICKHOUSE_URL has a % that begins no escape; a % itself is written %25');
    return undefined;
  }
  if (!/^(?:[A-Za-z_][A-Za-z0-9_]*)?$/.test(database)) {
    read.faults.push(
      'GATE_CLICKHOUSE_URL must name a database of letters, digits and _, as in http://host:8123/gatehouse',
    );
  }
  return {
    url: url.origin,
    username: username || 'default',
    password,
    database: database || 'default',
  };
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    // Not percent-encoding: the caller names the variable.
    return undefined;
  }
}

function isBytes32(base64: string): boolean {
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(base64) && Buffer.from(base64, 'base64').length === SEED_BYTES;
}

function readSigningKey(read: Reader): string | undefined {
  const text = read.text('GATE_SIGNING_KEY');
  if (text !== undefined && !isBytes32(text) && !isEd25519File(text)) {
    read.faults.push(
      'GATE_SIGNING_KEY must be the base64 of a 32-byte seed, or the path of a PKCS#8 PEM file with an Ed25519 key',
    );
  }
  return text;
}

function isEd25519File(path: string): boolean {
  try {
    return createPrivateKey(readFileSync(path)).asymmetricKeyType === 'ed25519';
  } catch {
    // No such file, or no key in it: the caller names the variable, and the value stays unsaid.
    return false;
  }
}

function readRetiredKeys(read: Reader): string[] {
  const keys = (read.text('GATE_SIGNING_KEYS_RETIRED') ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter(Boolean);
  keys.forEach((key, index) => {
    if (!isBytes32(key)) {
      read.faults.push(
        `GATE_SIGNING_KEYS_RETIRED entry ${index + 1} must be the base64 of a 32-byte public key`,
      );
    }
  });
  return keys;
}

function readCluster(read: Reader, clickhouse: ClickHouseConfig | undefined): string | undefined {
  const cluster = read.text('GATE_CLICKHOUSE_CLUSTER');
  if (cluster === undefined) return undefined;
  if (!/^[A-Za-z0-9_.-]+$/.test(cluster)) {
    read.faults.push('GATE_CLICKHOUSE_CLUSTER must be a cluster name of letters, digits, _, . and -');
  }
  if (clickhouse === undefined) read.faults.push('GATE_CLICKHOUSE_CLUSTER needs GATE_CLICKHOUSE_URL');
  return cluster;
}

function readWorkers(read: Reader, clickhouse: ClickHouseConfig | undefined): number {
  const workers = read.integer('GATE_WORKERS', 1, { min: 1, max: 256 });
  if (workers > 1 && clickhouse === undefined) {
    read.faults.push(
      'GATE_WORKERS is more than 1, but the embedded store belongs to one process: set GATE_CLICKHOUSE_URL or GATE_WORKERS=1',
    );
  }
  return workers;
}

function readTrustedProxies(read: Reader): string[] {
  const texts = (read.text('GATE_TRUSTED_PROXIES') ?? '').split(',');
  const proxies = texts.map((proxy) => proxy.trim()).filter(Boolean);
  if (!proxies.every(isAddressRange)) {
    read.faults.push('GATE_TRUSTED_PROXIES must list addresses or ranges, as in 127.0.0.1,10.0.0.0/8');
  }
  return proxies;
}

/** A name that may be one; whether it is an address of this machine shows when the service listens. */
function readHost(read: Reader): string {
  const host = read.text('GATE_HOST') ?? '127.0.0.1';
  if (isIP(host) === 0 && !/^(?=.{1,253}$)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?$/.test(host))
    read.faults.push(`GATE_HOST is "${host}"; it must be an address or a host name`);
  return host;
}

/** `isNeeded`: it holds the embedded store, and the root key where none is given. */
function readDataDir(read: Reader, isNeeded: boolean): string {
  const dataDir = read.text('GATE_DATA_DIR') ?? '.data';
  const fault = isNeeded ? directoryFault(dataDir) : undefined;
  if (fault !== undefined) read.faults.push(`GATE_DATA_DIR is "${dataDir}"; ${fault}`);
  return dataDir;
}

/** Mails carry links that begin with it. */
function readDashboardUrl(read: Reader): string {
  const url = read.url('GATE_DASHBOARD_URL', ['http:', 'https:']);
  if (url !== undefined && url.href !== url.origin + url.pathname)
    read.faults.push('GATE_DASHBOARD_URL must have no user, query or fragment: paths are put behind it');
  return (url?.href ?? 'http://localhost:8000').replace(/\/+$/, '');
}

function readServiceName(read: Reader): string {
  const name = read.text('GATE_SERVICE_NAME') ?? 'Gatehouse';
  // A line break in a mail subject would start a header of its own.
  if (/\p{Cc}/u.test(name) || name.length > 100) {
    read.faults.push('GATE_SERVICE_NAME must be at most 100 characters, none of them a control character');
  }
  return name;
}

/** Reads the whole environment of the service. The only reader of process.env; throws one ConfigError with every fault. */
export function readConfig(env: Environment = process.env): Config {
  const read = new Reader(env);
  const clickhouse = readClickHouse(read);
  const smtp = read.url('MAILER_SMTP_URL', ['smtp:', 'smtps:']);
  const demo = read.choice('GATE_DEMO', '0', DEMO_CHOICES);
  const config: Config = {
    host: readHost(read),
    port: read.integer('GATE_PORT', 8000, { min: 0, max: 65_535 }),
    dataDir: readDataDir(
      read,
      demo !== '0' || clickhouse === undefined || read.text('GATE_SIGNING_KEY') === undefined,
    ),
    demo,
    clickhouse,
    cluster: readCluster(read, clickhouse),
    signingKey: readSigningKey(read),
    retiredSigningKeys: readRetiredKeys(read),
    readAuth: read.choice('GATE_READ_AUTH', 'open', ['open', 'required']),
    serviceName: readServiceName(read),
    dashboardUrl: readDashboardUrl(read),
    trustedProxies: readTrustedProxies(read),
    emailFrom: read.text('GATE_EMAIL_FROM')?.trim(),
    mailerApiKey: read.text('MAILER_API_KEY'),
    mailerSmtpUrl: smtp?.href ?? 'smtps://resend@smtp.resend.com:465',
    logLevel: read.choice('GATE_LOG_LEVEL', 'info', LOG_LEVELS),
    batchRowsMax: read.integer('GATE_BATCH_ROWS_MAX', 5000, { min: 1, max: 100_000 }),
    queueRowsMax: read.integer('GATE_QUEUE_ROWS_MAX', 50_000, { min: 1, max: 10_000_000 }),
    workers: readWorkers(read, clickhouse),
  };
  if (read.faults.length > 0) throw new ConfigError(read.faults);
  return config;
}
