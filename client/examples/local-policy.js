// An agent under a local policy file. Needs no service and no key; without GATE_API_KEY nothing leaves this process.
import { fileURLToPath } from 'node:url';
import { govern, PolicyDeniedError } from '@gatehouse/client';

const agent = {
  name: 'support-bot',
  tools: {
    search: ({ query }) => `3 results for ${query}`,
    write_file: ({ path }) => `wrote ${path}`,
    transfer: ({ amount }) => `sent ${amount}`,
  },
  async run({ tools }, task) {
    console.log(await tools.search({ query: task }));
    console.log(await tools.transfer({ amount: 10 }));
    try {
      await tools.write_file({ path: '/etc/passwd' });
    } catch (error) {
      if (!(error instanceof PolicyDeniedError)) throw error;
      console.log(`denied: ${error.reason} ${error.violations.join(', ')}`);
    }
    return 'done';
  },
};

const governed = await govern(agent, {
  localPolicy: fileURLToPath(new URL('policy.yaml', import.meta.url)),
  onApproval: ({ tool, arguments: args }) => {
    console.log(`approved: ${tool} ${JSON.stringify(args)}`);
    return true;
  },
});
console.log(await governed.run('late parcels'));
