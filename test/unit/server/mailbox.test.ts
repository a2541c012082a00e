import { expect } from 'chai';
import { isMailbox } from '../../../server/mail/smtp-sender.ts';

describe('isMailbox', () => {
  for (const text of ['gate@example.com', 'Gatehouse <gate@example.com>', '"Gate, House" <g+1@x.example>'])
    it(`accepts ${text}`, () => expect(isMailbox(text)).to.equal(true));

  for (const text of [
    'nobody',
    'a b',
    '@example.com',
    'Gate gate@example.com',
    'a@b\r\nBcc: c@d',
    'G <gate>',
  ])
    it(`rejects ${JSON.stringify(text)}`, () => expect(isMailbox(text)).to.equal(false));
});
