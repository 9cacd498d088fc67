import { totalBytes } from '../../../model/model-bytes.ts';
import type { JobArgs } from '../../../model/node-script.ts';
import type { Step } from '../../../model/step.ts';
import { buildStep, scriptStep } from '../../build-step.ts';
import type { Property } from '../../resource.ts';
import { jobAct, transferDeadlineMs } from '../trees/tree-steps.ts';

/** Serves a published model to other Macs; the Mac itself is not changed. */
export function serveSteps(property: Property, args: JobArgs['serve-model']): readonly Step[] {
  const act = jobAct(args.tree, { name: 'serve-model', args });
  const serve = buildStep({
    name: `${property.address}/serve`,
    class: 'job',
    act,
    towards: [property],
    deadlineMs: transferDeadlineMs(totalBytes(args.files)),
  });
  const clear = scriptStep({
    name: `${property.address}/serve/clear`,
    call: { name: 'clear-staging', args: { folders: [], jobs: act.kind === 'job' ? [act.key] : [] } },
    towards: [property],
    needs: [serve],
    deadlineMs: 120_000,
  });
  return [serve, clear].map((one) => ({ ...one, changes: [] }));
}
