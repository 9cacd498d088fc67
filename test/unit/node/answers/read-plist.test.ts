import { describe, expect, it } from 'vitest';
import { readPlist } from '../../../../src/node/answers/read-plist.ts';
import { answer as answerOf } from '../../engine/observe/fact-cases.ts';

const begin = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "x">\n';
const answer = (stdout: string) => answerOf('plutil', { stdout });
const read = (inner: string) => readPlist(answer(`${begin}<plist version="1.0">\n${inner}\n</plist>\n`));

describe('readPlist', () => {
  it('reads every kind of value, with data and dates as null', () => {
    const list = `<dict>
\t<key>a &amp; b</key>\n\t<string>&lt;x&gt;</string>
\t<key>n</key>\n\t<integer>-3</integer>
\t<key>r</key>\n\t<real>1.5E-3</real>
\t<key>list</key>\n\t<array>\n\t\t<true/>\n\t\t<false/>\n\t\t<string></string>\n\t\t<array/>\n\t\t<dict/>\n\t</array>
\t<key>bytes</key>\n\t<data>\n\tMIIB\n\t</data>
\t<key>day</key>\n\t<date>2027-01-01T00:00:00Z</date>
</dict>`;
    expect(read(list)).toEqual({
      kind: 'known',
      value: { 'a & b': '<x>', n: -3, r: 0.0015, list: [true, false, '', [], {}], bytes: null, day: null },
    });
  });

  it('reads nested lists up to a depth of 64', () => {
    const nested = (depth: number) => read(`${'<array>'.repeat(depth)}${'</array>'.repeat(depth)}`).kind;
    expect([nested(64), nested(65)]).toEqual(['known', 'unknown']);
  });

  it.each([
    ['a key that comes twice', '<dict><key>a</key><true/><key>a</key><false/></dict>'],
    ['a key without a value', '<dict><key>a</key></dict>'],
    ['a key as a value', '<key>a</key>'],
    ['a list in place of a key', '<dict><array/><true/></dict>'],
    ['text between values', '<array><true/>x</array>'],
    ['text before a value', '<array>x<true/></array>'],
    ['text in a flag', '<true>x</true>'],
    ['an end in place of a value', '</array>'],
    ['a text without its end', '<string>x</array>'],
    ['an entity that plutil does not write', '<string>&nbsp;</string>'],
    ['an invalid number', '<integer>three</integer>'],
    ['an empty number', '<integer/>'],
    ['two values', '<true/><true/>'],
    ['no value', ''],
    ['an unclosed list', '<array><true/>'],
    ['50,000 nested lists', `${'<array>'.repeat(50_000)}${'</array>'.repeat(50_000)}`],
  ])('rejects %s as garbled', (_, inner) => {
    expect(read(inner)).toMatchObject({ kind: 'unknown', reason: 'garbled' });
  });

  it('reads JSON from baselines of earlier versions', () => {
    expect(readPlist(answer('{"a":1}\n'))).toEqual({ kind: 'known', value: { a: 1 } });
  });
});
