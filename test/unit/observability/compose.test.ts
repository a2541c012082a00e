import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { readConfig } from '../../../server/config.ts';

const ROOT = new URL('../../../', import.meta.url);
type Service = {
  image?: string;
  profiles?: string[];
  hostname?: string;
  ports?: string[];
  volumes?: string[];
  environment?: Record<string, string | number>;
  networks?: { default: { aliases: string[] } };
};
type Compose = { services: Record<string, Service>; volumes: Record<string, unknown> };

type Node = { host: string; port: number };
type NodeConfig = {
  zookeeper: { node: Node[] };
  remote_servers: Record<string, { shard: { internal_replication: boolean; replica: Node[] }[] }>;
};
type KeeperConfig = {
  keeper_server: { tcp_port: number; raft_configuration: { server: { id: number; hostname: string }[] } };
};
type UsersConfig = {
  profiles: Record<string, { readonly: number }>;
  users: Record<string, { password: { '@from_env': string }; profile: string; grants: { query: string } }>;
};
type DataSource = {
  type: string;
  jsonData: { host: string; username: string; defaultDatabase: string };
  secureJsonData: { password: string };
};

const { services, volumes } = read<Compose>('compose.yaml');

describe('compose.yaml', () => {
  it('starts the whole stack, each image with a fixed version', () => {
    expect(namesOf((service) => service.profiles === undefined)).to.deep.equal([
      'clickhouse',
      'gatehouse',
      'grafana',
      'mailpit',
      'prometheus',
    ]);
    for (const { image } of Object.values(services))
      if (image !== undefined) expect(image).to.match(/:\S*\d/);
  });

  it('listens on loopback only', () => {
    for (const { ports = [] } of Object.values(services)) {
      for (const port of ports) expect(port).to.match(/^127\.0\.0\.1:/);
    }
  });

  it('mounts existing files and declared volumes', () => {
    for (const { volumes: mounts = [] } of Object.values(services)) {
      for (const mount of mounts) {
        const [source = ''] = mount.split(':');
        expect(
          source.startsWith('.') ? existsSync(new URL(source, ROOT)) : source in volumes,
          mount,
        ).to.equal(true);
      }
    }
  });

  it('gives the service a valid environment', () => {
    const config = configOf('gatehouse');
    expect(config.clickhouse?.url).to.equal('http://clickhouse:8123');
    expect(config.cluster).to.equal(undefined);
    expect(config.emailFrom).not.to.equal(undefined);
    expect(config.mailerApiKey).not.to.equal(undefined);
  });
});

describe('the ClickHouse data source of Grafana in compose.yaml', () => {
  const { profiles, users } = read<UsersConfig>('clickhouse/grafana-user.yaml');
  const [source] = read<{ datasources: DataSource[] }>(
    'server/observability/grafana/provisioning/datasources/clickhouse.yml',
  ).datasources;

  it('reads as a user who may select decisions and nothing else', () => {
    const { jsonData } = source ?? {};
    const user = users[jsonData?.username ?? ''];
    expect(services['clickhouse']?.volumes).to.include(
      './clickhouse/grafana-user.yaml:/etc/clickhouse-server/users.d/grafana.yaml:ro',
    );
    expect(jsonData?.host).to.equal('clickhouse');
    expect(jsonData?.defaultDatabase).to.equal(services['clickhouse']?.environment?.['CLICKHOUSE_DB']);
    expect(user?.grants).to.deep.equal({ query: `GRANT SELECT ON ${jsonData?.defaultDatabase}.decisions` });
    expect(profiles[user?.profile ?? '']?.readonly).to.equal(2);
  });

  it('knows the password of the user', () => {
    const variable = users['grafana']?.password['@from_env'] ?? '';
    const [server, client] = ['clickhouse', 'grafana'].map((name) => services[name]?.environment?.[variable]);
    expect(source?.secureJsonData.password).to.equal(`$${variable}`);
    expect(client).to.be.a('string').and.to.equal(server);
  });

  it('has its plugin, in a fixed version', () => {
    expect(services['grafana']?.environment?.['GF_PLUGINS_PREINSTALL']).to.match(
      new RegExp(`^${source?.type}@[0-9.]+$`),
    );
  });
});

describe('the cluster of compose.yaml', () => {
  const node = read<NodeConfig>('clickhouse/cluster/node.yaml');
  const keeper = read<KeeperConfig>('clickhouse/cluster/keeper.yaml');

  it('has two shards of two replicas, three keepers and a service', () => {
    expect(namesOf(({ profiles }) => profiles?.includes('cluster') === true)).to.deep.equal([
      'clickhouse-1-1',
      'clickhouse-1-2',
      'clickhouse-2-1',
      'clickhouse-2-2',
      'gatehouse-cluster',
      'keeper-1',
      'keeper-2',
      'keeper-3',
    ]);
  });

  it('gives the service the cluster name of the nodes and an address that reaches all of them', () => {
    const config = configOf('gatehouse-cluster');
    expect(Object.keys(node.remote_servers)).to.deep.equal([config.cluster]);
    const { hostname } = new URL(config.clickhouse?.url ?? '');
    const withAddress = namesOf(({ networks }) => networks?.default.aliases.includes(hostname) === true);
    expect(withAddress).to.deep.equal(nodeNames());
  });

  it('gives every node its shard and replica', () => {
    const shards = Object.values(node.remote_servers)[0]?.shard ?? [];
    const placed = shards.flatMap(({ replica }, shard) =>
      replica.map(({ host }, index) => [host, String(shard + 1), String(index + 1)]),
    );
    const actual = nodeNames().map((name) => {
      const { hostname, environment } = services[name] ?? {};
      return [hostname, environment?.['SHARD'], environment?.['REPLICA']];
    });
    expect(actual).to.deep.equal(placed);
    expect(shards.every((shard) => shard.internal_replication)).to.equal(true);
  });

  it('lets nodes and keepers reach every keeper', () => {
    const keepers = namesOf(({ image }) => image?.includes('keeper') === true);
    expect(node.zookeeper.node.map(({ host }) => host)).to.deep.equal(keepers);
    expect(node.zookeeper.node.map(({ port }) => port)).to.deep.equal(
      keepers.map(() => keeper.keeper_server.tcp_port),
    );
    const { server } = keeper.keeper_server.raft_configuration;
    expect(server.map(({ hostname }) => hostname)).to.deep.equal(keepers);
    expect(keepers.map((name) => services[name]?.environment?.['KEEPER_ID'])).to.deep.equal(
      server.map(({ id }) => String(id)),
    );
  });
});

function read<T>(path: string): T {
  return parse(readFileSync(new URL(path, ROOT), 'utf8'), { merge: true }) as T;
}

function namesOf(isWanted: (service: Service) => boolean): string[] {
  return Object.keys(services)
    .filter((name) => isWanted(services[name] ?? {}))
    .sort();
}

function nodeNames(): string[] {
  return namesOf(({ environment }) => environment?.['SHARD'] !== undefined);
}

/** The configuration of a service when no variable of the host is set. */
function configOf(name: string) {
  const given = Object.entries(services[name]?.environment ?? {}).map(([variable, value]) => [
    variable,
    String(value).replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'),
  ]);
  return readConfig(Object.fromEntries(given) as Record<string, string>);
}
