import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { fleetWithout } from '../../../../src/engine/goals/uninstall.ts';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import { isEmptyPlan } from '../../../../src/engine/plan/plan.ts';
import type { Baseline, Traces } from '../../../../src/model/facts/node-records.ts';
import type { UnknownReason } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { Goal } from '../../../../src/rack/goal.ts';
import { rackOfThree } from '../../../rack/placements.ts';
import { changed, makePlan, stepIds } from '../../../rack/plans.ts';
import { observedFleet, settledFleet, settledValues } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';

const node = 'studio-4';
const nodes = [nodeName(node)];
const enrolled: Traces = { hasFolder: true, trees: 'some', hasSudoers: true, hasKey: true };
const bridge = '{"bridge0":{"Interfaces":["en2","en3"],"Options":{"__AUTO__":"thunderbolt-bridge"}}}';

const services = [
  ['Ethernet', 'Ethernet', 'en0'],
  ['Thunderbolt Bridge', 'Thunderbolt Bridge', 'bridge0'],
  ['Thunderbolt 1', 'Thunderbolt 1', 'en2'],
] as const;
const order = [
  'An asterisk (*) denotes that a network service is disabled.',
  ...services.flatMap(([name, port, device], at) => [
    `(${at + 1}) ${name}`,
    `(Hardware Port: ${port}, Device: ${device})`,
    '',
  ]),
].join('\n');
const dhcp = ([name, , device]: (typeof services)[number], at: number) => [
  `0000000${at}-0000-4000-8000-000000000000`,
  { Interface: { DeviceName: device }, IPv4: { ConfigMethod: 'DHCP' }, UserDefinedName: name },
];

/** The baseline of a Mac that slept, with a Thunderbolt Bridge and a service for only one receptacle. */
const before: Baseline = {
  values: [
    { key: 'power', text: 'sleep 1\nautorestart 0' },
    { key: 'wired-limit', text: '0' },
    { key: 'service-order', text: order },
    { key: 'service-addresses', text: JSON.stringify(Object.fromEntries(services.map(dhcp))) },
    { key: 'bridge', text: bridge },
    { key: 'firewall' },
  ],
  daemons: [],
};

const noBridge = 'p: Could not extract value, error: No value at that key path or invalid key path: ';
const withoutBridge = before.values.map((one) =>
  one.key === 'bridge' ? { key: 'bridge', text: `${noBridge}VirtualNetworkInterfaces.Bridge` } : one,
);

const mine: Partial<FactValues> = {
  traces: enrolled,
  baseline: before,
  trees: [
    { kind: 'model', name: 'tiny', digest: '0123456789abcdef', isCurrent: false, state: 'intact' },
    { kind: 'runtime', name: 'reference', digest: '0123456789abcdef', isCurrent: true, state: 'intact' },
  ],
  services: [{ label: 'dev.meshwright.keeper', state: 'waiting', runs: 1, lastExit: '0' }],
  'network-services': [
    { name: 'Ethernet', port: 'Ethernet', device: 'en0', isEnabled: true },
    { name: 'Thunderbolt 1', port: 'Thunderbolt 1', device: 'en2', isEnabled: true },
    { name: 'Thunderbolt Bridge', port: 'Thunderbolt Bridge', device: 'bridge0', isEnabled: false },
    ...[2, 3, 4].map((at) => ({
      name: `Thunderbolt ${at}`,
      port: `Thunderbolt ${at}`,
      device: `en${at + 1}`,
      isEnabled: true,
    })),
  ],
};

interface Case {
  readonly wish?: { readonly restore?: boolean; readonly models?: boolean };
  readonly facts?: Partial<FactValues>;
  readonly unknown?: Readonly<Record<string, UnknownReason>>;
  readonly unreachable?: readonly string[];
}

function plan({ wish = {}, facts = mine, unknown = {}, unreachable = [] }: Case = {}): Plan {
  const { fleet, placements } = fleetWithout(settledFleet(), nodes);
  const settled = settledValues();
  const values = { ...settled, [node]: { ...settled[node], ...facts } };
  const observation = observedFleet({ values, unknown: { [node]: unknown }, unreachable });
  const goal: Goal = { kind: 'uninstall', nodes, placements, restore: false, models: false, ...wish };
  return makePlan({ goal, desired: fleet, observation, targets: nodes });
}

const argsOf = ({ steps }: Plan, name: string): unknown =>
  steps.flatMap(({ act }) => ('name' in act && act.name === name ? [act.args] : []))[0];
const reported = ({ diagnostics }: Plan): Readonly<Record<string, string>> =>
  Object.fromEntries(diagnostics.map(({ code, detail }) => [code, plainText(detail)]));

