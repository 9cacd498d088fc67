import { describe, expect, it } from 'vitest';
import { scriptBody } from '../../../../src/engine/scripts/registry.ts';
import { gatewayLabel } from '../../../../src/node/paths/own-paths.ts';
import { makeMacRoot } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { type Shell, scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);
const label = gatewayLabel(8_080);
const gone = `printf 'Could not find service "${label}" in domain for system\\n' >&2; exit 113`;
const running = `printf 'system/${label} = {\\n\\tstate = running\\n\\tpid = 7\\n}\\n'`;
const waiting = `printf 'system/${label} = {\\n\\tstate = waiting\\n}\\n'`;

/** `left=` and `curl=`, without these words. */
async function leftOf(shell: Shell, curl: string, launchctl: string, waitMs = 0): Promise<string> {
  const root = newRoot(shell);
  root.tool('usr/bin/curl', curl);
  root.tool('bin/launchctl', launchctl);
  const body = scriptBody({ name: 'drain-endpoint', args: { port: 8_080, placement: 'chat', waitMs } });
  const { stdout } = await root.runBody(body);
  return [...stdout.matchAll(/^(?:left|curl)=(.*)$/gm)].map(([, value]) => value).join(' ');
}

describe.each(scriptShells)('drain-endpoint in $name', (shell) => {
  it.each([
    ['no request in flight', 'printf 0', running, '0'],
    ['three requests in flight', 'printf 3', running, '3'],
    ['an answer that is not a number', `printf '{"error":{}}'`, running, 'unknown 0'],
    ['an empty answer', ':', running, 'unknown 0'],
    ['a curl timeout', 'exit 28', running, 'unknown 28'],
    ['a closed port and no service', 'exit 7', gone, '0'],
    ['a closed port and no process', 'exit 7', waiting, '0'],
    ['a closed port and a running process', 'exit 7', running, 'unknown 7'],
    ['a closed port and a failing launchctl', 'exit 7', 'exit 1', 'unknown 7'],
  ])('reports the requests in flight, or why they are unknown, for %s', async (_, curl, launchctl, left) => {
    expect(await leftOf(shell, curl, launchctl)).toBe(left);
  });

  it('waits only for a gateway', async () => {
    const hour = 3_600_000;
    const later = `[ -e "$R/asked" ] && printf 0 || { : >"$R/asked"; printf 3; }`;
    expect(await leftOf(shell, later, running, hour)).toBe('0');
    expect(await leftOf(shell, `printf 'Not Found'`, running, hour)).toBe('unknown 0');
  });
});
