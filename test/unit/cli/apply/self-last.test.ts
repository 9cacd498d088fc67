import { describe, expect, it } from 'vitest';
import { shippedPlaybook } from '../../../../src/cli/apply/act-on.ts';
import { selfLast } from '../../../../src/cli/apply/act-verbs.ts';
import { expandTask, playNodes } from '../../../../src/engine/playbooks/expand.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { rackOfThree } from '../../../rack/placements.ts';

/** What each play of a reboot does on which nodes, if it runs on studio-4, which has a rank of kimi. */
function playsFor(...targets: readonly string[]): readonly string[] {
  const scope = { desired: rackOfThree, targets: targets.map(nodeName) };
  return selfLast(shippedPlaybook('reboot'), nodeName('studio-4'), scope).plays.flatMap((play) => {
    const nodes = playNodes(play, scope);
    return play.tasks.map((task) => {
      const work = expandTask(task, scope, nodes);
      const started = work.kind === 'plan' && work.goal.kind === 'start' ? ` ${work.goal.placements.join()}` : '';
      return `${task.kind}${started} on ${nodes.join()}`;
    });
  });
}

describe('a reboot of the Mac on which it runs', () => {
  it('comes last and alone, and leaves placements with a rank there stopped until then', () => {
    expect(playsFor('studio-4', 'studio-2')).toEqual([
      'reboot on studio-2',
      'wait on studio-2',
      'converge on studio-2',
      'start qwen on studio-2',
      'reboot on studio-4',
    ]);
    expect(playsFor('studio-4', 'studio-1')).not.toContainEqual(expect.stringContaining('start'));
  });

  it('is the only one if no other Mac is named', () => {
    expect(playsFor('studio-4')).toEqual(['reboot on studio-4']);
  });
});
