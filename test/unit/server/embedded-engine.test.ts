import { expect } from 'chai';
import { inEngine } from '../../support/in-engine.ts';

describe('The embedded engine', () => {
  it('is configured by clickhouse/embedded.xml, for all connections and when it is opened again', async () => {
    const values = await inEngine<string[]>(
      `const ask = async (connection) =>
         (await connection.query("SELECT value FROM system.server_settings WHERE name = 'max_io_thread_pool_free_size'"))[0].value;
       const [first, second] = [open(), open()];
       const values = [await ask(first), await ask(second)];
       await first.close();
       values.push(await ask(second));
       await second.close();
       return [...values, await ask(open())];`,
      null,
    );

    expect(values).to.deep.equal(['100', '100', '100', '100']);
  });
});
