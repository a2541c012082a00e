import { expect } from 'chai';
import { parse } from 'yaml';
import { INGEST_RESULTS } from '../../../server/ingest/ingest.ts';
import { MAIL_RESULTS } from '../../../server/mail/mail-queue.ts';
import { createMetrics } from '../../../server/metrics.ts';
import {
  alertExpressions,
  dashboards,
  metricsOf,
  observabilityFile,
  panelExpressions,
} from '../../observe/expressions.ts';

const CLOSED_LABELS: Record<string, string[]> = {
  outcome: ['allow', 'deny', 'needs_approval'],
  state: ['received', 'dropped', 'missing'],
  result: [...INGEST_RESULTS, ...MAIL_RESULTS, 'signed'],
};

describe('Grafana dashboards and Prometheus alerts', () => {
  it('use only metrics of /metrics', async () => {
    const { registry } = createMetrics({ isStoreUp: () => Promise.resolve(true) });
    const known = new Set((await registry.getMetricsAsJSON()).map(({ name }) => name));
    const unknown = [...panelExpressions(), ...alertExpressions()].flatMap(({ place, expr }) =>
      metricsOf(expr)
        .filter((name) => !known.has(name))
        .map((name) => `${place}: ${name}`),
    );
    expect(unknown).to.deep.equal([]);
    expect(
      metricsOf('rate(gate_ingest_flush_seconds_bucket[5m]) / gate_store_up{instance="a"}'),
    ).to.deep.equal(['gate_ingest_flush_seconds', 'gate_store_up']);
  });

  it('match only existing label values', () => {
    const wrong = [...panelExpressions(), ...alertExpressions()].flatMap(({ place, expr }) =>
      [...expr.matchAll(/\b(outcome|state|result)=~?"([^"]*)"/g)]
        .filter(([, label = '', values = '']) =>
          values.split('|').some((value) => CLOSED_LABELS[label]?.includes(value) !== true),
        )
        .map(([text]) => `${place}: ${text}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('have unique ids, and targets in every panel', () => {
    const all = dashboards();
    expect(new Set(all.map(({ uid }) => uid)).size)
      .to.equal(all.length)
      .and.to.equal(3);
    for (const { panels } of all) {
      expect(new Set(panels.map(({ id }) => id)).size).to.equal(panels.length);
      expect(panels.every(({ targets = [] }) => targets.length > 0)).to.equal(true);
    }
  });

  it('alert on the service, store, log, losses, identity filter, queue, ingest, denials, mail, webhooks and signing', () => {
    expect(alertExpressions().map(({ place }) => place)).to.deep.equal([
      'GatehouseDown',
      'GatehouseStoreDown',
      'GatehouseStoreDamaged',
      'GatehouseLogBehind',
      'GatehouseEventsLost',
      'GatehouseIdentityFilterIncomplete',
      'GatehouseQueueFilling',
      'GatehouseIngestRefused',
      'GatehouseDenialSpike',
      'GatehouseMailFailing',
      'GatehouseWebhooksFailing',
      'GatehouseBundleNotSigned',
    ]);
  });

  it('are provisioned by the files that compose.yaml mounts', () => {
    const config = parse(observabilityFile('prometheus/prometheus.yml')) as { rule_files: string[] };
    const sources = ['clickhouse', 'prometheus'].flatMap((name) => {
      const file = parse(observabilityFile(`grafana/provisioning/datasources/${name}.yml`)) as {
        datasources: { uid: string }[];
      };
      return file.datasources.map(({ uid }) => uid);
    });
    const asked = dashboards().flatMap(({ panels }) =>
      panels.flatMap(({ targets = [] }) => targets.map(({ datasource }) => datasource.uid)),
    );
    expect(config.rule_files).to.deep.equal(['alerts.yml']);
    expect(sources).to.deep.equal(['clickhouse', 'prometheus']);
    expect([...new Set(asked)].sort()).to.deep.equal(sources);
  });
});
