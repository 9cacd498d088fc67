import { escapeText } from '../../diagnostics/escape.ts';
import type { PanicReport } from '../../model/facts/daemons.ts';
import { mostPanicReports } from '../../model/facts/node-records.ts';
import { named, prose } from '../../model/text/prose.ts';
import { diskText } from '../../model/text/units.ts';
import { defineNodeRule, type Finding, type RuleCodes } from '../define-rule.ts';
import type { ExaminedNode } from '../examination.ts';
import { readValue } from '../fact.ts';
import { placementsFact } from '../placement/observed/fact.ts';
import { bootSessionFact, byTime, diskSpaceFact, panicReportsFact } from './fact.ts';

const wantedFreeShare = 0.1;

export const disk = defineNodeRule(
  {
    'disk/low': {
      severity: 'warning',
      summary: 'The data volume is nearly full.',
      cause: 'Less than 10 % is free; models, updates and swap need space.',
      hint: 'Free up space on the data volume.',
      facts: [diskSpaceFact],
    },
  },
  ({ name, facts }) => {
    const seen = readValue(facts, diskSpaceFact);
    if (seen === undefined || seen.freeBytes >= seen.totalBytes * wantedFreeShare) return [];
    return {
      code: 'disk/low',
      detail: `Only ${diskText(seen.freeBytes)} of ${diskText(seen.totalBytes)} is free.`,
      hint: prose`Free up space on the data volume of ${named(name)}.`,
    };
  },
);

const codes = {
  'macos/panicked': {
    severity: 'notice',
    summary: 'This Mac restarted after a kernel panic.',
    cause:
      'macOS wrote a panic report after the restart, and the Mac has not restarted since. Everything that the Mac was serving stopped. A placement that still does not serve is reported separately.',
    hint: 'If it happens again, compare the reports in /Library/Logs/DiagnosticReports and send them to Apple.',
    facts: [panicReportsFact, bootSessionFact],
  },
  'network/suspected-tcp-panic': {
    severity: 'warning',
    summary: 'Heavy TCP traffic over a Thunderbolt cable may make this Mac panic.',
    cause:
      'The report on its last kernel panic names the driver for IP over Thunderbolt. Such panics have been reported under load: with a hub between two Macs on macOS 26.5, and over plain cables. A panic report does not show what was being sent.',
    hint: 'Connect the Macs without hubs. For placements that use these cables, set `transport: rdma` or move them to the office network. Update all Macs to the same newer version of macOS, and send the report to Apple.',
    facts: [panicReportsFact, bootSessionFact, placementsFact],
  },
  // @see mlx issues 3186 and 3346, mlx-lm issue 1666, exo issue 1972
  'macos/gpu-panic': {
    severity: 'warning',
    summary: 'This Mac restarted after a kernel panic in its GPU driver.',
    cause:
      'The kernel reported an error of IOGPUFamily, the part of macOS 26 that manages GPU memory. Such panics have been reported for MLX programs with long prompts and parallel requests, up to nine in six days on one Mac. Everything that the Mac was serving stopped.',
    hint: 'Give the placements on this Mac a smaller context and fewer parallel requests, and set a lower `system.wiredLimit`: owners of such Macs then had fewer panics. Update macOS, and send the report to Apple.',
    facts: [panicReportsFact, bootSessionFact],
  },
} satisfies RuleCodes;

/** `"completeMemory() prepare count underflow" @IOGPUMemory.cpp:550`, or `@IOGPUGroupMemory.cpp:323` */
const gpuMemoryReason = /completeMemory\(\)|IOGPU(?:Group)?Memory/;

/**
 * True if the report was written in this boot session. A report can be late: with FileVault, macOS writes it only after
 * the disk is unlocked. For one panic at 01:35, macOS wrote the report at 07:09.
 */
function isOfThisSession({ facts }: Pick<ExaminedNode, 'facts'>, { atEpochSeconds }: PanicReport): boolean {
  const session = readValue(facts, bootSessionFact);
  return session !== undefined && atEpochSeconds !== undefined && atEpochSeconds >= session.bootedAtEpochSeconds;
}

/** The last report by time. Reports without a time are ignored. */
const lastOf = (reports: readonly PanicReport[]): PanicReport | undefined =>
  reports.toSorted(byTime).findLast(({ atEpochSeconds }) => atEpochSeconds !== undefined);

function countText({ length }: readonly PanicReport[]): string {
  if (length === 1) return 'There is no other panic report';
  return length < mostPanicReports ? `There are ${length} panic reports` : `There are at least ${length} panic reports`;
}

// Panics under load were reported in the driver for IP over Thunderbolt.
const isOfThunderboltIp = ({ extensions }: PanicReport): boolean =>
  extensions.some((one) => one.includes('AppleThunderboltIP'));

function panicFinding(report: PanicReport, all: readonly PanicReport[]): Finding<keyof typeof codes> {
  const { name, reason, extensions } = report;
  const said = reason === undefined ? '' : ` The kernel reported: ${escapeText(reason).replace(/\.$/, '')}.`;
  const way = extensions.length === 0 ? '' : ` Its backtrace contains ${extensions.map(escapeText).join(', ')}.`;
  const code = gpuMemoryReason.test(reason ?? '') ? 'macos/gpu-panic' : 'macos/panicked';
  return {
    code: isOfThunderboltIp(report) ? 'network/suspected-tcp-panic' : code,
    detail: `macOS wrote a kernel panic report since this Mac started: ${name}.${said}${way} ${countText(all)} on this Mac.`,
  };
}

const reportsOf = ({ facts }: Pick<ExaminedNode, 'facts'>): readonly PanicReport[] =>
  readValue(facts, panicReportsFact) ?? [];

function lastPanic(node: Pick<ExaminedNode, 'facts'>): PanicReport | undefined {
  const last = lastOf(reportsOf(node));
  return last !== undefined && isOfThisSession(node, last) ? last : undefined;
}

/** True if TCP over a cable may have made this Mac panic. */
export function mayPanicUnderTcp(node: Pick<ExaminedNode, 'facts'>): boolean {
  const last = lastPanic(node);
  return last !== undefined && isOfThunderboltIp(last);
}

/** Macs that restarted after a kernel panic. Everything that they served went down without an order to restart. */
export const panics = defineNodeRule(codes, (node) => {
  const last = lastPanic(node);
  return last === undefined ? [] : panicFinding(last, reportsOf(node));
});
