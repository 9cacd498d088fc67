import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { withCommands } from '../hint-lines.ts';
import { firstMacosWithRdma, isOutsideAccept, macosOf } from '../macos.ts';
import { nodeRdma } from '../rdma-node.ts';
import { rdmaSeverity } from '../rdma-severity.ts';
import type { Rule } from '../rule.ts';
import { nodeSubject } from '../subject.ts';

function judge(examination: Examination, node: ExaminedNode): readonly Diagnostic[] {
  const about = { subject: nodeSubject(node.name), severity: rdmaSeverity(examination, [node.name]) };
  const model = node.facts.hardware.kind === 'known' ? node.facts.hardware.value.model : 'This Mac';
  switch (nodeRdma(node)) {
    case 'no-thunderbolt-5':
      return [
        diagnose('rdma/no-thunderbolt-5', {
          ...about,
          detail: `${model} cannot do RDMA: its receptacles are Thunderbolt 4 or older, whatever rdma_ctl says.`,
          hint:
            about.severity === 'error'
              ? `Take ${node.name} out of the links, or put a Mac with Thunderbolt 5 in its place.`
              : 'Nothing to do while nothing in the file needs RDMA: TCP runs at 40 Gb/s, and no cable makes it faster.',
        }),
      ];
    case 'macos-too-old': {
      // The update that macos.accept asks for is the same act; telling it twice would look like two troubles.
      const detail = `macOS ${macosOf(node)?.version ?? ''} has no RDMA over Thunderbolt; it came with ${firstMacosWithRdma}.`;
      return isOutsideAccept(examination, node) ? [] : [diagnose('rdma/macos-too-old', { ...about, detail })];
    }
    case 'disabled':
      return [diagnose('rdma/disabled', { ...about, detail: 'RDMA over Thunderbolt is disabled.' })];
    case 'no-device':
      return [
        diagnose('rdma/no-device', {
          ...about,
          detail: 'RDMA is enabled, but the system shows no RDMA device at all.',
          hint: withCommands(`Restart ${node.name}; if there is still no device, its hardware cannot do RDMA:`, [
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
