import { given } from '../../model/given.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { actOn, type CommandSpec } from '../apply/act-on.ts';
import { reaching } from '../apply/final-check.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { lockedFleet, settleFromLock } from '../cluster/settle-cluster.ts';
import { createConsent } from '../plan/consent.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';

/** `models prune NAME…|--all`: deletes models that the file does not declare. */
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
function wantedNames({ own, words }: Run): readonly string[] | undefined {
  if (own['all'] === true && words.length > 0)
    throw usageError('Model names and --all cannot be combined.', 'Leave out one of them.');
  if (own['all'] === true) return undefined;
  if (words.length > 0) return [...new Set(words)];
  throw usageError(
    'No model was specified.',
    prose`Name models, or add --all. To see the models that are not in the file: ${meshwright('models list')}`,
  );
}
