import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { DesiredFleet } from '../../src/model/desired.ts';
import { shortDigest } from '../../src/model/digest.ts';
import type { ConvergeRack } from './converge-rack.ts';

const ours = 'Library/Application Support/meshwright';
const list = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder).sort() : []);

/** Everything of meshwright on a node, except models and the history. */
interface Kept {
  readonly services: readonly string[];
  readonly sealedFiles: number;
  readonly placements: readonly string[];
  readonly logs: readonly string[];
  readonly leases: readonly string[];
  readonly staging: readonly string[];
  /** The jobs on the node, without the mark of the last reboot. */
  readonly jobs: readonly string[];
  /** The current version, and the number of versions. */
  readonly runtimes: Readonly<Record<string, { readonly current: string; readonly versions: number }>>;
}

function keptIn(root: string): Kept {
  const at = (path: string): readonly string[] => list(join(root, path));
  const versions = (name: string): readonly string[] => at(`opt/meshwright/runtimes/${name}`);
  return {
    services: at('Library/LaunchDaemons').filter((name) => name.startsWith('dev.meshwright.')),
    sealedFiles: at(`${ours}/files`).length,
    placements: at(`${ours}/placements`),
    logs: at(`${ours}/log`).filter((name) => name !== 'history' && name !== 'keeper'),
    leases: at(`${ours}/lease`),
    staging: at('opt/meshwright/staging'),
    jobs: at(`${ours}/ops`).filter((name) => !name.startsWith('reboot-')),
    runtimes: Object.fromEntries(
      at('opt/meshwright/runtimes').map((name) => [
        name,
        {
          current:
            readlinkSync(join(root, 'opt/meshwright/runtimes', name, 'current'))
              .split('/')
              .at(-1) ?? '',
          versions: versions(name).length - 1,
        },
      ]),
    ),
  };
}

function expectKept({ placements, runtimes, system }: DesiredFleet, node: string, kept: Kept): void {
  const own = placements.filter(({ nodes }) => nodes.some((name) => name === node));
  const names = own.map(({ name }) => name).sort();
  expect({ ...kept, runtimes: undefined }).toEqual({
    services: [
      ...(system.keeper === undefined ? [] : ['dev.meshwright.keeper.plist']),
      ...names.map((name) => `dev.meshwright.rank.${name}.plist`),
    ],
    // Program, data and property list of the keeper.
    sealedFiles: names.length + (system.keeper === undefined ? 0 : 3),
    placements: names,
    logs: names.map((name) => `${name}.log`),
    leases: [],
    staging: [],
    jobs: [],
    runtimes: undefined,
  });
  const wanted = runtimes.filter(({ name }) => own.some(({ runtime }) => runtime === name));
  for (const { name, sha256 } of wanted) {
    expect([name, kept.runtimes[name]?.current]).toEqual([name, sha256 && shortDigest(sha256)]);
  }
  const most = (name: string): number => (wanted.some((one) => one.name === name) ? 2 : 1);
  expect(Object.entries(kept.runtimes).filter(([name, { versions }]) => versions > most(name))).toEqual([]);
}

/** Expects that the file declares everything that meshwright has on a node, except for the parts that rule 16 keeps. */
export function expectNothingOld(rack: ConvergeRack): void {
  const { nodes, placements } = rack.desired();
  for (const { name } of nodes) expectKept(rack.desired(), name, keptIn(rack.fleet().nodes[name]?.root ?? ''));
  const serving = placements.filter(({ state }) => state === 'serving');
  const ranks = serving.flatMap((one) => one.nodes.map((node) => `${node} dev.meshwright.rank.${one.name}`));
  const mine = rack
    .fleet()
    .processes()
    .filter(({ node }) => nodes.some(({ name }) => name === node));
  expect(mine.map(({ node, label }) => `${node} ${label}`).sort()).toEqual(ranks.sort());
  expect(rack.lock().formerNetworks).toEqual({});
}
