import { describe, expect, it } from 'vitest';
import { upgradeAhead } from '../../../src/apply/foreseen.ts';
import { nodeName } from '../../../src/model/node.ts';
import { desiredFleet, observedFleet } from '../../rack/rack.ts';

const nodes = [nodeName('studio-1'), nodeName('studio-2')];
const work = { kind: 'upgrade', what: 'macos', nodes, placements: ['kimi'] } as const;
const ahead = (updateDriver?: 'softwareupdate', names = nodes) => {
  const desired = desiredFleet();
  const old = { 'macos-version': { version: '26.5', build: '25F71' } } as const;
  const now = { 'macos-version': { version: '26.7', build: '25G229' } } as const;
  const observation = observedFleet({ values: { 'studio-1': now, 'studio-2': old } });
  const macos = { ...desired.macos, version: '26.7', ...(updateDriver && { updateDriver }) };
  return upgradeAhead({ ...work, nodes: names }, { observation, desired: { ...desired, macos } })?.goal;
};

describe('the plan for the effects of an upgrade', () => {
  it('restarts only the Macs that lack the version, or none if a person does', () => {
    const back = ['kimi'];
    const install = { to: 'macOS 26.7', on: {} };
    expect(ahead('softwareupdate')).toEqual({ kind: 'reboot', nodes: nodes.slice(1), back, install });
    expect(ahead()).toEqual({ kind: 'stop', placements: ['kimi'], back });
  });

  it('starts what does not serve if no Mac needs the update', () => {
    expect(ahead(undefined, nodes.slice(0, 1))).toEqual({ kind: 'start', placements: ['kimi'] });
  });
});
