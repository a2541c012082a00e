import { Gateway } from '../../client/gateway/gateway.ts';
import { Pins } from '../../client/gateway/pins.ts';
import { bindPolicy } from '../../client/index.ts';
import { captureLogger, type CaptureLogger } from './capture-logger.ts';

export type GatewayWorld = {
  /** One line from the client, including its end. */
  fromClient: (line: string | object) => Promise<void>;
  fromServer: (line: string | object) => Promise<void>;
  /** The client's last lines, and its end. */
  endAfter: (...lines: object[]) => Promise<void>;
  /** The lines that reached each side so far. */
  toClient: string[];
  toServer: string[];
  logger: CaptureLogger;
};

export type GatewayWorldOptions = Omit<Parameters<typeof bindPolicy>[0], 'agentName'> & {
  pins?: Pins;
};

/** A gateway between two sides that are only lines. When the promise of a line resolves, all of its effects have happened. */
export async function gatewayWorld({ pins, ...options }: GatewayWorldOptions): Promise<GatewayWorld> {
  const logger = captureLogger();
  const [toClient, toServer]: [string[], string[]] = [[], []];
  const gateway = new Gateway({
    binding: await bindPolicy({ agentName: 'support-bot', logger, ...options }),
    pins: pins ?? new Pins(logger),
    logger,
    toClient: (line) => void toClient.push(line.toString()),
    toServer: (line) => void toServer.push(line.toString()),
  });
  const bytesOf = (line: string | object): Buffer =>
    Buffer.from(typeof line === 'string' ? line : `${JSON.stringify(line)}\n`);
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    fromClient: (line) => (gateway.fromClient(bytesOf(line)), settled()),
    fromServer: (line) => (gateway.fromServer(bytesOf(line)), settled()),
    endAfter: (...lines) => {
      for (const line of lines) gateway.fromClient(bytesOf(line));
      return gateway.end();
    },
    toClient,
    toServer,
    logger,
  };
}
