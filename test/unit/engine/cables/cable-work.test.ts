import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { type CableWork, cableFacts, cableWork } from '../../../../src/engine/cables/cable-work.ts';
import { type FactValues, factNames } from '../../../../src/engine/observe/facts.ts';
import { rackGraph } from '../../../../src/engine/rack-graph.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import type { ThunderboltReceptacle } from '../../../../src/model/facts/fact-values.ts';
import { known } from '../../../../src/model/known.ts';
import { thunderboltFact } from '../../../../src/rack/cables/fact.ts';
import { read } from '../../../../src/rack/fact.ts';
import { meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import {
  desiredFleet,
  end,
  healthyFacts,
  links,
  meshOfFour,
  observedFleet,
  type RackChanges,
  receptacles,
} from '../../../rack/rack.ts';
import { onOnePage, sayValue } from '../../one-page.ts';

const recorded = ({ examination, ...rest }: CableWork): CableWork => ({ examination, ...sayValue(rest) });

const work = (changes: RackChanges, desired: Partial<DesiredFleet> = {}): CableWork =>
  recorded(cableWork(desiredFleet(desired), observedFleet(changes)));

const texts = ({ acts }: CableWork): readonly string[] => acts.map(({ text }) => text);

const joined = ['joined', 'joined', 'joined'] as const;
const moved = meshOfFour.map((text) => text.replace('studio-4:4', 'studio-4:5'));
const bridge = { name: 'bridge0', isUp: true, mtuBytes: 1500, ipv4: [], ipv6: [], members: ['en3', 'en4', 'en5'] };

/** The receptacles of a Mac, of which receptacle 2 reports these values. */
const changedAt2 = (name: string, seen: Partial<ThunderboltReceptacle>): FactValues['thunderbolt'] =>
  receptacles(name, 6, meshOfFour).map((one) => (one.receptacle === 2 ? { ...one, ...seen } : one));

/** A rack in which `kimi` is on three nodes, with these cables. */
function placed(
  states: Parameters<typeof threeRanks>[0],
  cables: readonly string[],
  receptaclesOf: Readonly<Record<string, FactValues['thunderbolt']>> = {},
): CableWork {
  const fleet = meshFleet();
  const { nodes, failures } = observeMesh(fleet, { ranks: threeRanks(states) });
  const seen = observedFleet({ cables }).nodes;
  const cabled = Object.entries(nodes).map(([name, { node, facts }]) => {
    const own = receptaclesOf[name];
    const thunderbolt =
      own === undefined ? (read(seen[name]?.facts, thunderboltFact) ?? read(facts, thunderboltFact)) : known(own);
    return [name, { node, facts: { ...facts, thunderbolt } }];
  });
  return recorded(cableWork(fleet, { nodes: Object.fromEntries(cabled), failures }));
}

describe('cable work', () => {
  it('is empty if all links match the file', () => {
    expect(work({})).toMatchObject({ acts: [], loops: [], findings: [] });
  });

  it('blocks a possible action if an earlier action in its group is waiting for a stop', () => {
    const cables = meshOfFour.map((text) =>
      text.replace('studio-1:2', 'studio-1:9').replace('studio-1:4', 'studio-1:5').replace('studio-1:9', 'studio-1:4'),
    );
    expect(placed(joined, cables).acts).toMatchObject([
      { ends: expect.arrayContaining([end('studio-1:2')]), stopFirst: ['kimi'], isFree: false },
      { ends: expect.arrayContaining([end('studio-1:5')]), stopFirst: [], isFree: false },
    ]);
  });

  it('consists of moves, each with the receptacles that it names and empties', () => {
    const { acts, findings } = work({ cables: moved });
    expect(acts).toMatchObject([
      { kind: 'move-end', takes: [end('studio-4:5')], stopFirst: [], bridgesFirst: '', isFree: true },
    ]);
    expect(acts[0]?.text).toBe(
      'move the cable end in studio-4 receptacle 5 to receptacle 4 (studio-4:5: front, right; studio-4:4: back, 4th from Ethernet)',
    );
    expect(acts[0]?.ends).toEqual(expect.arrayContaining([end('studio-4:4'), end('studio-4:5')]));
    expect(findings).toEqual([]);
  });

  it("describes a receptacle's position on the case if it is known", () => {
    const cables = meshOfFour.map((text) => text.replace('studio-4:4', 'studio-4:1'));
    expect(texts(work({ cables }))).toEqual([
      'move the cable end in studio-4 receptacle 1 to receptacle 4 (studio-4:1: back, next to Ethernet; studio-4:4: back, 4th from Ethernet)',
    ]);
    const desired = { thunderbolt: { ...desiredFleet().thunderbolt, links: links(['studio-1:1 <-> studio-2:2']) } };
    const unknown = { 'studio-1': { hardware: 'timed-out' as const } };
    expect(texts(work({ cables: [], unknown }, desired))[0]).toBe(
      'connect studio-1 receptacle 1 and studio-2 receptacle 2 with a Thunderbolt 5 cable (studio-2:2: back, 2nd from Ethernet)',
    );
  });

  it('replaces a connection through a dock with a direct one', () => {
    const own = receptacles('studio-1', 6, meshOfFour).map((one) =>
      one.receptacle === 2 ? { ...one, peers: one.peers.map((peer) => ({ ...peer, hubsBetween: 1 })) } : one,
    );
    const { acts, findings } = work({ values: { 'studio-1': { thunderbolt: own } } });
    expect(acts).toMatchObject([{ kind: 'plug-straight', isFree: true }]);
    expect(findings).toEqual([]);
  });

  it('plugs in a cable again if both ends are silent', () => {
    const silent = (name: string) => ({ thunderbolt: changedAt2(name, { peers: [] }) });
    const values = { 'studio-1': silent('studio-1'), 'studio-2': silent('studio-2') };
    expect(work({ values }).acts).toMatchObject([{ kind: 'plug-again' }]);
  });

  it('reports findings that no action resolves, and a Mac behind the wrong name', () => {
    const stray = [...meshOfFour, 'studio-1:5 <-> studio-2:5'];
    expect(work({ cables: stray }).findings.map(({ code }) => code)).toContain('cabling/doubled');
    const twin = { 'studio-2': { identity: { serial: 'SERSTUDIO1', hardwareUuid: 'UUID-studio-1' } } };
    expect(work({ values: twin }).findings.map(({ code }) => code)).toContain('identity/same-mac');
  });

  it('lists the acts that can be done now first', () => {
    const cables = meshOfFour
      .filter((text) => !text.startsWith('studio-3:4'))
      .map((text) => text.replace('studio-2:2', 'studio-2:5'));
    expect(placed(joined, cables).acts).toMatchObject([
      { ends: [end('studio-3:4'), end('studio-4:4')], isFree: true },
      { stopFirst: ['kimi'], isFree: false },
    ]);
  });

  it('waits until a placement that uses the cable is stopped', () => {
    const swapped = meshOfFour.map((text) => text.replace('studio-2:2', 'studio-2:5'));
    expect(placed(joined, swapped).acts).toMatchObject([{ stopFirst: ['kimi'], isFree: false }]);
    expect(placed(['stopped', 'stopped', 'stopped'], swapped).acts).toMatchObject([{ stopFirst: [], isFree: true }]);
  });

  it('does not wait for a placement that runs at only one end of the cable', () => {
    expect(placed(joined, moved).acts).toMatchObject([{ stopFirst: [], isFree: true }]);
  });

  describe('on a cable that a running placement uses', () => {
    const behindHub = { peers: [] };
    const silent = { state: 'silent', peers: [] } as const;

    it.each([
      ['plug-straight', { 'studio-1': changedAt2('studio-1', behindHub) }],
      ['plug-straight', { 'studio-2': changedAt2('studio-2', behindHub) }],
      ['plug-again', { 'studio-1': changedAt2('studio-1', silent), 'studio-2': changedAt2('studio-2', silent) }],
    ])("waits for the placement's stop before %s, whichever end sees the cable", (kind, seen) => {
      const running = placed(['joined', 'running', 'running'], meshOfFour, seen);
      expect(running.acts).toMatchObject([{ kind, stopFirst: ['kimi'], isFree: false }]);
      expect(rackGraph(running.examination, running.acts).moves[0]?.first).toBe('stop kimi');
      const stopped = placed(['stopped', 'stopped', 'stopped'], meshOfFour, seen);
      expect(stopped.acts).toMatchObject([{ kind, stopFirst: [], isFree: true }]);
    });

    it.each([
      ['cabling/doubled', 'studio-1:6 <-> studio-2:6'],
      ['cabling/undeclared', 'studio-2:6 <-> studio-3:6'],
    ])("asks for the placement's stop before an undeclared cable is removed: %s", (_, extra) => {
      const { acts, findings } = placed(['joined', 'running', 'running'], [...meshOfFour, extra]);
      expect(acts).toEqual([]);
      expect(findings.map(({ hint }) => plainText(hint))).toEqual([
        expect.stringMatching(
          /^First stop every placement that uses this cable[^\n]*\n {2}meshwright stop kimi\nThen: Remove the cable/,
        ),
      ]);
    });
  });

  it('plugs in nothing before the bridges are removed', () => {
    const interfaces = healthyFacts('studio-4', receptacles('studio-4', 6, moved)).interfaces;
    const values = { 'studio-4': { interfaces: [...interfaces, bridge] } };
    expect(work({ cables: moved, values }).acts).toMatchObject([
      { bridgesFirst: 'remove the Thunderbolt Bridge on studio-4', stopFirst: [], isFree: false },
    ]);
  });

  it('lists rings of bridged Macs separately', () => {
    const ring = ['studio-1:2 <-> studio-2:2', 'studio-2:3 <-> studio-3:3', 'studio-1:3 <-> studio-3:2'];
    const values = Object.fromEntries(
      ['studio-1', 'studio-2', 'studio-3'].map((name) => {
        const { interfaces } = healthyFacts(name, receptacles(name, 6, ring));
        return [name, { interfaces: [...interfaces.map((one) => ({ ...one, ipv4: [] })), bridge] }];
      }),
    );
    const { loops, findings } = work({ cables: ring, values });
    expect(loops.map(({ code }) => code)).toEqual(['bridge/loop']);
    expect(findings.map(({ code }) => code)).not.toContain('bridge/loop');
  });

  it('reads only facts that exist', () => {
    for (const name of cableFacts) expect(factNames).toContain(name);
  });
});

onOnePage('cable-work');
