import { needsRdma } from '../../../desired/layouts.ts';
import { endTowards } from '../../../drivers/contract/addresses.ts';
import type { PlacementFinding } from '../../../drivers/contract/driver.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import type { NodeObservation } from '../../../model/facts/fact-values.ts';
import { isInStayingBridge } from '../../addresses/link-address-properties.ts';
import { receptacleDevices } from '../../addresses/link-address-seen.ts';
import { listWords } from '../../cabling/cabling-text.ts';

/** The receptacles of a member at which its ranks would meet others, and which a bridge holds that the file keeps. */
function heldReceptacles(
  { nodes }: DesiredPlacement,
  fleet: DesiredFleet,
  { node, facts }: NodeObservation,
): readonly number[] {
  const devices = receptacleDevices(facts);
  if (devices.kind !== 'known') return [];
  const ends = nodes.flatMap((other) => endTowards(fleet.thunderbolt, node, other) ?? []);
  return ends
    .map(({ receptacle }) => receptacle)
    .filter((receptacle) => {
      const device = devices.value.get(receptacle);
      return device !== undefined && isInStayingBridge(fleet, facts, device);
    })
    .toSorted((a, b) => a - b);
}

/**
 * Members whose receptacles have no address for their ranks to meet at, since the file keeps the bridge that holds them.
 * Where RDMA is needed its ladder of causes tells the same bridge.
 */
export function bridgedLinks(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  nodes: readonly NodeObservation[],
): readonly PlacementFinding[] {
  if (fleet.thunderbolt.bridge !== 'keep') return [];
  const held = nodes
    .filter(({ node }) => !needsRdma(fleet, node))
    .map((one) => ({ node: one.node, receptacles: heldReceptacles(placement, fleet, one) }))
    .filter(({ receptacles }) => receptacles.length > 0);
  if (held.length === 0) return [];
  const where = held.map(({ node, receptacles }) => {
    const word = receptacles.length === 1 ? 'receptacle' : 'receptacles';
    return `${word} ${listWords(receptacles.map(String))} of ${node}`;
  });
  const names = listWords(held.map(({ node }) => node));
  return [
    {
      code: 'placement/bridged-link',
      severity: 'error',
      detail: `Its ranks meet over ${listWords(where)}, which a bridge holds that the file keeps: they have no address there.`,
      hint: `Write bridge: remove under thunderbolt, and apply again; or take ${names} out of its nodes, or these links out of the file.`,
    },
  ];
}
