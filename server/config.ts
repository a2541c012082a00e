import { directoryFault } from './make-directory.ts';
import * as value from './config-values.ts';
import { readTls, type TlsFiles } from './http/tls.ts';

export type ClickHouseConfig = { url: string; username: string; password: string; database: string };

const DASHBOARD_URL = 'http://localhost:8000';
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const DEMO_CHOICES = ['0', '1', 'project'] as const;
const REGISTRATION_CHOICES = ['open', 'closed'] as const;
const READ_AUTH_CHOICES = ['open', 'required'] as const;

/** The OpenID Connect provider for single sign-on. */
export type OidcConfig = {
  issuer: URL;
  clientId: string;
  clientSecret: string;
  groups: value.GroupRoles;
  groupsClaim: string;
};

export type Config = {
  host: string;
  port: number;
  /** Undefined: the listener speaks plaintext HTTP. */
  tls: TlsFiles | undefined;
  dataDir: string;
  /** `1` creates the demo with its fleet, `project` without it. */
  demo: (typeof DEMO_CHOICES)[number];
  clickhouse: ClickHouseConfig | undefined;
  cluster: string | undefined;
  signingKey: string | undefined;
  retiredSigningKeys: string[];
  /** Signs the checkpoints of the logs. Undefined: the key is in the data directory. */
  logKey: string | undefined;
  witnesses: value.Witness[];
  /** Days until a signed bundle expires; undefined: never. */
  bundleDaysMax: number | undefined;
  readAuth: (typeof READ_AUTH_CHOICES)[number];
  /** The bearer token that GET /metrics requires. */
  metricsToken: string | undefined;
  registration: (typeof REGISTRATION_CHOICES)[number];
  /** If false, only single sign-on is possible. */
  passwordLogin: boolean;
  oidc: OidcConfig | undefined;
  serviceName: string;
  dashboardUrl: string;
  /** Proxies whose X-Forwarded-For is trusted: addresses, or ranges such as 10.0.0.0/8. */
  trustedProxies: string[];
  emailFrom: string | undefined;
  mailerApiKey: string | undefined;
  mailerSmtpUrl: string;
  /** Webhooks may use private networks, and http on this machine. */
  webhookPrivate: boolean;
  logLevel: string;
  batchRowsMax: number;
  /** At most one insert per this many milliseconds has fewer than `batchRowsMin` rows. */
  batchIntervalMs: number;
  batchRowsMin: number;
  /** How long the server gathers the rows of all processes into one part; 0: each insert creates its own. */
  asyncInsertMs: number;
  queueRowsMax: number;
  workers: number;
};

