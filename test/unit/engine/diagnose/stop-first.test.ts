import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { fleetFindings } from '../../../../src/engine/diagnose/diagnose-fleet.ts';
import type { Known } from '../../../../src/model/known.ts';
import { unknown } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { allCommands, commandsIn } from '../../../../src/model/text/prose.ts';
import { type MeshRack, meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { makePlan } from '../../../rack/plans.ts';
import { healthyFacts, meshOfFour, receptacles } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';

const fleet = meshFleet();
const serving = threeRanks(['joined', 'running', 'running']);
const stopped = threeRanks(['stopped', 'stopped', 'stopped']);
const four = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];

/** The observed cables, in addition to the ranks. */
const cabled = (cables: readonly string[]): NonNullable<MeshRack['values']> =>
  Object.fromEntries(four.map((name) => [name, { thunderbolt: receptacles(name, 6, cables) }]));

const hintsOf = (ranks: MeshRack['ranks'], cables: readonly string[]): readonly string[] =>
  fleetFindings(fleet, observeMesh(fleet, { ranks, values: cabled(cables) }))
    .filter(({ code }) => code.startsWith('cabling/'))
    .map(({ hint }) => plainText(hint));

/** The ends of two cables of studio-3, both to nodes of kimi, are swapped. */
const swapped = meshOfFour.map((text) =>
  text.includes('studio-3:2') ? text.replace('studio-3:2', 'studio-3:3') : text.replace('studio-3:3', 'studio-3:2'),
);
const moved = meshOfFour.map((text) => text.replace('studio-4:4', 'studio-4:5'));

describe('findings about a node whose answers come from a different Mac', () => {
  it('omit everything that apply would repair', () => {
    const codes = (identity: string) => {
      const values = {
        'studio-1': { identity: { serial: 'A', hardwareUuid: 'A' }, 'wired-limit': { megabytes: 1 } },
        'studio-2': { identity: { serial: identity, hardwareUuid: identity } },
      };
      return fleetFindings(fleet, observeMesh(fleet, { ranks: serving, values })).map(({ code }) => code);
    };
    expect([codes('B'), codes('A')]).toEqual([['memory/wired-limit'], ['identity/same-mac']]);
  });
});

describe('cable work under load', () => {
  it('begins by stopping the placements that use the cable', () => {
    expect(hintsOf(serving, swapped)).toEqual(
      Array.from(
        { length: 2 },
        () =>
          'First stop every placement that uses this cable, because unplugging it under load can crash Macs:\n' +
          '  meshwright stop kimi\n' +
          'Then: Swap the cable ends in studio-3 receptacles 2 and 3.',
      ),
    );
  });

  it('needs no stop if no running placement uses the cable', () => {
    expect(hintsOf(stopped, swapped)[0]).toMatch(/^Swap the cable ends/);
    expect(hintsOf(serving, moved)).toEqual(['Move the cable end in studio-4 receptacle 5 to receptacle 4.']);
  });

  it('shows the stop command to people, but offers none to programs', () => {
    const observation = observeMesh(fleet, { ranks: serving, values: cabled(swapped) });
    const [found] = fleetFindings(fleet, observation).filter(({ code }) => code.startsWith('cabling/'));
    const hint = found?.hint ?? '';
    expect(allCommands(hint).map(({ verb }) => verb)).toEqual(['stop']);
    expect(commandsIn(hint, ['kimi'])).toEqual([]);
  });

  it('does not need a stop to connect a missing cable', () => {
    const missing = meshOfFour.filter((text) => !text.startsWith('studio-1:2'));
    expect(hintsOf(serving, missing)[0]).toMatch(/^Connect /);
  });

  it('begins by stopping placements that may run unobserved', () => {
    const observation = observeMesh(fleet, { ranks: stopped, values: cabled(swapped) });
    const blind: Known<never> = unknown('timed-out', 'launchctl did not answer');
    const nodes = Object.fromEntries(
      Object.entries(observation.nodes).map(([name, one]) => [
        name,
        { ...one, facts: { ...one.facts, services: blind } },
      ]),
    );
    const [found] = fleetFindings(fleet, { ...observation, nodes }).filter(({ code }) => code.startsWith('cabling/'));
    expect(plainText(found?.hint ?? '')).toMatch(/^First stop every placement that may use this cable/);
  });

  it('begins with a stop if the cable does not answer', () => {
    const silent = (name: string) =>
      receptacles(name, 6, meshOfFour).map((one) =>
        one.receptacle === 2 ? { ...one, state: 'silent' as const, peers: [] } : one,
      );
    const values = {
      ...cabled(meshOfFour),
      'studio-1': { thunderbolt: silent('studio-1') },
      'studio-2': { thunderbolt: silent('studio-2') },
    };
    const found = fleetFindings(fleet, observeMesh(fleet, { ranks: serving, values }));
    const [one] = found.filter(({ code }) => code === 'cabling/no-answer');
    expect(plainText(one?.hint ?? '')).toMatch(
      /^First stop every placement that uses[\s\S]*Then: Unplug the cable at one end/,
    );
  });

  it('does not need a stop while the cable to move is unknown', () => {
    const observation = observeMesh(fleet, { ranks: serving, values: cabled(swapped), unreachable: ['studio-2'] });
    const hints = fleetFindings(fleet, observation).filter(({ code }) => code.startsWith('cabling/'));
    expect(hints.filter(({ hint }) => plainText(hint).includes('meshwright stop'))).toEqual([]);
  });

  it('is one manual step in the plan for both links, after the stop', () => {
    const observation = observeMesh(fleet, { ranks: serving, values: cabled(swapped) });
    const plan = makePlan({ goal: { kind: 'converge' }, desired: fleet, observation, targets: four.map(nodeName) });
    const cables = plan.blockers.filter(({ code }) => code.startsWith('cabling/'));
    expect(cables.map(({ node, action, isHands }) => [node, plainText(action).split('\n')[1], isHands])).toEqual([
      ['studio-3', '  meshwright stop kimi', true],
    ]);
  });

  it('follows the stop and the removal of bridges by apply', () => {
    const bridge = { name: 'bridge0', isUp: true, mtuBytes: 1500, ipv4: [], ipv6: [], members: ['en3', 'en4', 'en5'] };
    const values = Object.fromEntries(
      four.map((name) => {
        const { interfaces } = healthyFacts(name, receptacles(name, 6, swapped));
        return [name, { ...cabled(swapped)[name], interfaces: [...interfaces, bridge] }];
      }),
    );
    const observation = observeMesh(fleet, { ranks: serving, values });
    const plan = makePlan({ goal: { kind: 'converge' }, desired: fleet, observation, targets: four.map(nodeName) });
    const [action = ''] = plan.blockers.filter(({ code }) => code.startsWith('cabling/')).map((one) => one.action);
    expect(plainText(action)).toMatch(
      /^First stop every placement that uses[\s\S]*\nThen: let apply remove the Thunderbolt Bridge on .*; then /,
    );
  });

  it('begins with a stop before an extra cable is removed', () => {
    expect(hintsOf(serving, [...meshOfFour, 'studio-1:6 <-> studio-2:6'])[0]).toMatch(
      /^First stop every placement that uses[\s\S]*Then: Remove the cable/,
    );
  });
});

onOnePage('stop-first');
