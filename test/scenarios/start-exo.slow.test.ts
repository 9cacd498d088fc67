import { rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { shared } from '../rack/kept-running.ts';
import { sampleOf } from '../sample.ts';
import { writeIndexedModel } from '../tiny-models.ts';
import { filePart, first, pairFile, second } from './converge-file.ts';
import { leftIn, patience, rankNodes, startConvergeRack } from './converge-rack.ts';
import { writeExoImage } from './exo-doubles.ts';
import { hurried, justBefore, toldOfRanks } from './failed-start.ts';

/** Two Macs of the example with exo over RDMA, with a short start deadline. */
const file = (state: 'serving' | 'stopped') =>
  pairFile((value) => {
    value['runtimes'] = { exo: { driver: 'exo', archive: './dist/exo-main.dmg', version: '1.0.72' } };
    value['models'] = { tiny: { source: './models/indexed', repository: 'acme/indexed' } };
    const chat = filePart(value, 'placements', 'chat');
    Object.assign(chat, { runtime: 'exo', transport: 'rdma', state, expect: { firstToken: '4s' } });
  });

const rack = shared(() => startConvergeRack('exo-start', pairFile()));
beforeAll(async () => {
  await writeExoImage(join(rack.folder, 'dist/exo-main.dmg'), 'main');
  await writeIndexedModel(join(rack.folder, 'models/indexed'));
  expect(await rack.declare(file('stopped'))).toEqual([]);
  await rack.converge();
  expect(await rack.declare(file('serving'))).toEqual([]);
}, patience);

const at = (node: string, path: string): string => join(rack.fleet().nodes[node]?.root ?? '', path);
const home = '/Library/Application Support/meshwright/placements/chat/files/home/.exo';

function signal(node: string, name: NodeJS.Signals): void {
  const found = rack
    .fleet()
    .processes()
    .find((one) => one.node === node);
  if (found === undefined) throw new Error(`no rank runs on ${node}`);
  process.kill(found.pid, name);
}

interface Failure {
  readonly what: string;
  readonly before: string;
  readonly happen: (node: string) => void;
  readonly heal?: (node: string) => Promise<void>;
  /** The diagnostic about the first failed rank, or about no reason if the rank is suspended. */
  readonly expected: (rank: string) => unknown;
}

const named = (logged: string) => (rank: string) => ({
  code: 'mesh/first-failing-rank',
  detail: expect.stringMatching(
    new RegExp(`^Rank ${rank} exited \\(.+\\)\\.(?: .+)? It logged:\\n(?:.*\\n)*.*${logged}`),
  ),
});

const failures: readonly Failure[] = [
  {
    what: 'logs that it cannot use its home, and exits',
    before: 'kick',
    happen: (node) => {
      rmSync(at(node, home), { recursive: true, force: true });
      writeFileSync(at(node, home), '');
    },
    heal: (node) => rm(at(node, home)),
    expected: named('File exists'),
  },
  {
    what: 'is killed before it joined',
    before: 'joined',
    happen: (node) => signal(node, 'SIGKILL'),
    expected: (rank) => ({
      code: 'mesh/first-failing-rank',
      detail: expect.stringMatching(new RegExp(`^Rank ${rank} was ended by a signal \\(Killed: 9\\)`)),
    }),
  },
  {
    what: 'is suspended',
    before: 'joined',
    happen: (node) => signal(node, 'SIGSTOP'),
    expected: () => ({
      code: 'mesh/no-failing-rank',
      detail: expect.stringContaining('No rank exited or logged a known error'),
    }),
  },
];

const nodes = [first, second] as const;
const cases = failures.flatMap((failure) => nodes.map((node, rank) => [node, failure.what, rank, failure] as const));

describe('an exo start', { timeout: patience }, () => {
  it.each(sampleOf(cases, { few: 1, oneIn: 2 }))(
    'leaves nothing running if the rank on %s %s',
    async (node, _what, rank, one) => {
      // Followers start after the leader joined: each has a separate gate.
      const happening = justBefore(one.before, () => one.happen(node), one.before === 'kick' ? node : undefined);
      const { report, after } = await rack.behindOurBack(() =>
        rack.apply({ onEvent: happening.listen, timing: hurried }),
      );
      expect(happening.hasHappened()).toBe(true);
      expect(rack.fleet().processes()).toEqual([]);
      expect(toldOfRanks(report)).toEqual([one.expected(`${rank} on ${node}`)]);
      expect(leftIn(after)).not.toEqual([]);
      await one.heal?.(node);
    },
  );

  it('succeeds once the fault is gone', async () => {
    await rack.converge();
    expect(rankNodes(rack)).toEqual([...nodes]);
  });
});
