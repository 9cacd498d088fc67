import { describe, expect, it } from 'vitest';
import { exchangeFindings } from '../../../../src/apply/steps/exchange-findings.ts';
import { parseLink } from '../../../../src/desired/addresses.ts';
import type { Exchange } from '../../../../src/engine/scripts/exchange.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { subjectText } from '../../../../src/model/subject.ts';
import { asText } from '../../as-text.ts';

const self = nodeName('studio-1');
const links = [2, 3, 4].map((other, index) => {
  const ends = parseLink(`studio-1:${other} <-> studio-${other}:1`);
  if (ends === undefined) throw new Error('no link');
  return { index, ends };
});
const networks = Object.fromEntries(
  links.map(({ index }) => [index, { address: `10.77.${index}.0`, prefixLength: 30 }]),
);

/** What came over the cable to a Mac in 20 s of requests. */
const cable = (other: number, bytes: number, ms = 20_000): Exchange['cables'][number] => ({
  node: nodeName(`studio-${other}`),
  address: `10.77.${other - 2}.2`,
  bytes,
  ms,
});
const drop = (other: number): Exchange['drops'][number] => cable(other, 0);

/** The same without a cable. */
const far = <T extends Exchange['drops'][number]>(one: T): T => ({ ...one, address: '-' });

const findings = (exchange: Partial<Exchange>, cabling = { links, networks }) =>
  exchangeFindings(self, { cables: [], drops: [], ...exchange }, cabling).map(asText);
const found = (exchange: Partial<Exchange>) =>
  findings(exchange).map(({ code, severity, detail }) => `${severity} ${code}: ${detail}`);
const subjects = (...given: Parameters<typeof findings>) =>
  findings(...given).map(({ subject }) => subjectText(subject));

describe('the findings about an exchange between Macs', () => {
  it('name a cable that was less than half as fast as the others', () => {
    const exchange = { cables: [cable(2, 7e9), cable(3, 3e9), cable(4, 8e9)] };
    expect(subjects(exchange)).toEqual(['link studio-1:3 <-> studio-3:1']);
    expect(found(exchange)).toEqual([
      'notice step/slow-cable: studio-1 got 3 GB of a model from studio-3 at 37 % of the rate of its other cables.',
    ]);
  });

  it('count the bytes that repaired a model', () => {
    const repaired = { cables: [cable(3, 64e6, 100), cable(2, 64e6, 100)], repairedFiles: 2 };
    const alone = { cables: [far(cable(2, 64e6)), far(cable(2, 64e6))], repairedFiles: 1 };
    expect([repaired, alone, { repairedFiles: 1 }].flatMap(found)).toEqual([
      'notice step/repaired-model: studio-1 repaired 2 files of a model: 128 MB came over the cables from studio-2,3.',
      'notice step/repaired-model: studio-1 repaired 1 file of a model: 128 MB came over Ethernet from studio-2.',
      'notice step/repaired-model: studio-1 repaired 1 file of a model: 0 B came over the cables.',
    ]);
  });

  it.each([
    ['sh: /usr/bin/perl: not found', 'sh: /usr/bin/perl: not found'],
    [' ', 'it failed without a message'],
  ])('explain why a Mac exchanged nothing: %s', (perl, why) => {
    expect(found({ perl })).toEqual([
      `notice step/no-perl: studio-1 exchanged no model with other Macs, because /usr/bin/perl does not work there: ${why}.`,
    ]);
  });

  it('explain why SSH did not reach a Mac', () => {
    const why = 'Host key verification failed.\u001b[2J.';
    const refusals = [why, why].map((one) => ({ node: nodeName('studio-2'), why: one }));
    const [line, ...others] = found({ refusals });
    expect(others).toEqual([]);
    expect(line).toContain('notice step/no-ssh-to-mac: studio-1 could not get a model from studio-2 over SSH: ');
    expect(line).toMatch(/: Host key verification failed\.[^\u001b]+\.$/u);
  });

  it('name both cables if two are slow', () => {
    const cables = [cable(2, 8e9), cable(3, 5e8, 10_000), cable(4, 2e9)];
    expect(subjects({ cables })).toEqual(['link studio-1:3 <-> studio-3:1', 'link studio-1:4 <-> studio-4:1']);
  });

  it.each([
    ['at half of the rate', [cable(2, 8e9), cable(3, 4e9)]],
    ['that worked too briefly', [cable(2, 8e9), cable(3, 1e8, 9_000)]],
    ['if the other one worked too briefly', [cable(2, 8e9, 9_000), cable(3, 1e9)]],
    ['that is the only one', [cable(3, 1e9)]],
    ['if it is Ethernet', [cable(2, 8e9), far(cable(3, 1e9))]],
  ])('omit a cable %s', (_, cables) => {
    expect(found({ cables })).toEqual([]);
  });

  it('count the chunks with wrong bytes by cable', () => {
    const exchange = { drops: [drop(3), drop(4), drop(3)] };
    expect(subjects(exchange)[0]).toBe('link studio-1:3 <-> studio-3:1');
    expect(found(exchange)).toEqual([
      'notice step/wrong-bytes: studio-1 got 2 chunks of a model with wrong bytes from studio-3, and fetched them again.',
      'notice step/wrong-bytes: studio-1 got one chunk of a model with wrong bytes from studio-4, and fetched it again.',
    ]);
  });

  it('name both Macs if the file no longer has the cable', () => {
    expect(subjects({ drops: [drop(3)] }, { links, networks: {} })).toEqual(['nodes studio-1, studio-3']);
    const both = ['nodes studio-1, studio-2', 'nodes studio-1, studio-3'];
    expect(subjects({ drops: [2, 3].map((other) => far(drop(other))) })).toEqual(both);
  });
});
