import { isIP } from 'node:net';

/** An IP address, or a range of them in CIDR notation (RFC 4632 section 3.1, RFC 4291 section 2.3). */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const bitsMax = isIP(address) === 6 ? 128 : 32;
  const hasGoodBits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax);
  return isIP(address) !== 0 && hasGoodBits && rest.length === 0;
}
