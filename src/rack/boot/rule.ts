import { escapeText } from '../../diagnostics/escape.ts';
import type { PanicReport } from '../../model/facts/daemons.ts';
import { mostPanicReports } from '../../model/facts/node-records.ts';
import { named, prose } from '../../model/text/prose.ts';
import { diskText } from '../../model/text/units.ts';
import { defineNodeRule, type Finding, type RuleCodes } from '../define-rule.ts';
import type { ExaminedNode } from '../examination.ts';
import { readValue } from '../fact.ts';
import { placementsFact } from '../placement/observed/fact.ts';
import { bootSessionFact, diskSpaceFact, panicReportsFact } from './fact.ts';

const wantedFreeShare = 0.1;

/** Nodes with less than a tenth of the data volume free. */
export const disk = defineNodeRule(
  {
    'disk/low': {
      severity: 'warning',
      summary: 'The data volume is nearly full.',
      cause: 'Less than 10 % are free; models, updates and swap need room.',
      hint: 'Make room on the data volume.',
      role: 'told',
      facts: [diskSpaceFact],
    },
  },
  ({ name, facts }) => {
    const seen = readValue(facts, diskSpaceFact);
    if (seen === undefined || seen.freeBytes >= seen.totalBytes * wantedFreeShare) return [];
    return {
      code: 'disk/low',
      detail: `Only ${diskText(seen.freeBytes)} of ${diskText(seen.totalBytes)} are free.`,
      hint: prose`Make room on the data volume of ${named(name)}.`,
    };
  },
);

const codes = {
  'macos/panicked': {
    severity: 'notice',
    summary: 'This Mac has restarted after a kernel panic.',
    cause:
      'macOS has written the report of a panic when it was there again, and it has not started since. What the Mac served went down with it; what does not serve now has a finding of its own.',
    hint: 'When it happens again, compare the reports in /Library/Logs/DiagnosticReports, and send them to Apple.',
    role: 'told',
    facts: [panicReportsFact, bootSessionFact],
  },
  'network/suspected-tcp-panic': {
    severity: 'warning',
    summary: 'Perhaps much TCP over a Thunderbolt cable makes this Mac panic.',
    cause:
      'The report of its last kernel panic names the driver of IP over Thunderbolt. Such panics were told of under load, with one hub that leads to two Macs on macOS 26.5, and over plain cables. A report does not say what was sent.',
    hint: 'Take hubs out of the cables, give placements over these cables `transport: rdma` or the office network, bring all Macs to one newer macOS, and send the report to Apple.',
    role: 'told',
    facts: [panicReportsFact, bootSessionFact, placementsFact],
  },
} satisfies RuleCodes;

type Found = Finding<keyof typeof codes>;

/**
 * Whether the report was written in this boot session, however late: with FileVault macOS writes it only when somebody has
 * unlocked the disk. Of a panic at 01:35 the report was written at 07:09.
 */
function isOfThisSession({ facts }: ExaminedNode, { atEpochSeconds }: PanicReport): boolean {
  const session = readValue(facts, bootSessionFact);
  return session !== undefined && atEpochSeconds !== undefined && atEpochSeconds >= session.bootedAtEpochSeconds;
}

/** The last one written, whatever its name; of those that do not say when, none. */
const lastOf = (reports: readonly PanicReport[]): PanicReport | undefined =>
  reports
    .filter(({ atEpochSeconds }) => atEpochSeconds !== undefined)
    .toSorted((a, b) => (a.atEpochSeconds ?? 0) - (b.atEpochSeconds ?? 0))
    .at(-1);

function countText({ length }: readonly PanicReport[]): string {
  if (length === 1) return 'There is no other report';
  return length < mostPanicReports ? `There are ${length} reports` : `There are at least ${length} reports`;
}

/** The driver of IP over Thunderbolt, in whose code panics under load were told of. */
const isOfThunderboltIp = ({ extensions }: PanicReport): boolean =>
  extensions.some((name) => name.includes('AppleThunderboltIP'));

function told(report: PanicReport, all: readonly PanicReport[]): Found {
  const { name, reason, extensions } = report;
  const said = reason === undefined ? '' : ` The kernel said: ${escapeText(reason).replace(/\.$/, '')}.`;
  const way = extensions.length === 0 ? '' : ` Its backtrace goes through ${extensions.map(escapeText).join(', ')}.`;
  return {
    code: isOfThunderboltIp(report) ? 'network/suspected-tcp-panic' : 'macos/panicked',
    detail: `macOS has written the report of a kernel panic since this Mac started: ${name}.${said}${way} ${countText(all)} of panics on this Mac.`,
  };
}

/** A Mac that is there again after a kernel panic: what it served is down, and nobody has ordered a restart. */
export const panics = defineNodeRule(codes, (node) => {
  const reports = readValue(node.facts, panicReportsFact) ?? [];
  const last = lastOf(reports);
  return last === undefined || !isOfThisSession(node, last) ? [] : told(last, reports);
});