describe('the uninstall goal', () => {
  it('removes addresses, services, trees and finally access, in this order', () => {
    const made = plan();
    expect(changed(made)).toContain(`${node} uninstall/access`);
    expect(changed(made).every((id) => id.startsWith(`${node} `))).toBe(true);
    const ids = stepIds(made);
    expect(ids.slice(-4)).toEqual(['clear', 'accounts', 'gate', 'withdraw'].map((verb) => `${node}/uninstall/${verb}`));
    const last = made.steps.at(-1);
    expect([last?.needs, last?.class]).toEqual([[`${node}/uninstall/gate`], 'once']);
    expect(argsOf(made, 'clear-node')).toEqual({ labels: ['dev.meshwright.keeper'], models: false });
    const clear = made.steps.find(({ id }) => id === `${node}/uninstall/clear`);
    expect(clear?.needs).toEqual([`${node}/link-address/gate`]);
  });

  it('keeps models and values, and reports them together with the manual steps', () => {
    const made = plan();
    expect(stepIds(made).filter((id) => id.includes('/value/') || id.includes('network'))).toEqual([]);
    expect(made.effects.map(({ kind }) => kind)).toEqual(['network']);
    const { 'uninstall/stays': stays = '', 'uninstall/by-hand': byHand = '' } = reported(made);
    expect(stays).toContain('models as plain files in /opt/meshwright/models');
    expect(stays).toContain('power: sleep 0, autorestart 1 (before: sleep 1, autorestart 0)');
    expect(stays).toContain('bridge0 is removed');
    expect(stays).not.toContain('no longer counted');
    const counted = { ...mine, 'rdma-starts': { startedIn: `BOOT-${node}`, starts: 2, last: [] } };
    expect(reported(plan({ facts: counted }))['uninstall/stays']).toContain('starts, no longer counted');
    expect(byHand).toContain('rdma_ctl disable');
  });

  it.each<[string, Partial<FactValues>, restore?: boolean]>([
    ['FileVault is on: System', { filevault: 'on', jobs: [{ key: 'abc', fields: { state: 'running' } }] }],
    ['automatic login is on: System', { 'automatic-login': { user: 'ana' }, traces: { ...enrolled, trees: 'theirs' } }],
    ['RDMA is enabled: System', { 'macos-version': { version: '27.0', build: '26A428' } }],
    ['-delete /Users/_meshrank', { accounts: { accounts: [], made: [], begun: ['_meshrank'], checked: [] } }],
    ['the key of this login', { traces: { ...enrolled, hasKey: false, trees: 'models' } }],
    ['the rule that lets this login', { traces: { ...enrolled, hasSudoers: false, hasFolder: false } }],
    ['the order of services differs; --restore', { baseline: { ...before, values: withoutBridge } }],
    ['all values as they are now', { baseline: { values: [], daemons: [] } }, true],
  ])('reports what is kept: %s', (words, facts, restore = false) => {
    expect(Object.values(reported(plan({ facts: { ...mine, ...facts }, wish: { restore } }))).join()).toContain(words);
  });

  it('restores differing values from the baseline with --restore, and reports values that were never recorded', () => {
    const made = plan({ wish: { restore: true, models: true } });
    expect(argsOf(made, 'restore-network')).toEqual({
      bridge: { name: 'bridge0', interfaces: ['en2', 'en3'], auto: 'thunderbolt-bridge' },
      made: ['Thunderbolt 2', 'Thunderbolt 3', 'Thunderbolt 4'],
      switched: [{ service: 'Thunderbolt Bridge', on: true }],
      manual: [],
      order: ['Ethernet', 'Thunderbolt Bridge', 'Thunderbolt 1'],
    });
    const values = made.steps.flatMap(({ act }) =>
      act.kind === 'script' && act.name === 'restore-value' ? [act.args.key] : [],
    );
    expect(values).toEqual(['power', 'wired-limit']);
    expect(argsOf(made, 'clear-node')).toMatchObject({ models: true });
    expect(made.effects.map(({ kind }) => kind)).toContain('delete');
    expect(reported(made)['uninstall/stays']).toBe('values that could not be read before the first change: firewall.');
  });

  const withRouter = { address: '192.0.2.7', prefixLength: 24, router: '192.0.2.1' };
  const manual = { ConfigMethod: 'Manual', Addresses: ['192.0.2.7'], SubnetMasks: ['255.255.255.0'] };
  /** The facts of the Mac if the last service was configured so before. */
  const withBefore = (ipv4: object): Partial<FactValues> => {
    const recorded = Object.fromEntries(services.map(dhcp));
    const [id = ''] = Object.keys(recorded).slice(-1);
    const text = JSON.stringify({ ...recorded, [id]: { ...recorded[id], IPv4: ipv4 } });
    const values = before.values.map((one) => (one.key === 'service-addresses' ? { ...one, text } : one));
    return { ...mine, baseline: { ...before, values } };
  };

  it('restores an address with its router, and names services that were configured differently', () => {
    const settings: readonly (readonly [object, string, object])[] = [
      [{ ...manual, Router: '192.0.2.1' }, 'manual', withRouter],
      [manual, 'manual', { address: '192.0.2.7', prefixLength: 24 }],
      [{ ConfigMethod: 'BOOTP' }, 'other', {}],
    ];
    for (const [ipv4, method, address] of settings) {
      const facts = withBefore(ipv4);
      const made = plan({ facts, wish: { restore: true } });
      const back = method === 'manual' ? [{ ...address, service: 'Thunderbolt 1', device: 'en2' }] : [];
      expect(argsOf(made, 'restore-network')).toMatchObject({ manual: back });
      const words = 'services whose IPv4 was off or set by another method before, and no longer is: Thunderbolt 1';
      expect(reported(made)['uninstall/stays']?.includes(words)).toBe(method === 'other');
      expect(reported(plan({ facts }))['uninstall/stays']).not.toContain(words);
    }
  });

  it('restores a service whose router has changed', () => {
    const backOf = (router: string): unknown => {
      const address = { address: '192.0.2.7', prefixLength: 24 };
      const now = { service: 'Thunderbolt 1', device: 'en2', method: 'manual', address, router } as const;
      const facts = { ...withBefore({ ...manual, Router: '192.0.2.1' }), 'service-addresses': [now] };
      return argsOf(plan({ facts, wish: { restore: true } }), 'restore-network');
    };
    expect(backOf('192.0.2.1')).toMatchObject({ manual: [] });
    expect(backOf('192.0.2.254')).toMatchObject({ manual: [{ router: '192.0.2.1' }] });
  });

  it('compares Spotlight volume by volume, ignoring removed volumes', () => {
    const text = ['/ on', '/Volumes/Off off', '/Volumes/Gone on'].join('\n');
    const baseline: Baseline = { values: [{ key: 'spotlight', text }], daemons: [] };
    const restored = (state: 'on' | 'off' | 'no-server'): readonly string[] => {
      const volumes = [
        { volume: '/', state: state === 'on' ? state : 'off' },
        { volume: '/Volumes/Off', state: 'off' },
        { volume: '/Volumes/New', state: 'on' },
      ] as const;
      const spotlight = state === 'no-server' ? [] : volumes;
      return stepIds(plan({ facts: { ...mine, baseline, spotlight }, wish: { restore: true } }));
    };
    expect(restored('off')).toContain(`${node}/uninstall/value/spotlight`);
    expect(restored('no-server')).toContain(`${node}/uninstall/value/spotlight`);
    expect(restored('on')).not.toContain(`${node}/uninstall/value/spotlight`);
  });

  it("restores a foreign daemon's plist, and loads it only with --restore", () => {
    const daemons = [{ label: 'io.exo.networksetup', wasLoaded: true, isMoved: true }];
    const facts = { ...mine, baseline: { ...before, daemons } };
    const loads = [plan({ facts }), plan({ facts, wish: { restore: true } })].map((made) =>
      argsOf(made, 'return-daemon'),
    );
    expect(loads).toEqual([
      { label: 'io.exo.networksetup', load: false },
      { label: 'io.exo.networksetup', load: true },
    ]);
  });

  it('changes nothing while a fact that it needs is unknown', () => {
    const needed = ['traces', 'trees', 'services', 'jobs', 'baseline', 'placements', 'hardware-ports'] as const;
    for (const fact of needed) {
      const made = plan({ unknown: { [fact]: 'timed-out' } });
      expect([fact, stepIds(made).filter((id) => id.includes('uninstall'))]).toEqual([fact, []]);
      expect(made.waiting.some(({ resource }) => resource === 'uninstall/access')).toBe(true);
    }
  });

  it('is empty and reports nothing on a Mac without traces of meshwright', () => {
    const none: Partial<FactValues> = {
      accounts: { accounts: [], made: [], begun: [], checked: [] },
      'service-addresses': [],
      interfaces: settledValues()[node]?.interfaces?.map((one) => ({ ...one, ipv4: [] })) ?? [],
      'network-services': [{ name: 'Ethernet', port: 'Ethernet', device: 'en0', isEnabled: true }],
    };
    const made = plan({ facts: none });
    expect([isEmptyPlan(made), made.diagnostics]).toEqual([true, []]);
  });

  it('changes nothing on an unreachable node', () => {
    const made = plan({ unreachable: [node] });
    expect([stepIds(made), Object.keys(made.observed)]).toEqual([[], []]);
  });

  it('changes nothing on a Mac that denies sudo', () => {
    const denied = plan({ facts: { ...mine, sudo: 'denied' } });
    expect(stepIds(denied)).toEqual([]);
    expect(denied.blockers.map(({ code }) => code)).toEqual(['sudo/denied']);
  });
});

describe('a fleet that loses some nodes', () => {
  it('stops placements shared with other nodes, and drops placements that are only on the lost nodes', () => {
    const without = fleetWithout({ ...settledFleet(), placements: rackOfThree.placements }, nodes);
    expect(without.placements).toEqual(['kimi']);
    expect(without.fleet.placements.map(({ name, state, nodes: own }) => [name, state, own])).toEqual([
      ['kimi', 'stopped', ['studio-1', 'studio-2', 'studio-3']],
      ['qwen', 'serving', ['studio-3', 'studio-2']],
    ]);
    expect(without.fleet.thunderbolt.links.some(({ ends }) => ends.some((end) => end.node === node))).toBe(false);
    expect(without.fleet.system.keeper).toBeUndefined();
  });
});

onOnePage('uninstall');
