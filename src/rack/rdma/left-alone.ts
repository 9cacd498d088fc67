import { type Known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { leftAloneExit, notReturnedWords, unseenTool } from '../../node/probes/rdma-kernel.ts';
import { startingWords } from '../../node/probes/rdma-ports.ts';

/** Why our probe did not ask a verbs tool: a rank opens the devices now, or a program has not returned from them. */
export function leftAlone(answer: Answer | undefined): Known<never> | undefined {
  if (answer?.exit.kind !== 'exited' || answer.exit.code !== leftAloneExit) return undefined;
  const said = answer.stderr.trimEnd();
  if (said === `${unseenTool} ${notReturnedWords}`) {
    return unknown('busy', 'Not asked: the node could not see whether a program has not returned from RDMA.');
  }
  const isOurs = [startingWords, notReturnedWords].some((words) => said.endsWith(` ${words}`));
  return isOurs ? unknown('busy', `Not asked: ${said}.`) : undefined;
}
