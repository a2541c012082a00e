import { expect } from 'chai';
import { connectEmbedded } from '../../../server/store/connection.ts';
import { migrate } from '../../../server/store/migrate.ts';
import { requireSpace } from '../../../server/store/table-files.ts';
import { oneStoreAtATime } from '../../support/engine.ts';
import { temporaryDirectory } from '../../support/service.ts';

/** More than any disk has free. */
const MB_MIN = 2 ** 40;

describe('a migration on a full disk', () => {
  it('changes no table, and says how much space it needs', () =>
    oneStoreAtATime(async () => {
      const folder = temporaryDirectory();
      const connection = connectEmbedded(folder, {});

      const fault = await migrate(connection, { requireSpace: () => requireSpace(folder, MB_MIN) }).then(
        () => 'migrated',
        (error: Error) => error.message,
      );
      const tables = await connection.query('SHOW TABLES');
      await connection.close();

      expect(fault).to.match(
        /has \d+ MB free, and a change of the schema needs 1099511627776\. Free some space, and start again\.$/,
      );
      expect(tables).to.deep.equal([{ name: 'schema_migrations' }]);
    }));
});
