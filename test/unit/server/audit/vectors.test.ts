import { expect } from 'chai';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditVerify } from '../../../../server/cli/audit/commands.ts';
import * as proof from '../../../../client/proof/index.ts';
import { CommandError } from '../../../../server/cli/command-error.ts';
import { writeVectors } from '../../../support/proof-vectors/generate.ts';
import { ORIGIN, receiptOf } from '../../../support/proof-vectors/history.ts';
import { runCommand } from '../../../support/processes.ts';
import { ROOT, temporaryDirectory } from '../../../support/service.ts';
import { runPython } from '../../../support/verify-py.ts';

const VECTORS = join(ROOT, 'test/vectors/proof');
const CASES = readdirSync(VECTORS);

type Expected = { args: string[]; report: { exit_code: number } & Record<string, unknown> };
const expectedOf = (name: string) =>
  JSON.parse(readFileSync(join(VECTORS, name, 'expected.json'), 'utf8')) as Expected;

/** The arguments as options, in a copy of the case: a verification writes its state file. */
function optionsOf(name: string): Record<string, string> {
  const directory = temporaryDirectory();
  cpSync(join(VECTORS, name), directory, { recursive: true });
  const files = ['export', 'proofs', 'log', 'state', 'receipts'];
  const options: Record<string, string> = {};
  const { args } = expectedOf(name);
  for (let at = 0; at < args.length; at += 2) {
    const option = (args[at] ?? '').slice(2);
    const value = args[at + 1] ?? '';
    options[option] = files.includes(option) ? join(directory, value) : value;
  }
  return options;
}

/** Leaves out fields that differ between runs or between the verifiers. */
function comparable(report: Record<string, unknown>): Record<string, unknown> {
  const { problems, ...others } = report;
  expect(problems).to.be.an('array');
  return others;
}

describe('the test vectors of docs/proof.md', () => {
  it('are what the generator writes', async () => {
    const made = temporaryDirectory();
    writeVectors(made);

    const { code, output } = await runCommand('diff', ['--recursive', made, VECTORS]);

    expect([code, output]).to.deep.equal([0, '']);
  });

  it('hold an example of each exit code', () => {
    const codes = new Set(CASES.map((name) => expectedOf(name).report.exit_code));

    expect([...codes]).to.have.members([0, 10, 11, 12, 13, 14]);
  });

  for (const name of CASES)
    it(`are verified with the expected result: ${name}`, async () => {
      const { project = '', ...options } = optionsOf(name);
      const { report } = expectedOf(name);

      const { data, exitCode } = await auditVerify(project, options);

      expect(comparable(data)).to.deep.equal(report);
      expect(exitCode).to.equal(report.exit_code);
    });

  it('get the same verdict from docs/verify.py', async () => {
    const ended = await runPython(CASES.map(optionsOf));

    const reports = ended.map(([code, output]) => {
      return { code, report: comparable(JSON.parse(output) as Record<string, unknown>) };
    });
    const expected = CASES.map((name) => expectedOf(name).report);
    expect(reports).to.deep.equal(expected.map((report) => ({ code: report.exit_code, report })));
  });

  it('need a verifier in Python of less than 400 lines', () => {
    expect(readFileSync(join(ROOT, 'docs/verify.py'), 'utf8').split('\n').length).to.be.below(401);
  });
});

const fileWith = (text: string): string => {
  const path = join(temporaryDirectory(), 'file');
  writeFileSync(path, text);
  return path;
};
const proofWith = (index: string) =>
  fileWith(`{"event_id":"a","index":${index},"salt":"AAAAAAAAAAAAAAAAAAAAAA=="}\n`);
const NO_INDEX = /without event_id, index and salt/;
const LONG_RECEIPT = receiptOf({ event_id: 'a', entry: Buffer.alloc(33), iatMs: 0 });
const RECEIPT = receiptOf({ event_id: 'a', entry: Buffer.alloc(32), iatMs: 0 });
const [, PAYLOAD = ''] = RECEIPT.split('.');
const base64urlOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const WITNESS_KEY = proof.verifierKeyText(
  proof.verifierKeyFrom({ name: ORIGIN, type: 'cosignature', publicKey: Buffer.alloc(32) }),
);

