import { plugChanges } from '../../engine/cables/cable-events.ts';
import { identifyLines } from '../../report/cables/watch-text.ts';
import type { OpenedCluster } from '../cluster/open-cluster.ts';
import type { Ways } from '../cluster/ways.ts';
import { pageFor } from '../terminal/paint.ts';
import { exitOfSignal } from '../terminal/signals.ts';
import { type ExitCode, exitCode } from '../verb/exit-codes.ts';
import type { Run } from '../verb/verb.ts';
import { lostLines } from './lost-lines.ts';
import { watchCables } from './watch-cables.ts';

/** Says which receptacle somebody has just plugged into or pulled out of, until the run is interrupted. */
export async function identifyPlugs(run: Run, cluster: OpenedCluster, ways: Ways): Promise<ExitCode> {
  const page = pageFor(run.console);
  await watchCables(run, {
    cluster,
    ways,
    onSight: (sight, before) => {
      for (const line of lostLines(sight, before, page)) run.console.err(`${line}\n`);
      if (before === undefined) {
        run.console.err('Plug a cable in, or pull one out; the receptacle is told here, until Ctrl-C.\n');
        return false;
      }
      const [was, is] = [before, sight].map(({ work }) => work.examination.cabling.rack);
      if (was === undefined || is === undefined) return false;
      const { plugged, unplugged } = plugChanges(was, is);
      const lines = [
        ...unplugged.flatMap((plug) => identifyLines(plug, false, page)),
        ...plugged.flatMap((plug) => identifyLines(plug, true, page)),
      ];
      for (const line of lines) run.console.out(`${line}\n`);
      return false;
    },
  });
  return exitOfSignal(run.signal) ?? exitCode.done;
}
