import { describe, expect, it } from 'vitest';
import type { Facts } from '../../../../src/model/facts/fact-values.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { judgeCabling } from '../../../../src/rack/cabling/judge-cabling.ts';
import { interfaceKind, thunderboltInterfaces } from '../../../../src/rack/network/interfaces-reading.ts';
import { links, unknownNode } from '../../../rack/rack.ts';
import { loadFactCase, parseCase } from '../../engine/observe/fact-cases.ts';

/** The facts about a Mac with only these known outputs. */
function factsFrom(...titles: readonly string[]): Facts {
  const known = titles.map(loadFactCase).map((one) => [one.fact, parseCase(one)]);
  return { ...unknownNode('any').facts, ...Object.fromEntries(known) };
}

describe("a receptacle's interface", () => {
  it('is matched by name on an M5 Max, whose numbers are out of order', () => {
    expect([...(thunderboltInterfaces(factsFrom('hardware-ports/m5max-order')) ?? [])]).toEqual([
      [1, 'en1'],
      [2, 'en6'],
      [3, 'en2'],
    ]);
  });

  it('is never a pseudo-Ethernet port of a dock, phone or front socket', () => {
    const facts = factsFrom('hardware-ports/m3ultra-trimmed');
    expect([8, 9, 10, 11, 12, 13].map((number) => interfaceKind(facts, `en${number}`))).toEqual(
      Array.from({ length: 6 }, () => 'other'),
    );
    expect([...(thunderboltInterfaces(facts) ?? [])].map(([, name]) => name)).not.toContain('en8');
  });

  it.each(['localised', 'nothing'])('is unknown when the port list is %s', (name) => {
    const facts = factsFrom(`hardware-ports/${name}`);
    expect(thunderboltInterfaces(facts)).toBeUndefined();
    expect([interfaceKind(facts, 'en2'), interfaceKind(facts, 'en0')]).toEqual(['unknown', 'unknown']);
  });
});

describe('a captured cable between a Mac Studio and an M5 Max', () => {
  const names = ['studio', 'book'].map(nodeName);
  const judged = (book: string) => {
    const nodes = Object.fromEntries(
      (
        [
          ['studio', 'm3ultra-pair-a'],
          ['book', book],
        ] as const
      ).map(([name, title]) => [name, { node: nodeName(name), facts: factsFrom(`thunderbolt/${title}`) }]),
    );
    return judgeCabling(links(['studio:2 <-> book:1']), names, nodes).links[0]?.judgement;
  };

  it('is as declared, at 80 Gb/s', () => {
    expect(judged('m5max-pair-a')).toEqual({ kind: 'as-declared', bitsPerSecond: 80e9 });
  });

  it('is "through-hub" if one end sees the other end one level deeper', () => {
    expect(judged('peer-behind-hub')).toEqual({ kind: 'through-hub' });
  });

  it('is "one-sided", not "missing", if a display hides the far Mac', () => {
    expect(judged('peer-hidden-by-display')).toEqual({ kind: 'one-sided' });
  });

  it('is "unknown" if the report of one end is in text form', () => {
    expect(judged('text-form')).toEqual({ kind: 'unknown' });
  });
});
