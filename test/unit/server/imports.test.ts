import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const SERVER = fileURLToPath(new URL('../../../server/', import.meta.url));

/**
 * The rooms that each room may import from, beyond itself and the files at the top of server/. The declarations of
 * endpoints lie above their rooms: they may import any room in this table.
 */
const BELOW: Record<string, string[]> = {
  store: [],
  commit: ['store'],
  mail: [],
  keys: ['store'],
  projects: ['store'],
  members: ['store'],
  access: ['keys'],
  activity: ['access', 'store'],
  http: ['access', 'store'],
};

const roomOf = (path: string) => (path.includes('/') ? (path.split('/')[0] ?? '') : '');

function importsOf(file: string): string[] {
  const source = readFileSync(join(SERVER, file), 'utf8');
  return Array.from(source.matchAll(/from '(\.[^']+)'/g), ([, target = '']) => join(dirname(file), target));
}

describe('imports between the rooms of the server', () => {
  for (const [room, below] of Object.entries(BELOW)) {
    it(`${room} imports ${below.join(' and ') || 'no other room'}`, () => {
      const wrong = globSync(`${room}/**/*.ts`, { cwd: SERVER }).flatMap((file) => {
        const allowed = file.endsWith('/endpoints.ts') ? Object.keys(BELOW) : [room, ...below];
        return importsOf(file)
          .filter((target) => !['', ...allowed].includes(roomOf(target)))
          .map((target) => `${file} imports ${target}`);
      });

      expect(wrong).to.deep.equal([]);
    });
  }
});