export class ConfigError extends Error {
  constructor(faults: string[]) {
    super(`The configuration is not valid:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

type Environment = Record<string, string | undefined>;

/** The only reader of process.env. Throws one ConfigError that lists every fault. */
export function readConfig(env: Environment = process.env): Config {
  const faults: string[] = [];
  const text = (name: string) => env[name] || undefined;
  const read = <T>(name: string, parse: (text: string) => T): T | undefined => {
    const given = text(name);
    try {
      return given === undefined ? undefined : parse(given);
    } catch (error) {
      faults.push(`${name} ${(error as Error).message}`);
      return undefined;
    }
  };
  const readOidc = (): OidcConfig | undefined => {
    const issuer = read('GATE_OIDC_ISSUER', value.issuer);
    const groups = read('GATE_OIDC_GROUPS', value.groupRoles) ?? {};
    const [clientId, clientSecret] = [text('GATE_OIDC_CLIENT_ID'), text('GATE_OIDC_CLIENT_SECRET')];
    const names = ['GATE_OIDC_ISSUER', 'GATE_OIDC_CLIENT_ID', 'GATE_OIDC_CLIENT_SECRET'];
    const missing = names.filter((name) => text(name) === undefined);
    const given = names.filter((name) => !missing.includes(name));
    if (given.length > 0 && missing.length > 0)
      faults.push(`${given.join(' and ')} cannot be used without ${missing.join(' and ')}`);
    if (missing.length > 0)
      for (const name of ['GATE_OIDC_GROUPS', 'GATE_OIDC_GROUPS_CLAIM'].filter(text))
        faults.push(`${name} needs ${missing.join(' and ')}`);
    if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
    return {
      issuer,
      clientId,
      clientSecret,
      groups,
      groupsClaim: text('GATE_OIDC_GROUPS_CLAIM') ?? 'groups',
    };
  };
  /** The embedded store uses the defaults only. */
  const readForServer = (name: string, parse: (text: string) => number, byDefault: number) => {
    const given = read(name, parse) ?? byDefault;
    if (given !== byDefault && text('GATE_CLICKHOUSE_URL') === undefined)
      faults.push(`${name} needs GATE_CLICKHOUSE_URL`);
    return given;
  };
  const cluster = read('GATE_CLICKHOUSE_CLUSTER', value.clusterName);
  const asyncInsertMs = readForServer(
    'GATE_ASYNC_INSERT_MS',
    value.integer(0, 1000),
    cluster === undefined ? 0 : 125,
  );
  const config: Config = {
    host: read('GATE_HOST', value.hostName) ?? '127.0.0.1',
    port: read('GATE_PORT', value.integer(0, 65_535)) ?? 8000,
    tls: tlsFiles(text('GATE_TLS_CERT'), text('GATE_TLS_KEY')),
    dataDir: text('GATE_DATA_DIR') ?? '.data',
    demo: read('GATE_DEMO', value.oneOf(DEMO_CHOICES)) ?? '0',
    clickhouse: read('GATE_CLICKHOUSE_URL', value.clickhouseUrl),
    cluster,
    signingKey: read('GATE_SIGNING_KEY', value.signingKey),
    retiredSigningKeys: read('GATE_SIGNING_KEYS_RETIRED', value.listOf(value.publicKey)) ?? [],
    logKey: read('GATE_LOG_KEY', value.signingKey),
    witnesses: read('GATE_WITNESSES', value.listOf(value.witness)) ?? [],
    bundleDaysMax: read('GATE_BUNDLE_DAYS_MAX', value.integer(1, 3650)),
    readAuth: read('GATE_READ_AUTH', value.oneOf(READ_AUTH_CHOICES)) ?? 'open',
    metricsToken: read('GATE_METRICS_TOKEN', value.bearerToken),
    registration: read('GATE_REGISTRATION', value.oneOf(REGISTRATION_CHOICES)) ?? 'open',
    passwordLogin: read('GATE_PASSWORD_LOGIN', value.oneOf(['0', '1'])) !== '0',
    oidc: readOidc(),
    serviceName: read('GATE_SERVICE_NAME', value.serviceName) ?? 'Gatehouse',
    dashboardUrl: read('GATE_DASHBOARD_URL', value.dashboardUrl) ?? DASHBOARD_URL,
    trustedProxies: read('GATE_TRUSTED_PROXIES', value.listOf(value.addressRange)) ?? [],
    emailFrom: text('GATE_EMAIL_FROM')?.trim(),
    mailerApiKey: text('MAILER_API_KEY'),
    mailerSmtpUrl: read('MAILER_SMTP_URL', value.smtpUrl) ?? 'smtps://resend@smtp.resend.com:465',
    webhookPrivate: read('GATE_WEBHOOK_PRIVATE', value.oneOf(['0', '1'])) === '1',
    logLevel: read('GATE_LOG_LEVEL', value.oneOf(LOG_LEVELS)) ?? 'info',
    batchRowsMax:
      read('GATE_BATCH_ROWS_MAX', value.integer(1, 100_000)) ?? (asyncInsertMs > 0 ? 20_000 : 5000),
    batchIntervalMs: readForServer('GATE_BATCH_INTERVAL_MS', value.integer(0, 1000), 0),
    batchRowsMin: readForServer('GATE_BATCH_ROWS_MIN', value.integer(1, 100_000), 4000),
    asyncInsertMs,
    queueRowsMax: read('GATE_QUEUE_ROWS_MAX', value.integer(1, 10_000_000)) ?? 50_000,
    workers: read('GATE_WORKERS', value.integer(1, 256)) ?? 1,
  };
  faults.push(...faultsBetween(config), ...tlsFaults(config));
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

/** Empty for a missing path. */
function tlsFiles(cert = '', key = ''): TlsFiles | undefined {
  return cert === '' && key === '' ? undefined : { cert, key };
}

function* tlsFaults({ tls }: Config) {
  if (tls === undefined) return;
  if (tls.cert === '') yield 'GATE_TLS_KEY is set without GATE_TLS_CERT';
  else if (tls.key === '') yield 'GATE_TLS_CERT is set without GATE_TLS_KEY';
  else {
    try {
      readTls(tls);
    } catch (error) {
      yield (error as Error).message;
    }
  }
}

/** Faults of values that are valid on their own. */
function* faultsBetween(config: Config) {
  const { clickhouse, cluster, workers, demo, signingKey, logKey, dataDir } = config;
  const names = config.witnesses.map(({ key }) => key.name);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) yield `GATE_WITNESSES lists the witness ${twice} twice`;
  if (cluster !== undefined && clickhouse === undefined)
    yield 'GATE_CLICKHOUSE_CLUSTER needs GATE_CLICKHOUSE_URL';
  if (workers > 1 && clickhouse === undefined)
    yield 'GATE_WORKERS is more than 1, but the embedded store belongs to one process: set GATE_CLICKHOUSE_URL or GATE_WORKERS=1';
  // The directory holds the embedded store, demo.json, and the keys that are not set.
  const isKeyGiven = signingKey !== undefined && logKey !== undefined;
  const isNeeded = demo !== '0' || clickhouse === undefined || !isKeyGiven;
  const fault = isNeeded ? directoryFault(dataDir) : undefined;
  if (fault !== undefined) yield `GATE_DATA_DIR is "${dataDir}"; ${fault}`;
}

/** Settings that work but are likely unintended. */
export function* configWarnings({
  readAuth,
  metricsToken,
  tls,
  port,
  dashboardUrl,
  passwordLogin,
  oidc,
}: Config) {
  if (readAuth === 'open')
    yield 'The audit read endpoints are open to everyone who can reach this address. GATE_READ_AUTH=required closes them.';
  else if (metricsToken === undefined)
    yield 'GET /metrics is open to everyone who can reach this address. GATE_METRICS_TOKEN=<token> closes it.';
  if (tls !== undefined && dashboardUrl.startsWith('http:'))
    yield 'GATE_DASHBOARD_URL is http: mailed links are not encrypted, and session cookies are not Secure. Set it to the https address.';
  else if (dashboardUrl === DASHBOARD_URL && port !== 8000 && port !== 0)
    yield `Mailed links point to ${DASHBOARD_URL}, but the port is ${port}. Set GATE_DASHBOARD_URL to the address that people open.`;
  if (!passwordLogin && oidc === undefined)
    yield 'Nobody can sign in: GATE_PASSWORD_LOGIN is 0 and there is no single sign-on. Set GATE_OIDC_ISSUER, too.';
}
