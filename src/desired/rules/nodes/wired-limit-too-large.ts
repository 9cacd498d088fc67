import type { Draft, DraftNode } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';
import { memoryLabelBytes, sizeBytes } from '../../size.ts';

/** What macOS needs beside the GPU (bytes). */
const systemBytes = 8 * 2 ** 30;

function isTooSmall({ memory }: DraftNode, limitBytes: number): boolean {
  const bytes = memory?.isText ? memoryLabelBytes(memory.text) : undefined;
  return bytes !== undefined && bytes - systemBytes < limitBytes;
}

/** A size for `system.wiredLimit` leaves every Mac whose memory is declared what macOS needs. */
export function wiredLimitTooLarge({ nodes, wiredLimit }: Draft): readonly Finding[] {
  const limitBytes = wiredLimit?.isText ? sizeBytes(wiredLimit.text) : undefined;
  if (wiredLimit === undefined || limitBytes === undefined) return [];
  const small = nodes.filter((node) => isTooSmall(node, limitBytes));
  if (small.length === 0) return [];
  const told = small.map(({ name, memory }) => `${name} has ${memory?.text ?? ''}`);
  const finding: Finding = {
    code: 'node/wired-limit-too-large',
    pointer: wiredLimit.pointer,
    at: 'value',
    detail: `${told.join(', ')}; ${wiredLimit.text} leave macOS less than the 8 GiB that it needs.`,
    others: small.flatMap(({ memory }) =>
      memory === undefined ? [] : [{ pointer: memory.pointer, at: 'value', detail: 'Its memory.' } as const],
    ),
  };
  return [finding];
}
