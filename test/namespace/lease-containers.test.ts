import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newRunId } from '../../src/apply/journal/journal.ts';
import { claimOf, thisController } from '../../src/apply/lease/controller.ts';
import { createLeaseKeeper } from '../../src/apply/lease/lease-keeper.ts';
import { openSession } from '../../src/apply/reach/session.ts';
import { loadPlaybook } from '../../src/engine/playbooks/load.ts';
import { nodeName } from '../../src/model/node.ts';
import { textOf } from '../architecture/sources.ts';
import { quickTiming } from '../scenarios/apply-rack.ts';
import { patience, startConvergeRack } from '../scenarios/converge-rack.ts';
import { buildController } from '../scenarios/kill/build-controller.ts';
import { startController } from '../scenarios/kill/run-controller.ts';

const node = nodeName('studio-1');
const newNamespace = ['unshare', '--pid', '--fork'];

// trust H2: containers of one computer have its host name and its network cards, but separate PIDs.
it.each([
  ['with its own /proc', [...newNamespace, '--mount-proc']],
  ["with the host's /proc", newNamespace],
])(
  'a container %s respects the lease of a run whose process it cannot see',
  { timeout: patience },
  async (_, within) => {
    const { playbook } = loadPlaybook(textOf('playbooks/apply.yaml'), { file: 'apply.yaml', name: 'apply' });
    const rack = await startConvergeRack('containers');
    const [way] = rack.ways().filter((one) => one.node === node);
    if (way === undefined || playbook === undefined) throw new Error('no SSH target for the node, or no playbook');
    const session = openSession(way, { deadlineMs: 10_000, retryMs: 10 });
    try {
      const me = await thisController();
      const keeper = createLeaseKeeper({
        claim: claimOf(me, { run: 'run-outside', verb: 'apply', phase: 'starting', since: '2026-11-22T11:00:00Z' }),
        controller: me,
        timing: quickTiming,
        waitMs: 0,
        askMs: 10_000,
        session: () => session,
        onChange: () => undefined,
      });
      await keeper.take([node]);
      const state = join(rack.folder, 'state');
      await mkdir(join(state, 'journal'), { recursive: true });
      const { nodes, userKey } = rack.fleet();
      const contained = await startController(
        await buildController(rack.folder),
        {
          playbook,
          desired: rack.desired(),
          targets: [node],
          nodes: Object.entries(nodes).map(([name, straight]) => ({ name: nodeName(name), ...straight })),
          userKey: userKey.path,
          state,
          runId: newRunId(new Date()),
          timing: quickTiming,
        },
        within,
      );
      const { report, stderr } = await contained.ended;
      expect(stderr).toBe('');
      expect(report?.plans.flatMap(({ steps }) => steps)).not.toEqual([]);
      expect(new Set(report?.steps.map(({ outcome }) => outcome))).toEqual(new Set(['skipped']));
      expect(keeper.lost.aborted).toBe(false);
      expect(keeper.lease(node)).toMatchObject({ kind: 'leased' });
      await keeper.release();
    } finally {
      session.close();
      await rack.stop();
    }
  },
);
