import { expect } from 'chai';
import type { Request } from 'express';
import { isAddressRange } from '../../../server/http/address-range.ts';
import { addressOf } from '../../../server/http/rate-limit.ts';

describe('addressOf', () => {
  const cases: [string | undefined, string][] = [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, ''],
  ];
  for (const [ip, expected] of cases) {
    it(`maps ${ip} to ${expected || 'the empty address'}`, () => {
      expect(addressOf({ ip } as Request)).to.equal(expected);
    });
  }
});

describe('isAddressRange', () => {
  for (const text of ['127.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', 'fd00::/8', '2001:db8::/128']) {
    it(`accepts ${text}`, () => expect(isAddressRange(text)).to.equal(true));
  }
  for (const text of [
    '',
    'loopback',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0/8',
    '::1/129',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
  ]) {
    it(`rejects "${text}"`, () => expect(isAddressRange(text)).to.equal(false));
  }
});
