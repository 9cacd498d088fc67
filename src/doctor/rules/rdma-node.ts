import type { Severity } from '../../diagnostics/code-entry.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { withCommands } from '../hint-lines.ts';
import { firstMacosWithRdma, hasRdmaInSettings, isOutsideAccept, macosOf } from '../macos.ts';
import { nodeRdma } from '../rdma-node.ts';
import { rdmaSeverity } from '../rdma-severity.ts';
import { settingsKeys } from '../rdma-switch-steps.ts';
import type { Rule } from '../rule.ts';
import { nodeSubject } from '../subject.ts';

/** A Mac that can never have RDMA, whatever `rdma_ctl` says of it. */
function withoutThunderbolt5(node: ExaminedNode, about: { subject: string; severity: Severity }): Diagnostic {
  const { hardware, 'rdma-devices': devices } = node.facts;
  const model = hardware.kind === 'known' ? hardware.value.model : 'This Mac';
  const modified = devices.kind === 'known' ? devices.value.map(({ name }) => name) : [];
  const never = `${model} has Thunderbolt 4 and can never have RDMA, whatever rdma_ctl says.`;
  if (modified.length > 0) {
    return diagnose('rdma/no-thunderbolt-5', {
      ...about,
      severity: about.severity === 'error' ? 'error' : 'warning',
      detail: `${model} has Thunderbolt 4, and yet it shows ${modified.join(', ')}. A modified driver makes such devices; macOS itself refuses RDMA here.`,
      hint: `Use TCP on the links of ${node.name}. meshwright starts no placement over devices of a modified driver.`,
    });
  }
  return diagnose('rdma/no-thunderbolt-5', {
    ...about,
    detail: never,
    hint:
      about.severity === 'error'
        ? `Take ${node.name} out of the placements over RDMA. If only thunderbolt.rdma: required asks for it, declare its model: hardware: { model: "${model}" }`
        : 'Nothing to do while no placement needs RDMA here: TCP runs at 40 Gb/s, and no cable makes it faster.',
  });
}

function judge(examination: Examination, node: ExaminedNode): readonly Diagnostic[] {
  const about = { subject: nodeSubject(node.name), severity: rdmaSeverity(examination, [node.name]) };
  switch (nodeRdma(node)) {
    case 'no-thunderbolt-5':
      return [withoutThunderbolt5(node, about)];
    case 'macos-too-old': {
      // The update that macos.accept asks for is the same act; telling it twice would look like two troubles.
      const detail = `macOS ${macosOf(node)?.version ?? ''} has no RDMA over Thunderbolt; it came with ${firstMacosWithRdma}.`;
      return isOutsideAccept(examination, node) ? [] : [diagnose('rdma/macos-too-old', { ...about, detail })];
    }
    case 'disabled':
      return [
        diagnose('rdma/disabled', {
          ...about,
          detail: 'RDMA over Thunderbolt is disabled.',
          ...(hasRdmaInSettings(node.facts)
            ? {
                hint: `At the Mac: ${settingsKeys.open} ${settingsKeys.turn} Then restart it: meshwright reboot NODE`,
              }
            : {}),
        }),
      ];
    case 'restart-pending':
      return [
        diagnose('rdma/restart-pending', {
          ...about,
          detail: 'RDMA is switched on, but there is no RDMA device yet: it takes effect when the Mac restarts.',
          hint: withCommands(`Restart ${node.name}. If it then has no device either, its hardware cannot do RDMA:`, [
            `meshwright reboot ${node.name}`,
          ]),
        }),
      ];
    case 'ready':
    case 'unknown':
      return [];
  }
}

/** What keeps a cabled node as a whole from doing RDMA: the first missing rung of the ladder and nothing behind it. */
export const rdmaNode: Rule = (examination) =>
  examination.nodes.filter((node) => node.ends.length > 0).flatMap((node) => judge(examination, node));
