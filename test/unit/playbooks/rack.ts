import type { DesiredFleet, DesiredPlacement } from '../../../src/model/desired.ts';
import { nodeName } from '../../../src/model/node.ts';
import { desiredFleet, desiredNode } from '../doctor/fleet-builder.ts';

/** A placement of a model on these nodes, as the file wants it. */
const placement = (name: string, nodes: readonly string[], more: Partial<DesiredPlacement> = {}): DesiredPlacement => ({
  name,
  model: 'kimi-k2',
  runtime: 'reference',
  nodes: nodes.map(nodeName),
  transport: 'tcp',
  contextTokens: 131_072,
  parallel: 1,
  env: {},
  args: [],
  endpointPort: 8080,
  firstTokenMs: 30_000,
  state: 'serving',
  ...more,
});

/** Four studios, one of them a worker; one placement on all, one on two that is published, one that is wanted stopped. */
export const rack: DesiredFleet = desiredFleet({
  nodes: ['studio-1', 'studio-2', 'studio-3', 'studio-4'].map((name) => ({
    ...desiredNode(name),
    labels: name === 'studio-4' ? { role: 'worker' } : {},
  })),
  placements: [
    placement('kimi', ['studio-1', 'studio-2', 'studio-3', 'studio-4']),
    placement('qwen', ['studio-3', 'studio-2'], { publication: { servedName: 'qwen' } }),
    placement('spare', ['studio-4'], { state: 'stopped' }),
  ],
});
