/** The process that the supervisor tests start: two nodes without a simulated Mac. */
import { superviseUntilStopped } from '../../src/sim/hosts/control/supervisor.ts';
import { bareModel } from '../rack/running.ts';

const folder = process.argv[2] ?? '';
await superviseUntilStopped({
  folder,
  clusterFile: 'cluster.yaml',
  load: async () => {
    if (folder.endsWith('broken')) throw new Error('the cluster file of this test is broken');
    return bareModel(['studio-1', 'studio-2']);
  },
  log: (line) => process.stderr.write(`${line}\n`),
});
