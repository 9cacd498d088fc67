import { isBeyondMemory, wantedWiredMegabytes } from '../../desired/wired-megabytes.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredWiredLimit } from '../../model/desired.ts';
import type { ExaminedNode } from '../examination.ts';
import { withCommands } from '../hint-lines.ts';
import type { Rule } from '../rule.ts';
import { nodeSubject } from '../subject.ts';
import { memoryText } from '../units.ts';

const limitText = (megabytes: number): string => (megabytes === 0 ? 'the default of macOS' : `${megabytes} MB`);

function judge(limit: DesiredWiredLimit, { name, facts }: ExaminedNode): readonly Diagnostic[] {
  const seen = facts['wired-limit'];
  const memoryBytes = facts.hardware.kind === 'known' ? facts.hardware.value.memoryBytes : undefined;
  // A size may be more than this Mac has: while its memory is unknown nobody may be told to set it.
  if (memoryBytes === undefined && limit.kind !== 'default') {
    return [];
  }
  const wanted = wantedWiredMegabytes(limit, memoryBytes);
  const subject = nodeSubject(name);
  if (memoryBytes !== undefined && wanted !== undefined && isBeyondMemory(limit, memoryBytes)) {
    return [
      diagnose('memory/wired-limit-too-large', {
        subject,
        detail: `The file wants ${limitText(wanted)}; this Mac has ${memoryText(memoryBytes)}, of which macOS needs 8 GB.`,
      }),
    ];
  }
  if (seen.kind === 'unknown' || wanted === undefined || seen.value.megabytes === wanted) {
    return [];
  }
  return [
    diagnose('memory/wired-limit', {
      subject,
      detail: `The GPU may wire ${limitText(seen.value.megabytes)}; the file wants ${limitText(wanted)}.`,
      hint: withCommands(`Set it with meshwright apply, or on ${name} until its next boot:`, [
        `sudo sysctl iogpu.wired_limit_mb=${wanted}`,
      ]),
    }),
  ];
}

/** Nodes whose GPU may wire another amount of memory than the file says, and files that ask for more than there is. */
export const wiredLimit: Rule = ({ desired, nodes }) => {
  const limit = desired.system.wiredLimit;
  return limit === undefined ? [] : nodes.flatMap((node) => judge(limit, node));
};
