import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { PanicReport } from '../../model/fact-values.ts';
import type { ExaminedNode } from '../examination.ts';
import type { Rule } from '../rule.ts';
import { nodeSubject } from '../subject.ts';

/** A report can bear the time of the panic itself, which is as long before the boot as the Mac took to restart. */
const restartSeconds = 600;

/** Whether the panic has ended the boot session before this one; undefined when nobody can say. */
function hasJustRestarted({ facts }: ExaminedNode, { atEpochSeconds }: PanicReport): boolean {
  const session = facts['boot-session'];
  return (
    session.kind === 'known' &&
    atEpochSeconds !== undefined &&
    atEpochSeconds >= session.value.bootedAtEpochSeconds - restartSeconds
  );
}

/** The driver of IP over Thunderbolt, in whose code panics under load were told of. */
const isOfThunderboltIp = ({ extensions }: PanicReport): boolean =>
  extensions.some((name) => name.includes('AppleThunderboltIP'));

function told(node: ExaminedNode, report: PanicReport, all: readonly PanicReport[]): Diagnostic {
  const { name, reason, extensions } = report;
  const said = reason === undefined ? '' : ` The kernel said: ${escapeText(reason).replace(/\.$/, '')}.`;
  const way = extensions.length === 0 ? '' : ` Its backtrace goes through ${extensions.map(escapeText).join(', ')}.`;
  const count = all.length === 1 ? 'There is no other report' : `There are ${all.length} reports`;
  const code = isOfThunderboltIp(report) ? 'network/suspected-tcp-panic' : 'macos/panicked';
  return diagnose(code, {
    subject: nodeSubject(node.name),
    detail: `This boot session began after the kernel panic of ${name}.${said}${way} ${count} of panics on this Mac.`,
  });
}

/** A Mac that is there again after a kernel panic: what it served is down, and nobody has ordered a restart. */
export const panics: Rule = ({ nodes }) =>
  nodes.flatMap((node) => {
    const reports = node.facts['panic-reports'];
    const last = reports.kind === 'known' ? reports.value.at(-1) : undefined;
    return reports.kind === 'unknown' || last === undefined || !hasJustRestarted(node, last)
      ? []
      : [told(node, last, reports.value)];
  });
