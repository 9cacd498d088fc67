import { given } from '../../model/given.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { actOn, type CommandSpec } from '../apply/act-on.ts';
import { reaching } from '../apply/final-check.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { lockedFleet, settleFromLock } from '../cluster/settle-cluster.ts';
import { wantsAll } from '../cluster/targets.ts';
import { createConsent } from '../plan/consent.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';

export const modelsPrune: VerbBody = async (run) => {
  const names = wantedNames(run);
  const opened = openCluster(run);
  const cluster = settleFromLock(run, opened);
  // A model whose list of files is not in the lock is still declared.
  const fleet = { ...cluster.fleet, models: lockedFleet(run, opened).models };
  const targets = targetedNodes(run, fleet, []).map(({ name }) => name);
  const command: CommandSpec = {
    verb: 'models prune',
    ...reaching({ kind: 'prune', ...given({ names }) }, { desired: fleet, targets }),
    consent: createConsent(run, { allowable: ['delete'] }),
    ending: () => ({ checked: 'nothing is left to delete' }),
  };
  return actOn(run, command, cluster);
};

/** The named models; undefined with `--all`. @throws FleetError `cli/usage` */
function wantedNames(run: Run): readonly string[] | undefined {
  if (wantsAll(run, 'Model')) return undefined;
  if (run.words.length > 0) return [...new Set(run.words)];
  throw usageError(
    'No model was specified.',
    prose`Name models, or add --all. To see the models that are not in the file: ${meshwright('models list')}`,
  );
}
