import { expect } from 'chai';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../../server/durable-files.ts';
import { temporaryDirectory } from '../../support/service.ts';

describe('a file that is replaced', () => {
  it('leaves only a hidden file when the write is interrupted', () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'manifest.json'));

    expect(() => replaceFile(join(directory, 'manifest.json'), '{}')).to.throw('EISDIR');

    const others = readdirSync(directory).filter((name) => name !== 'manifest.json');
    expect(others.filter((name) => !name.startsWith('.'))).to.deep.equal([]);
  });
});
