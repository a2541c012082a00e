import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { readConfig } from '../../../server/config.ts';

const ROOT = new URL('../../../', import.meta.url);
type Service = {
  image?: string;
  ports?: string[];
  volumes?: string[];
  environment?: Record<string, string | number>;
};
type Compose = { services: Record<string, Service>; volumes: Record<string, unknown> };

const { services, volumes } = parse(readFileSync(new URL('compose.yaml', ROOT), 'utf8')) as Compose;

describe('compose.yaml', () => {
  it('brings up the whole stack, each image with a fixed version', () => {
    expect(Object.keys(services).sort()).to.deep.equal([
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

  it('mounts files that are there and volumes that are declared', () => {
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

  it('gives the service an environment that it accepts', () => {
    const given = Object.entries(services['gatehouse']?.environment ?? {}).map(([name, value]) => [
      name,
      String(value).replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'),
    ]);
    const config = readConfig(Object.fromEntries(given) as Record<string, string>);
    expect(config.clickhouse?.url).to.equal('http://clickhouse:8123');
    expect(config.emailFrom).not.to.equal(undefined);
    expect(config.mailerApiKey).not.to.equal(undefined);
  });
});
