import { inspect } from 'node:util';
import { allocateYoung } from './allocate-young.ts';
import { configWarnings, readConfig } from './config.ts';
import { welcomeText } from './demo/demo.ts';
import { expectedFaultText } from './expected-fault.ts';
import { createLogger, endLog } from './logger.ts';
import { makeFilesPrivate } from './private-files.ts';
import { startService, type Service } from './service.ts';
import { isOverseer, oversee } from './workers.ts';

/** After this time the process ends its log and exits anyway: SIGTERM promises an end within 10 s. */
const STOP_MS_MAX = 9500;

async function start(): Promise<void> {
  makeFilesPrivate();
  // Nobody may read what is printed, or its disk may be full. The service runs on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const config = readConfig();
  const logger = createLogger(config.logLevel);
  if (isOverseer(config)) return oversee(config, logger);
  const starting = startService(config, logger);
  let started: Service | undefined;
  // An exit while the embedded engine is at work may crash. With a server, nothing needs an end before the service has started.
  stopOnSignal(async () => (config.clickhouse === undefined ? await starting : started)?.stop());
  const service = (started = await starting);
  logger.info({ url: service.url, store: service.store }, 'Gatehouse is listening');
  for (const warning of configWarnings(config)) logger.warn(warning);
  allocateYoung();
  if (service.demo !== undefined) process.stdout.write(welcomeText(service.url, service.demo, config));

  function stopOnSignal(end: () => Promise<void>): void {
    let isStopping = false;
    const stop = (signal: string) => {
      if (isStopping) return;
      isStopping = true;
      logger.info({ signal }, 'Stopping');
      setTimeout(() => exit(1), STOP_MS_MAX).unref();
      end().then(
        () => exit(0),
        (error: unknown) => {
          logger.error({ err: error }, 'The stop failed');
          exit(1);
        },
      );
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  }

  function exit(code: number): void {
    void endLog(logger).then(() => process.exit(code));
  }
}

start().catch((error: unknown) => {
  process.stderr.write(`${expectedFaultText(error) ?? inspect(error)}\n`);
  process.exit(1);
});
