import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { fleetFindings } from '../../../../src/engine/diagnose/diagnose-fleet.ts';
import type { Known } from '../../../../src/model/known.ts';
import { unknown } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { allCommands, commandsIn } from '../../../../src/model/text/prose.ts';
import { type MeshRack, meshFleet, observeMesh, threeMembers } from '../../../rack/placements.ts';
import { makePlan } from '../../../rack/plans.ts';
import { healthyFacts, meshOfFour, receptacles } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';

const fleet = meshFleet();
const serving = threeMembers(['joined', 'running', 'running']);
const stopped = threeMembers(['stopped', 'stopped', 'stopped']);
const four = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];

/** What is seen of the cables, besides what runs. */
const cabled = (cables: readonly string[]): NonNullable<MeshRack['values']> =>
  Object.fromEntries(four.map((name) => [name, { thunderbolt: receptacles(name, 6, cables) }]));

const hintsOf = (members: MeshRack['members'], cables: readonly string[]): readonly string[] =>
  fleetFindings(fleet, observeMesh(fleet, { members, values: cabled(cables) }))
    .filter(({ code }) => code.startsWith('cabling/'))
    .map(({ hint }) => plainText(hint));

/** The ends of two cables of studio-3, both to members of kimi, are in each other's receptacle. */
const swapped = meshOfFour.map((text) =>
  text.includes('studio-3:2') ? text.replace('studio-3:2', 'studio-3:3') : text.replace('studio-3:3', 'studio-3:2'),
);
const moved = meshOfFour.map((text) => text.replace('studio-4:4', 'studio-4:5'));

describe('findings about a node whose answers come from a different Mac', () => {
  it('are without those that apply would mend, since it changes nothing there', () => {
    const codes = (identity: string) => {
      const values = {
        'studio-1': { identity: { serial: 'A', hardwareUuid: 'A' }, 'wired-limit': { megabytes: 1 } },
        'studio-2': { identity: { serial: identity, hardwareUuid: identity } },
      };
      return fleetFindings(fleet, observeMesh(fleet, { members: serving, values })).map(({ code }) => code);
    };
    expect([codes('B'), codes('A')]).toEqual([['memory/wired-limit'], ['identity/same-mac']]);
  });
});

describe('work at cables under load', () => {
  it('begins with the stop of what runs over the cable', () => {
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

  it('is free where the placement is stopped, or the cable joins no two of its members', () => {
    expect(hintsOf(stopped, swapped)[0]).toMatch(/^Swap the cable ends/);
    expect(hintsOf(serving, moved)).toEqual(['Move the cable end in studio-4 receptacle 5 to receptacle 4.']);
  });

  it('gives a program no stop to type that only makes way for a person', () => {
    const observation = observeMesh(fleet, { members: serving, values: cabled(swapped) });
    const [found] = fleetFindings(fleet, observation).filter(({ code }) => code.startsWith('cabling/'));
    const hint = found?.hint ?? '';
    expect(allCommands(hint).map(({ verb }) => verb)).toEqual(['stop']);
    expect(commandsIn(hint, ['kimi'])).toEqual([]);
  });

  it('does not wait for a placement where a cable is only put in', () => {
    const missing = meshOfFour.filter((text) => !text.startsWith('studio-1:2'));
    expect(hintsOf(serving, missing)[0]).toMatch(/^Connect /);
  });

  it('asks to stop what may run where nobody could see it', () => {
    const observation = observeMesh(fleet, { members: stopped, values: cabled(swapped) });
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

  it('begins with the stop as well where the cable does not answer', () => {
    const silent = (name: string) =>
      receptacles(name, 6, meshOfFour).map((one) =>
        one.receptacle === 2 ? { ...one, state: 'silent' as const, peers: [] } : one,
      );
    const values = {
      ...cabled(meshOfFour),
      'studio-1': { thunderbolt: silent('studio-1') },
      'studio-2': { thunderbolt: silent('studio-2') },
    };
    const found = fleetFindings(fleet, observeMesh(fleet, { members: serving, values }));
    const [one] = found.filter(({ code }) => code === 'cabling/no-answer');
    expect(plainText(one?.hint ?? '')).toMatch(
      /^First stop every placement that uses[\s\S]*Then: Unplug the cable at one end/,
    );
  });

  it('asks for no stop while nobody can say which cable to move', () => {
    const observation = observeMesh(fleet, { members: serving, values: cabled(swapped), unreachable: ['studio-2'] });
    const hints = fleetFindings(fleet, observation).filter(({ code }) => code.startsWith('cabling/'));
    expect(hints.filter(({ hint }) => plainText(hint).includes('meshwright stop'))).toEqual([]);
  });

  it('stands on the work list of a plan behind the stop, once for both links', () => {
    const observation = observeMesh(fleet, { members: serving, values: cabled(swapped) });
    const plan = makePlan({ goal: { kind: 'converge' }, desired: fleet, observation, targets: four.map(nodeName) });
    const cables = plan.blockers.filter(({ code }) => code.startsWith('cabling/'));
    expect(cables.map(({ node, action, isHands }) => [node, plainText(action).split('\n')[1], isHands])).toEqual([
      ['studio-3', '  meshwright stop kimi', true],
    ]);
  });

  it('is one order with the bridges that apply removes first', () => {
    const bridge = { name: 'bridge0', isUp: true, mtuBytes: 1500, ipv4: [], ipv6: [], members: ['en3', 'en4', 'en5'] };
    const values = Object.fromEntries(
      four.map((name) => {
        const { interfaces } = healthyFacts(name, receptacles(name, 6, swapped));
        return [name, { ...cabled(swapped)[name], interfaces: [...interfaces, bridge] }];
      }),
    );
    const observation = observeMesh(fleet, { members: serving, values });
    const plan = makePlan({ goal: { kind: 'converge' }, desired: fleet, observation, targets: four.map(nodeName) });
    const [action = ''] = plan.blockers.filter(({ code }) => code.startsWith('cabling/')).map((one) => one.action);
    expect(plainText(action)).toMatch(
      /^First stop every placement that uses[\s\S]*\nThen: let apply remove the Thunderbolt Bridge on .*; then /,
    );
  });

  it('is told of a second cable too', () => {
    expect(hintsOf(serving, [...meshOfFour, 'studio-1:6 <-> studio-2:6'])[0]).toMatch(
      /^First stop every placement that uses[\s\S]*Then: Remove the cable/,
    );
  });
});

onOnePage('stop-first');
