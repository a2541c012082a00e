import { expect } from 'chai';
import { connectEmbedded } from '../../../server/store/connection.ts';
import { migrate } from '../../../server/store/migrate.ts';
import { requireSpace } from '../../../server/store/table-files.ts';
import { oneStoreAtATime } from '../../support/engine.ts';
import { temporaryDirectory } from '../../support/service.ts';

/** A file system of Linux without free space. */
const FULL = '/proc';

describe('a migration on a full disk', () => {
  it('changes no table, and says how much space it needs', () =>
    oneStoreAtATime(async () => {
      const connection = connectEmbedded(temporaryDirectory(), {});

      const fault = await migrate(connection, { requireSpace: () => requireSpace(FULL) }).then(
        () => 'migrated',
        (error: Error) => error.message,
      );
      const tables = await connection.query('SHOW TABLES');
      await connection.close();

      expect(fault).to.equal(
        'The disk of /proc has 0 MB free, and a change of the schema needs 64. Free some space, and start again.',
      );
      expect(tables).to.deep.equal([{ name: 'schema_migrations' }]);
    }));
});
