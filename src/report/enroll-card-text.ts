import type { EnrollCard } from '../doctor/enroll-card.ts';
import { hang } from './layout.ts';

/** The card as a page to print: ASCII, of at most this many columns. */
export function enrollCardText({ node, host, parts, commands }: EnrollCard, columns: number): string {
  const lines = parts.flatMap(({ title, steps }) => [
    '',
    title,
    ...steps.flatMap((step) => hang('  [ ] ', step, columns)),
  ]);
  return [
    `${node}   ${host}`,
    ...lines,
    '',
    'Then on the controller',
    ...commands.map((command) => `  ${command}`),
    '',
    'It shows the host key of the Mac; compare it on the Mac itself:',
    '  ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub',
    '',
  ].join('\n');
}
