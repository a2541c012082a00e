import { expect } from 'chai';
import { cutText, inertParts, inertText } from '../../../server/dashboard/src/text/inert-text.ts';

const shown = (text: string, keep?: string) =>
  inertParts(text, keep)
    .map((part) => (part.kind === 'text' ? part.text : `[${part.code}]`))
    .join('');

describe('text from events', () => {
  it('is unchanged if it contains nothing deceptive', () => {
    for (const text of [
      '',
      'plain',
      '<img src=x onerror=1>',
      'javascript:1',
      'עברית',
      'नमस्ते',
      '👨‍👩‍👧',
      'é',
      '❤️‍🔥',
      '1️⃣',
      'می\u200cخواهم',
      'क्\u200dष',
    ])
      expect(shown(text)).to.equal(text);
  });

  it('shows bidirectional, invisible and control characters as marks', () => {
    expect(shown('a\u202egnp.exe')).to.equal('a[U+202E]gnp.exe');
    expect(shown('\u2066x\u2069\u200b\ufeff\u00ad')).to.equal('[U+2066]x[U+2069][U+200B][U+FEFF][U+00AD]');
    expect(shown('a\0b\x1b[31m')).to.equal('a[U+0000]b[U+001B][31m');
    expect(shown('a\u{e0041}\u{e007f}')).to.equal('a[U+E0041][U+E007F]');
    expect(shown('ad\u200cmin\u200d a\ufe0f')).to.equal('ad[U+200C]min[U+200D] a[U+FE0F]');
    expect(shown('a\u034f\u3164\u{1d173}')).to.equal('a[U+034F][U+3164][U+1D173]');
    expect(shown('\ud800x\udc00')).to.equal('[U+D800]x[U+DC00]');
  });

  it('shows spaces as marks if there is nothing else', () => {
    expect(shown(' \u00a0\u3000')).to.equal('[U+0020][U+00A0][U+3000]');
    expect(shown(' a ')).to.equal(' a ');
  });

  it('is spelled out where only plain text is possible', () => {
    expect(inertText('a\u202eb\nc')).to.equal('a[U+202E]b[U+000A]c');
    expect(inertText('a\u202eb\nc', '\n')).to.equal('a[U+202E]b\nc');
  });

  it('keeps line breaks only where a block has them', () => {
    expect(shown('a\nb')).to.equal('a[U+000A]b');
    expect(shown('a\nb', '\n\t')).to.equal('a\nb');
  });

  it('is cut between characters, never inside one', () => {
    expect(cutText('abc', 3)).to.equal('abc');
    expect(cutText('ab💡', 3)).to.equal('ab');
    expect(cutText('ab💡c', 4)).to.equal('ab💡');
  });
});
