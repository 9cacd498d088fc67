import { describe, expect, it } from 'vitest';
import { allProbes, parseFacts } from '../../../../../src/engine/observe/facts.ts';
import type { GatewayStatus } from '../../../../../src/model/gateway.ts';
import { known, unknown } from '../../../../../src/model/known.ts';
import { parseFrames } from '../../../../../src/node/frames.ts';
import { observeScript } from '../../../../../src/node/observe-script.ts';
import { endpointStatus } from '../../../../../src/rack/placement/mesh/gateway-steps.ts';
import { gatewaysFact } from '../../../../../src/rack/records/gateways-fact.ts';
import { answer, asked } from '../../../engine/observe/fact-cases.ts';
import { makeMacRoot } from '../../../engine/scripts/mac-root.ts';
import { removedAfter, startScript } from '../../../engine/scripts/node-root.ts';
import { type Shell, scriptShells } from '../../../engine/scripts/shells.ts';

const counts = {
  sinceEpochSeconds: 1_790_000_000,
  requests: 3,
  failed: 1,
  refused: 0,
  tokens: 85,
  firstToken: { count: 2, totalMs: 255.5, lastMs: 127.8 },
  generating: { tokens: 80, totalMs: 2_000, lastPerSecond: 41.5 },
};
const endpoint = {
  placement: 'chat',
  running: 1,
  waiting: 2,
  lastByteMsAgo: 40,
  quietMs: 30,
  streamQuietMs: 20,
  counts,
};
const status = (...placements: readonly unknown[]): string =>
  `${JSON.stringify({ formatVersion: 1, strangers: 4, version: '0123456789abcdef', placements })}\n`;

const label = 'dev.meshwright.gateway.8080';
const said = (lines: readonly string[]) =>
  gatewaysFact.parse([answer('launchd-services', { stdout: lines.map((line) => `${line}\n`).join('') })], asked);
const saidText = (text: string) => {
  const seen = said([
    `answer ${label} 0`,
    `status ${label}`,
    `|${Buffer.from(text).toString('base64').slice(0, 76)}`,
    `|${Buffer.from(text).toString('base64').slice(76)}`,
    'end',
  ]);
  return seen.kind === 'known' ? seen.value[0] : seen.reason;
};

describe('the gateways fact', () => {
  it("contains only the gateway's counts per placement", () => {
    expect(saidText(status({ ...endpoint, servedName: 'tiny', prompt: 'never shown' }))).toEqual({
      kind: 'answered',
      port: 8_080,
      version: '0123456789abcdef',
      strangers: 4,
      endpoints: [endpoint],
    });
  });

  it('omits fields that an older gateway does not report', () => {
    const { sinceEpochSeconds: _since, ...older } = counts;
    const said = saidText(status({ placement: 'chat', running: 0, waiting: 0, counts: older }));
    expect(said).toMatchObject({ endpoints: [{ placement: 'chat', running: 0, waiting: 0, counts: older }] });
    expect(JSON.stringify(said)).not.toMatch(/since|MsAgo|quiet/);
  });

  it.each([
    ['no JSON', '{"formatVersion":1,"strangers":'],
    ['a count that is not a number', status({ ...endpoint, running: '1' })],
    ['a number below zero', status({ ...endpoint, counts: { ...counts, tokens: -1 } })],
    ['a number that is too large', status({ ...endpoint, counts: { ...counts, tokens: 1e300 } })],
    ['a missing count', status({ ...endpoint, counts: { ...counts, generating: {} } })],
    ['no counts', status({ ...endpoint, counts: undefined })],
    ['an invalid placement name', status({ ...endpoint, placement: '../chat' })],
    ['a duplicate placement', status(endpoint, endpoint)],
    ['an unsupported format version', '{"formatVersion":2,"strangers":0,"placements":[]}'],
  ])('treats a gateway that reports %s as silent, not as zero', (_, text) => {
    expect(saidText(text)).toEqual({ kind: 'silent', port: 8_080, reason: 'its answer is unreadable' });
  });

  it('distinguishes a silent gateway from a gateway without requests in flight', () => {
    const silent = (...lines: readonly string[]) => {
      const seen = said([...lines, 'end']);
      return seen.kind === 'known' ? seen.value : seen.reason;
    };
    expect(silent(`answer ${label} 28`, `status ${label}`)).toMatchObject([
      { kind: 'silent', reason: 'it did not answer in time' },
    ]);
    expect(silent(`answer ${label} 0`, `status ${label}`)).toMatchObject([{ kind: 'silent' }]);
    expect(silent()).toEqual([]);
    expect(silent(`status ${label}`)).toBe('garbled');
    expect(silent(`answer ${label} 7`, `status ${label}`, `status ${label}`)).toBe('garbled');
  });
});

