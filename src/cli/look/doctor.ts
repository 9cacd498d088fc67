import { troublesOf } from '../../engine/diagnose/troubles.ts';
import { withoutVainCommands } from '../../engine/plan/vain-commands.ts';
import { unreachedOf } from '../../engine/plan/view.ts';
import { rdmaSwitches } from '../../rack/rdma/rdma-switch-steps.ts';
import { doctorJson, doctorText } from '../../report/doctor.ts';
import { unreachedField } from '../../report/nodes-text.ts';
import { codeForNodes } from '../exit-codes.ts';
import { pageFor, showJson } from '../terminal/console.ts';
import type { VerbBody } from '../verb.ts';
import { lookForFindings, nodeVerdict } from './look-for-findings.ts';

/** `doctor [NODE…]`: one cause, one action and the evidence for each broken thing, in the order of the walk. */
export const doctor: VerbBody = async (run) => {
  const look = await lookForFindings(run);
  const { names, desired, observation, budgets, isSimulated } = look;
  const troubles = withoutVainCommands(troublesOf(look), { desired: look.locked, observation });
  const switches = rdmaSwitches(troubles, observation);
  const shown = { desired, observation, troubles, switches, budgets, isSimulated };
  const lost = names.filter((name) => (observation.failures[name]?.length ?? 0) > 0);
  if (run.options.json) {
    showJson(run.console, { ...doctorJson(shown), ...unreachedField(unreachedOf(lost, observation)) });
  } else run.console.out(doctorText({ ...shown, ...pageFor(run.console) }));
  return codeForNodes(names.map((name) => nodeVerdict(name, look)));
};
