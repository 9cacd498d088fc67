import { isBeyondMemory, wantedWiredMegabytes } from '../../desired/amounts.ts';

import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import type { DesiredWiredLimit } from '../../model/desired.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { memoryText } from '../../model/text/units.ts';
import { defineRule, ruleCodes } from '../define-rule.ts';
import type { ExaminedNode } from '../examination.ts';
import { read, readValue } from '../fact.ts';
import { hardwareFact } from '../identity/fact.ts';
import { isKeeperDue } from '../keeper/fact.ts';
import { wiredLimitFact } from './fact.ts';

const codes = ruleCodes({
  'memory/wired-limit': {
    severity: 'error',
    summary: 'The GPU may wire another amount of memory than the file says.',
    cause:
      '`iogpu.wired_limit_mb` is lost at every reboot; 0 is the default of macOS, about three quarters of the memory.',
    hint: prose`Set it with ${meshwright('apply')}.`,
    role: 'converged',
    facts: [wiredLimitFact, hardwareFact],
  },
  'memory/wired-limit-too-large': {
    severity: 'error',
    summary: 'The file lets the GPU wire more memory than this Mac can spare.',
    cause: 'macOS needs about 8 GiB beside the GPU; a Mac whose GPU takes them swaps, hangs or panics.',
    hint: 'Lower system.wiredLimit in the file, or write `auto`, which fits every Mac.',
    role: { blocks: 'wired-limit' },
    facts: [wiredLimitFact, hardwareFact],
  },
});

const limitText = (megabytes: number): string => (megabytes === 0 ? 'the default of macOS' : `${megabytes} MB`);

/** The limit of a file, and whether a keeper is to hold it. */
interface Wish {
  readonly limit: DesiredWiredLimit;
  readonly isKept: boolean;
}

/** A limit that a start has taken is no error while the keeper is about to set it again. */
const ofKeeper = { severity: 'notice', hint: 'Look again in a minute: the keeper sets it.' } as const;

function judge({ limit, isKept }: Wish, { name, facts }: ExaminedNode): readonly Diagnostic[] {
  const seen = read(facts, wiredLimitFact);
  const memoryBytes = readValue(facts, hardwareFact)?.memoryBytes;
  // A size may be more than this Mac has: while its memory is unknown nobody may be told to set it.
  if (memoryBytes === undefined && limit.kind !== 'default') return [];
  const wanted = wantedWiredMegabytes(limit, memoryBytes);
  const subject = nodeSubject(name);
  if (memoryBytes !== undefined && wanted !== undefined && isBeyondMemory(limit, memoryBytes)) {
    return [
      diagnose(codes['memory/wired-limit-too-large'], {
        subject,
        detail: `The file wants ${limitText(wanted)}; this Mac has ${memoryText(memoryBytes)}, of which macOS needs 8 GB.`,
      }),
    ];
  }
  if (seen.kind === 'unknown' || wanted === undefined || seen.value.megabytes === wanted) return [];
  const detail = `The GPU may wire ${limitText(seen.value.megabytes)}; the file wants ${limitText(wanted)}.`;
  if (isKept && isKeeperDue(facts)) {
    const why = 'The keeper has not ended a round there yet since the last start.';
    return [diagnose(codes['memory/wired-limit'], { subject, detail: `${detail} ${why}`, ...ofKeeper })];
  }
  return [
    diagnose(codes['memory/wired-limit'], {
      subject,
      detail,
      hint: withCommands(prose`Set it with ${meshwright('apply')}, or on ${named(name)} until its next boot`, [
        `sudo sysctl iogpu.wired_limit_mb=${wanted}`,
      ]),
    }),
  ];
}

/** Nodes whose GPU may wire another amount of memory than the file says, and files that ask for more than there is. */
export const wiredLimit = defineRule(codes, ({ desired, nodes }) => {
  const { wiredLimit: limit, keeper } = desired.system;
  if (limit === undefined) return [];
  const wish: Wish = { limit, isKept: keeper !== undefined && limit.kind !== 'default' };
  return nodes.flatMap((node) => judge(wish, node));
});