describe("a placement's gateway reading", () => {
  const at = (value: readonly GatewayStatus[]) => ({ gateways: known(value) });
  const silent: GatewayStatus = { kind: 'silent', port: 8_081, reason: 'it did not answer in time' };
  const answered: GatewayStatus = { kind: 'answered', port: 8_080, strangers: 0, endpoints: [endpoint] };

  it('is known when its gateway answers, even if another gateway is silent', () => {
    expect(endpointStatus(at([silent, answered]), 'chat', 8_080)).toEqual(known(endpoint));
    expect(endpointStatus(at([answered]), 'other', 8_080)).toBeUndefined();
  });

  it('comes from the gateway on its port or, failing that, from its previous gateway', () => {
    const moved: GatewayStatus = {
      kind: 'answered',
      port: 8_090,
      strangers: 0,
      endpoints: [{ ...endpoint, running: 7 }],
    };
    expect(endpointStatus(at([answered, moved]), 'chat', 8_090)).toMatchObject({ value: { running: 7 } });
    expect(endpointStatus(at([answered]), 'chat', 8_090)).toEqual(known(endpoint));
    expect(endpointStatus(at([answered, silent]), 'chat', 8_081)).toMatchObject({ kind: 'unknown' });
  });

  it('is unknown, not missing, when a gateway did not answer', () => {
    expect(endpointStatus(at([silent, answered]), 'other', 8_080)).toMatchObject({ kind: 'unknown', reason: 'failed' });
    const late = endpointStatus({ gateways: unknown('timed-out', 'late') }, 'chat', 8_080);
    expect(late).toMatchObject({ reason: 'timed-out' });
  });
});

const newRoot = removedAfter(makeMacRoot);

async function observed(shell: Shell, curl: string, ports: readonly number[] = [8_080]) {
  const root = newRoot(shell);
  for (const port of ports) root.file(`Library/LaunchDaemons/dev.meshwright.gateway.${port}.plist`, '');
  const running = 'printf "%s = {\\n\\tstate = running\\n\\tpid = 7\\n}\\n" "$2"';
  root.tool('bin/launchctl', `case $2 in (*2) echo "Could not find service $2"; exit 113 ;; esac; ${running}`);
  root.tool('usr/bin/curl', curl);
  const boundary = 'fedcba9876543210fedcba9876543210';
  const probes = allProbes().filter(({ name }) => name === 'launchd-services');
  const { end } = startScript(shell, observeScript({ probes, boundary, rootPrefix: root.folder }));
  const frames = parseFrames((await end).stdout, { probes, boundary });
  return parseFacts(frames, { sentAtEpochMs: 0, receivedAtEpochMs: 1 });
}

describe.each(scriptShells)('gateways observed by $name', (shell) => {
  it('are reported with their answers if launchd has loaded them', async () => {
    const { gateways: seen, services } = await observed(shell, `printf '%s' '${status(endpoint)}'`, [8_080, 8_082]);
    expect(seen).toMatchObject({ value: [{ kind: 'answered', endpoints: [endpoint] }] });
    expect(services).toMatchObject({ value: [{ label, behind: ['chat'] }, { state: 'not-loaded' }] });
  });

  it("are silent when another program's answer is invalid", async () => {
    const { gateways: seen, services } = await observed(shell, `printf '{"placements":[]}\\n|x\\nend\\n'`);
    expect(seen).toMatchObject({ value: [{ kind: 'silent' }] });
    expect(services).toMatchObject({ value: [{ behind: [] }] });
  });

  it('share one output limit and still list their placements', async () => {
    const long = status({ ...endpoint, closed: 'x'.repeat(60_000) });
    const curl = `/usr/bin/perl -e 'print q(${long.trimEnd()}), qq(\\n)'`;
    const { gateways: seen, services } = await observed(shell, curl, [8_080, 8_081]);
    expect(seen).toMatchObject({ value: [{ kind: 'answered' }, { kind: 'silent', port: 8_081 }] });
    expect(services).toMatchObject({ value: [{ behind: ['chat'] }, { behind: ['chat'] }] });
  });
});
