import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Rule } from '../rule.ts';
import { nodeSubject } from '../subject.ts';
import { wantedWiredMegabytes } from '../wired-megabytes.ts';

const limitText = (megabytes: number): string => (megabytes === 0 ? 'the default of macOS' : `${megabytes} MB`);

/** Nodes whose GPU may wire another amount of memory than the file says. */
export const wiredLimit: Rule = ({ desired, nodes }) =>
  nodes.flatMap(({ name, facts }) => {
    const limit = facts['wired-limit'];
    const memoryBytes = facts.hardware.kind === 'known' ? facts.hardware.value.memoryBytes : undefined;
    const wanted = wantedWiredMegabytes(desired.system.wiredLimit, memoryBytes);
    if (limit.kind === 'unknown' || wanted === undefined || limit.value.megabytes === wanted) {
      return [];
    }
    return [
      diagnose('memory/wired-limit', {
        subject: nodeSubject(name),
        detail: `The GPU may wire ${limitText(limit.value.megabytes)}; the file wants ${limitText(wanted)}.`,
        hint: `On ${name}, until the next boot: sudo sysctl iogpu.wired_limit_mb=${wanted}`,
      }),
    ];
  });
