import { lookup } from 'node:dns';
import { request as requestHttp, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { WEBHOOK_MS_MAX } from '../limits.ts';
import type { WebhookTarget } from './alert-settings.ts';

export type WebhookMessage = { id: string; body: string; atMs: number };
type Options = { mayBePrivate: boolean; signal: AbortSignal };

/** Why a webhook was not delivered. Does not quote the receiver's answer. */
export class WebhookFault extends Error {}

/** Addresses outside the public Internet (IANA special-purpose registries, RFC 6890). */
const SPECIAL = new BlockList();
for (const range of [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24',
  '192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
  '::/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8',
].flatMap((line) => line.split(' '))) {
  const [address = '', bits] = range.split('/');
  SPECIAL.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** IPv6 addresses that represent an IPv4 address are judged by the latter. */
export function isPublicAddress(address: string): boolean {
  return !SPECIAL.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Why the address of a webhook is refused, for the person who sets it; undefined if it is accepted. */
export function webhookFault(text: string, mayBePrivate: boolean): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '' || url.hash !== '')
    return 'must be a URL without user, password and fragment';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isLoopback = ['localhost', '127.0.0.1', '::1'].includes(host);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && mayBePrivate && isLoopback))
    return 'must begin with https://';
  const isPrivate = host === 'localhost' || (isIP(host) !== 0 && !isPublicAddress(host));
  return isPrivate && !mayBePrivate ? 'must not be an address of a private network' : undefined;
}

/**
 * Posts one message, signed according to Standard Webhooks (https://www.standardwebhooks.com). Resolves when the receiver answered 2xx;
 * rejects with a WebhookFault. Follows no redirect and reads no body. The address is checked when connecting, because the name may resolve
 * to another one by then.
 */
export async function postWebhook(
  { url, secret }: WebhookTarget,
  { id, body, atMs }: WebhookMessage,
  { mayBePrivate, signal }: Options,
): Promise<void> {
  const fault = webhookFault(url, mayBePrivate);
  if (fault !== undefined) throw new WebhookFault(`The address ${fault}`);
  const at = new Date(atMs);
  const options: RequestOptions = {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'User-Agent': 'Gatehouse',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(atMs / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, at, body),
    },
    // Connections are not kept open: alerts are rare.
    agent: false,
    signal: AbortSignal.any([signal, AbortSignal.timeout(WEBHOOK_MS_MAX)]),
    ...(mayBePrivate ? {} : { lookup: publicLookup }),
  };
  const status = await new Promise<number>((resolve, reject) => {
    const send = url.startsWith('https:') ? requestHttps : requestHttp;
    const sending = send(url, options, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    sending.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        error instanceof WebhookFault ? error : new WebhookFault(`No answer: ${error.code ?? error.name}`),
      ),
    );
    // An answer that switches protocols is neither a response nor an error.
    sending.on('close', () => reject(new WebhookFault('No answer')));
    sending.end(body);
  });
  if (status < 200 || status > 299) throw new WebhookFault(`The receiver answered ${status}`);
}

/** Resolves a name to public addresses only. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? [];
    if (error !== null) callback(error, '');
    else if (first === undefined || addresses.some(({ address }) => !isPublicAddress(address)))
      callback(new WebhookFault('The address leads to a private network'), '');
    else if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
