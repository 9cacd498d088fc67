import { describe, expect, it } from 'vitest';
import { servingLines, servingPlacements } from '../../../../src/cli/apply/serving-lines.ts';
import { firmSpace } from '../../../../src/diagnostics/cells.ts';
import { proseText } from '../../../../src/diagnostics/prose-text.ts';
import { viewOf } from '../../../../src/engine/plan/view.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import type { GatewayStatus } from '../../../../src/model/gateway.ts';
import { known } from '../../../../src/model/known.ts';
import { fitLines } from '../../../../src/report/page.ts';
import {
  endpointStatus,
  gatewayStatus,
  type MeshRack,
  meshFleet,
  observeMesh,
  threeRanks,
} from '../../../rack/placements.ts';
import { fleetWithFallback, onTheFallback, published } from '../../../rack/plans.ts';

interface Seen {
  readonly of?: DesiredFleet;
  readonly rack?: MeshRack;
  readonly gateways?: readonly GatewayStatus[];
  readonly columns?: number;
  readonly isSimulated?: boolean;
}

/** What serves according to the final check of a run that made this observation. */
function serving({ of = meshFleet(), rack, gateways = [] }: Seen): ReturnType<typeof servingPlacements> {
  const observation = observeMesh(of, rack ?? { ranks: threeRanks(['joined', 'joined', 'joined']) });
  const nodes = Object.fromEntries(
    Object.entries(observation.nodes).map(([name, node]) => {
      const facts = name === 'studio-1' ? { ...node.facts, gateways: known(gateways) } : node.facts;
      return [name, { ...node, facts }];
    }),
  );
  const targets = of.nodes.map(({ name }) => name);
  return servingPlacements(viewOf({ desired: of, observation: { ...observation, nodes }, targets }));
}

/** The lines after that run. */
const lines = ({ columns = 80, isSimulated = false, ...seen }: Seen): readonly string[] =>
  servingLines(serving(seen), seen.of ?? meshFleet()).flatMap((line) =>
    fitLines(proseText(line, { isSimulated }, firmSpace), columns),
  );

describe("an apply's last lines", () => {
  it('name the only Mac that reaches an unpublished endpoint, and the command to try it', () => {
    expect(lines({})).toEqual([
      'kimi serves on studio-1, port 8080 (reachable only on that Mac)',
      'Try it: meshwright ask kimi "Hello"',
    ]);
    expect(lines({ columns: 40, isSimulated: true })).toEqual([
      'kimi serves on studio-1, port 8080',
      '(reachable only on that Mac)',
      'Try it:',
      'meshwright ask kimi "Hello" --sim',
    ]);
  });

  it('name the URL of an endpoint whose gateway accepts requests', () => {
    expect(lines({ of: published(), gateways: [gatewayStatus([endpointStatus({})])] })).toEqual([
      'kimi serves at http://studio-1.lan:8080/v1',
      'Try it: meshwright ask kimi "Hello"',
    ]);
  });

  it('name all replicas on one line', () => {
    const { placements, ...fleet } = meshFleet();
    const replicas = placements.flatMap((one) =>
      [0, 1].map((at) => ({ ...one, name: `${one.name}-${at}`, replica: { of: one.name, at } })),
    );
    const urls = ['http://mac-0:8080/v1', 'http://mac-1:8080/v1'];
    const all = urls.map((url, at) => ({ placement: `kimi-${at}`, node: 'a', port: 8_080, url }));
    const lines = servingLines(all, { ...fleet, placements: replicas });
    expect(lines.map((line) => proseText(line, { isSimulated: false }))).toEqual([
      'kimi serves at http://mac-0:8080/v1 and http://mac-1:8080/v1',
      'Try it: meshwright ask kimi "Hello"',
    ]);
  });

  it('are included as data with --json', () => {
    const fallback = fleetWithFallback();
    const all = [
      serving({}),
      serving({ of: published(), gateways: [gatewayStatus([endpointStatus({})])] }),
      serving({ of: fallback, rack: { ranks: onTheFallback(fallback) } }),
    ];
    expect(all.flat()).toEqual([
      { placement: 'kimi', node: 'studio-1', port: 8_080 },
      { placement: 'kimi', node: 'studio-1', port: 8_080, url: 'http://studio-1.lan:8080/v1' },
      { placement: 'kimi', node: 'studio-4', port: 8_080, onFallback: true },
    ]);
  });

  it.each<[string, readonly GatewayStatus[]]>([
    ['is missing', []],
    ['is closed', [gatewayStatus([endpointStatus({ closed: 'draining' })])]],
    ['did not report', [{ kind: 'silent', port: 8_080, reason: 'it did not answer in time' }]],
  ])('omit an endpoint whose gateway %s', (_, gateways) => {
    expect(lines({ of: published(), gateways })).toEqual([]);
  });

  it('omit a placement that returned no token', () => {
    expect(lines({ rack: { ranks: threeRanks(['joined', 'joined', 'exited']) } })).toEqual([]);
  });

  it('name the fallback node on which a placement serves', () => {
    const of = fleetWithFallback();
    expect(lines({ of, rack: { ranks: onTheFallback(of) } })[0]).toBe(
      'kimi serves on its fallback on studio-4, port 8080 (reachable only on that Mac)',
    );
  });
});
