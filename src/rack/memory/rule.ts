import { isBeyondMemory, wantedWiredMegabytes } from '../../desired/amounts.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { memoryText } from '../../model/text/units.ts';
import { defineNodeRule, type RuleCodes } from '../define-rule.ts';
import { readValue } from '../fact.ts';
import { hardwareFact } from '../identity/fact.ts';
import { isKeeperDue } from '../keeper/fact.ts';
import { swapFact, swapWords, wiredLimitFact } from './fact.ts';

const codes = {
  'memory/wired-limit': {
    summary: "The GPU's wired memory limit does not match the file.",
    cause:
      '`iogpu.wired_limit_mb` is lost at every reboot. The value 0 is the macOS default, about three quarters of the memory.',
    hint: prose`Set it with ${meshwright('apply')}.`,
    role: 'converged',
    facts: [wiredLimitFact, hardwareFact],
  },
  'memory/wired-limit-too-large': {
    summary: 'The file lets the GPU wire more memory than this Mac can spare.',
    cause: 'macOS needs about 8 GiB for itself. If the GPU takes this memory, the Mac swaps, hangs or panics.',
    hint: 'Lower system.wiredLimit in the file, or set it to `auto`, which fits every Mac.',
    role: { blocks: 'wired-limit' },
    facts: [wiredLimitFact, hardwareFact],
  },
} satisfies RuleCodes;

export const limitText = (megabytes: number): string => (megabytes === 0 ? 'the macOS default' : `${megabytes} MB`);

/** A limit that was lost at a boot is not an error while the keeper is about to set it again. */
const ofKeeper = { severity: 'notice', hint: 'Check again in a minute: the keeper sets the limit.' } as const;

/** Nodes whose wired memory limit differs from the file, and files that set more than a Mac can spare. */
export const wiredLimit = defineNodeRule(codes, ({ name, facts }, { desired }) => {
  const { wiredLimit: limit, keeper } = desired.system;
  const seen = readValue(facts, wiredLimitFact)?.megabytes;
  const memoryBytes = readValue(facts, hardwareFact)?.memoryBytes;
  // A size can exceed this Mac's memory, so no hint suggests setting it while the memory is unknown.
  if (limit === undefined || (memoryBytes === undefined && limit.kind !== 'default')) return [];
  const wanted = wantedWiredMegabytes(limit, memoryBytes);
  if (memoryBytes !== undefined && wanted !== undefined && isBeyondMemory(limit, memoryBytes)) {
    const detail = `The file wants ${limitText(wanted)}; this Mac has ${memoryText(memoryBytes)}, of which macOS needs 8 GB.`;
    return { code: 'memory/wired-limit-too-large', detail };
  }
  if (seen === undefined || wanted === undefined || seen === wanted) return [];
  const code = 'memory/wired-limit';
  const detail = `The GPU may wire ${limitText(seen)}; the file wants ${limitText(wanted)}.`;
  if (keeper !== undefined && limit.kind !== 'default' && isKeeperDue(facts)) {
    const why = 'The keeper has not finished a round since the last start.';
    return { code, detail: `${detail} ${why}`, ...ofKeeper };
  }
  const hint = withCommands(prose`Set it with ${meshwright('apply')}, or on ${named(name)} until its next boot`, [
    `sudo sysctl iogpu.wired_limit_mb=${wanted}`,
  ]);
  return { code, detail, hint };
});

export const swap = defineNodeRule(
  {
    'memory/swap-in-use': {
      severity: 'warning',
      summary: 'A Mac has too much swap in use to start a rank.',
      cause:
        'A program needed more memory than the Mac has, and macOS has moved a part of it to the disk. If a model is loaded on top of that, the Mac becomes slow and can panic. With more than 8 GB of swap in use, meshwright starts nothing on this Mac and stops nothing in order to start it again.',
      hint: prose`Quit the program that uses the memory, or restart the Mac: ${meshwright('reboot')}`,
      facts: [swapFact],
    },
  },
  ({ name, facts }) => {
    const words = swapWords(facts);
    if (words === undefined) return [];
    return {
      code: 'memory/swap-in-use',
      detail: prose`On ${named(name)}, ${words}. Until that changes, nothing is started there.`,
      hint: prose`Quit the program that uses the memory (\`top -o mem\` on ${named(name)}), or restart the Mac: ${meshwright('reboot', name)}`,
    };
  },
);
