import { layoutsOf } from '../../desired/layouts.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { rankPlacement } from '../../model/facts/daemons.ts';
import type { RdmaProcess } from '../../model/facts/rdma.ts';
import { seenValue } from '../../model/known.ts';
import { blank, its, meshwright, withTail } from '../../model/text/command.ts';
import { named, type Prose, prose } from '../../model/text/prose.ts';
import { defineNodeRule, type Finding, type RuleCodes } from '../define-rule.ts';
import { type Examination, type ExaminedNode, rdmaSeverity } from '../examination.ts';
import { readValue } from '../fact.ts';
import { servicesFact } from '../records/services-fact.ts';
import { kernelObjects, rdmaHoldersFact, rdmaObjectsFact, rdmaObjectWords, stuckProcesses } from './kernel-fact.ts';

const codes = {
  'rdma/held': {
    severity: 'warning',
    summary: 'A process other than a rank of a running placement has RDMA devices open.',
    cause:
      '`ioreg` names each process that has opened a device (`IOUserClientCreator`), and `ps` shows that the process is alive. Its protection domains and queue pairs are freed when it exits, so the Mac needs no restart. While a verbs tool runs, meshwright starts no second one.',
    hint: prose`If the process is not needed, kill it: ${withTail(meshwright('exec', its.node), 'env', 'kill', blank('PID'))}`,
    facts: [rdmaHoldersFact],
  },
  'rdma/left-in-kernel': {
    severity: 'warning',
    summary: 'The kernel holds RDMA objects that no process uses.',
    cause:
      '`ioclasscount` counts protection domains or queue pairs that no living process has open, or `ioreg` shows them inactive. A process that exited in the middle of its work left them behind. Only a restart frees them.',
    hint: prose`Restart this Mac before its devices run out of such objects: ${meshwright('reboot', its.node)}`,
    facts: [rdmaObjectsFact, rdmaHoldersFact],
  },
  'rdma/process-stuck': {
    summary: 'A process is stuck in the RDMA driver.',
    cause:
      'A verbs tool, or a process whose RDMA objects are inactive, is in an uninterruptible wait (`U` in `ps`). No signal stops it, and every verbs tool started now would hang behind it (SQCU/mesh, RDMA-RULES.md).',
    hint: prose`Restart this Mac: ${meshwright('reboot', its.node)}`,
    role: { blocks: 'rdma', when: 'rdma-needed' },
    facts: [rdmaHoldersFact],
  },
} satisfies RuleCodes;

type Found = Finding<keyof typeof codes>;

const nameOf = ({ program, pid }: RdmaProcess): string => `${escapeText(program)} (pid ${pid})`;

function placementOf({ facts }: ExaminedNode, { pid, group }: RdmaProcess): string | undefined {
  const services = readValue(facts, servicesFact);
  const service = services?.find((one) => one.pid !== undefined && (one.pid === pid || one.pid === group));
  return service && rankPlacement(service);
}

/** True if a placement should serve on this node, or serves until this plan stops it: its RDMA objects are right. */
const isWanted = ({ desired }: Examination, { name }: ExaminedNode, placement: string): boolean =>
  desired.placements.some(
    (one) =>
      one.name === placement &&
      (one.state === 'serving' || one.lingersOn !== undefined) &&
      layoutsOf(one).some(({ nodes }) => nodes.includes(name)),
  );

function heldFinding(examination: Examination, node: ExaminedNode, process: RdmaProcess): Found | readonly Found[] {
  const placement = placementOf(node, process);
  if (placement !== undefined && isWanted(examination, node, placement)) return [];
  const devices = process.devices.join(', ');
  const what = devices === '' ? 'runs, so meshwright starts no other verbs tool' : `has ${devices} open`;
  const whose = placement === undefined ? '' : `, a rank of ${placement},`;
  const hint =
    placement === undefined
      ? withCommands('If the process is not needed, kill it', [
          withTail(meshwright('exec', node.name), 'env', 'kill', String(process.pid)),
        ])
      : withCommands('The file does not want this rank here. Stop it', [meshwright('apply')]);
  return { code: 'rdma/held', detail: `${nameOf(process)}${whose} ${what}.`, hint };
}

const rebootHint = ({ name }: ExaminedNode, gain: string): Prose =>
  withCommands(prose`Restart ${named(name)}: only a restart ${gain}`, [meshwright('reboot', name)], '.');

function stuckFinding(examination: Examination, node: ExaminedNode, stuck: readonly RdmaProcess[]): Found {
  const names = stuck.map(nameOf).join(' and ');
  return {
    code: 'rdma/process-stuck',
    severity: rdmaSeverity(examination, [node.name]) === 'error' ? 'error' : 'warning',
    detail: `${names} ${stuck.length === 1 ? 'hangs' : 'hang'} in the RDMA driver, where no signal stops a process.`,
    hint: rebootHint(node, `stops ${names}`),
  };
}

/** Objects without a process. The objects of a hanging process are reported with that process. */
function leftFinding(node: ExaminedNode): readonly Found[] {
  const left = seenValue(kernelObjects(node.facts))?.withoutProcess;
  if (left === undefined || left.domains + left.queuePairs === 0) return [];
  const detail = `The kernel holds ${rdmaObjectWords(left)} that no process uses.`;
  return [{ code: 'rdma/left-in-kernel', detail, hint: rebootHint(node, 'frees them') }];
}

/** A verbs tool that has just started belongs to another observation. */
const isPassing = ({ program, isVerbsTool }: RdmaProcess): boolean => program.startsWith('ibv_') && !isVerbsTool;

/**
 * RDMA objects that do not belong to the node's ranks: those of another program, which a person can kill, or those
 * without a process, which only a restart frees.
 */
export const rdmaKernelRule = defineNodeRule(codes, (node, examination) => {
  const holders = readValue(node.facts, rdmaHoldersFact);
  if (holders === undefined) return [];
  const living = holders.processes.filter(({ state }) => state !== 'gone');
  const stuck = stuckProcesses(holders);
  const others = living.filter((process) => !stuck.includes(process) && !isPassing(process));
  return [
    ...(stuck.length === 0 ? leftFinding(node) : [stuckFinding(examination, node, stuck)]),
    ...others.flatMap((process) => heldFinding(examination, node, process)),
  ];
});