/** Input that cannot be verified: options in addition to those of a case that holds. */
const REFUSED: [string, Record<string, string>, RegExp][] = [
  ['with a time that is none', { at: 'yesterday' }, /--at must be a time/],
  ['with a key that is none', { vkey: 'abc' }, /"abc" is not a verifier key/],
  [
    'without an export',
    { export: '/nowhere/export.ndjson' },
    /\/nowhere\/export.ndjson cannot be used \(ENOENT\)/,
  ],
  ['without a log', { log: '/nowhere' }, /\/nowhere\/checkpoint does not exist/],
  ['with proofs that are none', { proofs: join(VECTORS, 'holds/log/checkpoint') }, /The proofs have a line/],
  [
    'with a state that is none',
    { state: join(VECTORS, 'holds/log/keys.json') },
    /is not one of this version/,
  ],
  ['with an empty state', { state: fileWith('{}') }, /is not one of this version/],
  ['with an empty key', { vkey: '' }, /"" is not a verifier key/],
  ['with the key of a witness', { vkey: WITNESS_KEY }, /the key of a witness, not of a log/],
  ['with an index below 0', { proofs: proofWith('-1') }, NO_INDEX],
  ['with an index that is not a number', { proofs: proofWith('true') }, NO_INDEX],
  ['with an index beyond 2^53', { proofs: proofWith('9007199254740993') }, NO_INDEX],
  ['with a receipt of a longer entry', { receipts: fileWith(LONG_RECEIPT) }, /is not a receipt/],
  ['with a receipt without its signature', { receipts: fileWith('e30.e30') }, /is not a receipt/],
  ['with a receipt whose signature is padded', { receipts: fileWith(`${RECEIPT}==`) }, /is not a receipt/],
  [
    'with a receipt whose header is a list',
    { receipts: fileWith(`${base64urlOf([])}.${PAYLOAD}.AA`) },
    /is not a receipt/,
  ],
  ['with receipts that are none', { receipts: join(VECTORS, 'holds/proofs.ndjson') }, /is not a receipt/],
];

describe('a verifier', () => {
  for (const [name, options, message] of REFUSED)
    it(`cannot run ${name}`, async () => {
      const { project = '', ...others } = optionsOf('holds');

      const error = await auditVerify(project, { ...others, ...options }).catch((reason: unknown) => reason);

      expect(error).to.be.instanceOf(CommandError);
      expect((error as Error).message).to.match(message);
    });

  it('cannot run without files or a URL', async () => {
    const error = await auditVerify('a', {}).catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(CommandError);
    expect((error as Error).message).to.match(/Give either --url URL, or --export FILE/);
  });

  it('in Python cannot run with the same', async () => {
    const options = REFUSED.map(([, changes]) => ({ ...optionsOf('holds'), ...changes }));

    const ended = await runPython(options);

    expect(ended.map(([code]) => code)).to.satisfy((codes: unknown[]) =>
      codes.every((code) => String(code).startsWith('could not run, ')),
    );
  });

  it('in both languages reports a receipt without kid, or of another issuer, as an invalid signature', async () => {
    const payload = JSON.parse(Buffer.from(PAYLOAD, 'base64url').toString()) as Record<string, unknown>;
    const forged = [
      `${base64urlOf({ alg: 'EdDSA', typ: 'gate-receipt+jwt' })}.${PAYLOAD}.AA`,
      `${base64urlOf({})}.${base64urlOf({ ...payload, iss: undefined, jti: undefined })}.AA`,
      `${base64urlOf({})}.${base64urlOf({ ...payload, jti: 'a\n\u001b[2JVerdict: holds.' })}.AA`,
    ];
    const options = forged.map((receipt): Record<string, string> => {
      return { ...optionsOf('holds'), receipts: fileWith(receipt) };
    });

    const ended = await runPython(options);
    expect(ended.map(([code]) => code)).to.deep.equal([14, 14, 14]);
    const lastOf = (report: unknown) => (report as { problems: string[] }).problems.at(-1);
    const problems = ended.map(([, output]) => lastOf(JSON.parse(output)));
    for (const { project = '', ...others } of options) {
      const { data, exitCode } = await auditVerify(project, others);
      expect(exitCode).to.equal(14);
      problems.push(lastOf(data));
    }
    // Not two lines, the second of which would pass as a verdict.
    expect([problems[2], problems[5]]).to.satisfy((texts: string[]) =>
      texts.every((one) =>
        /^signature_invalid: the receipt of a\\n\\\S+\[2JVerdict: holds\. is not signed/.test(one),
      ),
    );
  });
});
