import { commandText, proseText, type Reader } from '../diagnostics/prose-text.ts';
import type { EnrollCard } from '../engine/diagnose/enroll-card.ts';
import { hang } from './page.ts';

/** The card as a page to print: ASCII, of at most this many columns. */
export function enrollCardText(
  { node, host, parts, commands }: EnrollCard,
  { columns, ...reader }: Reader & { readonly columns: number },
): string {
  const lines = parts.flatMap(({ title, steps }) => [
    '',
    title,
    ...steps.flatMap((step) => hang('  [ ] ', proseText(step, reader), columns)),
  ]);
  return [
    `${node}   ${host}`,
    ...lines,
    '',
    'Then on the controller',
    ...commands.map((command) => `  ${commandText(command, reader)}`),
    '',
    'It shows the host key of the Mac; compare it on the Mac itself:',
    '  ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub',
    '',
  ].join('\n');
}

/** The card as programs read it. */
export const enrollCardJson = ({ parts, commands, ...card }: EnrollCard, reader: Reader): object => ({
  ...card,
  parts: parts.map(({ title, steps }) => ({ title, steps: steps.map((step) => proseText(step, reader)) })),
  commands: commands.map((command) => commandText(command, reader)),
});
