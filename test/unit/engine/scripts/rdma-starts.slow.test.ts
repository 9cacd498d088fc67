import { describe, expect, it } from 'vitest';
import { rdmaStartsFile, serviceFile, startFile } from '../../../../src/node/paths/own-paths.ts';
import { bootSession, changed, type MacRoot, run, unchanged } from './mac-root.ts';
import { isRunning, kick, rankRoots, record, remove, stop, stopAs } from './rank-root.ts';
import { scriptShells } from './shells.ts';

const { newRoot } = rankRoots();

describe.concurrent.each(scriptShells)('the record of a start over RDMA in $name', (shell) => {
  const linesOf = (root: MacRoot, path: string): readonly string[] => root.read(path).trim().split('\n');
  const counted = (root: MacRoot): readonly string[] => linesOf(root, rdmaStartsFile.path);
  const marked = (root: MacRoot): readonly string[] => linesOf(root, startFile('kimi').path);

  it("counts starts per boot session and survives the placement's removal", async () => {
    const root = newRoot(shell);
    await run(root, record());
    expect(await run(root, kick(3, 'rdma'))).toEqual(changed);
    await isRunning(root);
    expect(counted(root)).toEqual([`boot=${bootSession}`, 'starts=1']);
    expect(await run(root, kick(3, 'rdma'))).toEqual(unchanged);
    await run(root, stop());
    await run(root, remove);
    root.file(serviceFile('kimi').path, '<plist/>');
    await run(root, record({ generation: 4 }));
    await run(root, kick(4, 'rdma'));
    expect(counted(root)).toEqual([`boot=${bootSession}`, 'starts=2']);
    await run(root, stop());
    const next = 'F2B1C3D4-0000-4000-8000-000000000002';
    root.file('../boot', `${next}\n`);
    await run(root, record({ generation: 5 }));
    await run(root, kick(5, 'rdma'));
    expect(counted(root)).toEqual([`boot=${next}`, 'starts=1']);
    await run(root, stop());
  });

  it('refunds a start that served and stopped cleanly, but not a failed one', async () => {
    const root = newRoot(shell);
    const startAndStop = async (generation: number, outcome: Parameters<typeof stopAs>[0]): Promise<void> => {
      await run(root, record({ generation }));
      await run(root, kick(generation, 'rdma'));
      await isRunning(root);
      await run(root, stopAs(outcome));
    };
    await startAndStop(3, 'hung');
    await startAndStop(4, 'served');
    expect([counted(root)[1], marked(root).at(-1)]).toEqual(['starts=1', 'outcome=served']);
    expect(await run(root, stopAs('served'))).toEqual(unchanged);
    await startAndStop(5, 'failed');
    expect([counted(root)[1], marked(root).at(-1)]).toEqual(['starts=2', 'outcome=failed']);
  });

  it('does not refund a start whose rank had to be killed', async () => {
    const root = newRoot(shell, 'ignores');
    await run(root, record());
    await run(root, kick(3, 'rdma'));
    await isRunning(root);
    await run(root, stopAs('served'));
    expect([counted(root)[1], marked(root).at(-1)]).toEqual(['starts=1', 'outcome=served']);
  });
});
