import type { Logger } from 'pino';
import type { Counter } from 'prom-client';
import type { RootKeys } from '../keys/root-keys.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import { createBoundedStore } from '../store/bounded-store.ts';
import type { Connection } from '../store/connection.ts';
import { AgentDirectory } from './agent-directory.ts';
import { AgentSaver } from './agent-saver.ts';
import { AgentStore } from './agent-store.ts';
import { BundleSigner } from './bundle-signer.ts';
import { PolicyMaker } from './policy-maker.ts';
import { PolicyReader } from './policy-reader.ts';
import { PolicyThreads } from './policy-threads.ts';

type AgentOptions = {
  connection: Connection;
  ready: () => Promise<void>;
  /** No other process saves agents in this store. */
  isSoleWriter: boolean;
  rootKeys: RootKeys;
  bundleDaysMax: number | undefined;
  logger?: Logger | undefined;
  signings?: Counter<'result'> | undefined;
  now: () => number;
};

/** Connects the parts that save, sign and serve agents. */
export function createAgents({ rootKeys, bundleDaysMax, logger, signings, ...shared }: AgentOptions) {
  const { connection, ready, now } = shared;
  const bounded = createBoundedStore(connection, ready);
  const store = new AgentStore(bounded);
  const directory = new AgentDirectory(shared);
  const threads = new PolicyThreads();
  const policyMaker = new PolicyMaker(threads);
  const signingKey = rootKeys.current;
  const signer = new BundleSigner({ signingKey, rootKeys, policyMaker, daysMax: bundleDaysMax, logger, now });
  const saver = new AgentSaver({
    store,
    mutex: new KeyedMutex(bounded),
    directory,
    signingKey,
    signer,
    policyMaker,
    onSigned: (version) => void reader.add(version),
    now,
  });
  const sign = (projectId: string, agentName: string) => saver.sign(projectId, agentName);
  const reader = new PolicyReader({ directory, store, signer, sign, logger, counter: signings, now });
  return { store, directory, saver, threads, reader };
}
