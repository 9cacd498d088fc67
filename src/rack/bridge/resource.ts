import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import { compareText } from '../../model/lists.ts';
import type { ScriptArgs } from '../../model/node-script.ts';
import type { Step } from '../../model/step.ts';
import { addressed } from '../../model/subject.ts';
import { gateStep, transactionStep } from '../build-step.ts';
import { compared } from '../compare-values.ts';
import { type FactDefinition, read } from '../fact.ts';
import { adoptedDaemon, keeperArg } from '../foreign-daemon/reading.ts';
import { interfacesFact } from '../network/interfaces-fact.ts';
import { networkServicesFact } from '../network/services-fact.ts';
import { connectionBlockers } from '../network/transaction/resource.ts';
import { type ObservedTarget, type Property, perTarget, type Resource, unobservedOn } from '../resource.ts';
import { bridgePreferencesFact } from './fact.ts';
import { type BridgeLayer, type BridgeLayers, bridgeLayerNames, bridgeLayers } from './reading.ts';

const sourceFacts = {
  interface: interfacesFact,
  preferences: bridgePreferencesFact,
  service: networkServicesFact,
} satisfies Record<BridgeLayer, FactDefinition>;

function presence(facts: Facts, layers: BridgeLayers, layer: BridgeLayer): Known<boolean> {
  if (!layers.unknown.includes(layer)) return known(layers.present.includes(layer));
  const source = read<unknown>(facts, sourceFacts[layer]);
  return source.kind === 'unknown' ? source : unknown('garbled', 'whether its members are receptacles is unknown');
}

const ownBridges = ({ active, preferred }: BridgeLayers): readonly BridgeLayers['active'][number][] =>
  [...active, ...preferred].filter(({ maker }) => maker === 'own');

function layerWords(layers: BridgeLayers, layer: BridgeLayer): string {
  // ifconfig and the preferences list the same members in different orders.
  const key = ({ name, members }: BridgeLayers['active'][number]): string =>
    [name, ...members.toSorted(compareText)].join(' ');
  const own = ownBridges(layers)
    .filter((one, at, all) => all.findIndex((other) => key(other) === key(one)) === at)
    .map(({ name, members }) => `${name} with ${members.join(' ')}`);
  const services = layers.services.map(({ name }) => name);
  return layer === 'service' ? services.join(', ') : own.join(', ') || 'present';
}

function propertiesOf(fleet: DesiredFleet, { desired: { name: node }, facts }: ObservedTarget): readonly Property[] {
  if (fleet.thunderbolt.bridge !== 'remove' || adoptedDaemon(fleet, facts) !== undefined) return [];
  const layers = bridgeLayers(fleet, facts);
  return bridgeLayerNames.map((layer) => {
    const observed = presence(facts, layers, layer);
    return {
      node,
      ...addressed({ kind: 'thunderbolt-bridge', part: layer }),
      kind: 'remove',
      ...compared(false, observed, (isThere) => (isThere ? layerWords(layers, layer) : 'none'), 'removed'),
      reason: 'thunderbolt.bridge: remove',
    };
  });
}

/** One removal per macOS bridge. The first one also removes services whose bridge is already gone. */
function removalsOf(fleet: DesiredFleet, target: ObservedTarget): readonly ScriptArgs['remove-bridge'][] {
  const layers = bridgeLayers(fleet, target.facts);
  const own = ownBridges(layers);
  const devices = layers.services.flatMap(({ device }) => device ?? []);
  const named = [...new Set(own.map(({ name }) => name))].toSorted(compareText);
  const bridges = named.length > 0 ? named : [...new Set(devices)].toSorted(compareText);
  return bridges.map((bridge, index) => ({
    bridge,
    members: [...new Set(own.filter(({ name }) => name === bridge).flatMap(({ members }) => members))],
    services: layers.services
      .filter(({ device }) => device === bridge || (index === 0 && !bridges.some((one) => one === device)))
      .map(({ name }) => name),
    ...keeperArg(fleet, target.facts),
  }));
}

function removeSteps(fleet: DesiredFleet, target: ObservedTarget, makes: readonly Property[]): readonly Step[] {
  const steps = removalsOf(fleet, target).map((args) =>
    transactionStep({
      name: `thunderbolt-bridge/remove-${args.bridge}`,
      call: { name: 'remove-bridge', args },
      makes,
      deadlineMs: 60_000,
    }),
  );
  return [...steps, gateStep({ name: 'thunderbolt-bridge/gate', needs: steps, awaits: makes, deadlineMs: 60_000 })];
}

const touchedBridges = (
  fleet: DesiredFleet,
  { facts }: ObservedTarget,
  changed: readonly Property[],
): readonly string[] =>
  changed.length === 0 ? [] : ownBridges(bridgeLayers(fleet, facts)).flatMap(({ name, members }) => [name, ...members]);

/** macOS's own Thunderbolt Bridge in its three layers. Bridges made by people are never changed. */
export const thunderboltBridge: Resource = {
  kind: 'thunderbolt-bridge',
  after: ['identity', 'sudo', 'foreign-daemon'],
  ...perTarget(propertiesOf, removeSteps),
  blockers: (view) => [
    ...view.findingBlockers('thunderbolt-bridge'),
    ...connectionBlockers(view, { kind: 'thunderbolt-bridge', propertiesOf, touched: touchedBridges }),
  ],
  // With `bridge: verify`, everything that needs the cables waits while a layer is unreadable.
  unobserved: unobservedOn('thunderbolt-bridge', ({ facts }, fleet) =>
    fleet.thunderbolt.bridge === 'verify' && bridgeLayers(fleet, facts).unknown.length > 0
      ? 'whether the Thunderbolt Bridge is present'
      : undefined,
  ),
};
