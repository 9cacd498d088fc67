import { rdmaSwitches } from '../../doctor/rdma-switch-steps.ts';
import { troublesOf } from '../../doctor/troubles.ts';
import { unreachedOf } from '../../plan/unreached.ts';
import { withoutVainCommands } from '../../plan/vain-commands.ts';
import { doctorJson } from '../../report/doctor-json.ts';
import { doctorText } from '../../report/doctor-text.ts';
import { unreachedField } from '../../report/unreached.ts';
import { showJson } from '../diagnostics-output.ts';
import { codeForNodes } from '../exit-codes.ts';
import { lookForFindings } from '../look-for-findings.ts';
import { nodeVerdict } from '../node-verdict.ts';
import { pageFor } from '../paint.ts';
import type { VerbBody } from '../verb.ts';

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
