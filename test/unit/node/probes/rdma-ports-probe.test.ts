import { describe, expect, it } from 'vitest';
import { allProbes, parseFacts } from '../../../../src/engine/observe/facts.ts';
import type { Facts } from '../../../../src/model/facts/fact-values.ts';
import { parseFrames } from '../../../../src/node/frames.ts';
import { observeScript } from '../../../../src/node/observe-script.ts';
import { placementFolder, rankLog, rdmaStartsFile, startFile } from '../../../../src/node/paths/own-paths.ts';
import { read } from '../../../../src/rack/fact.ts';
import { rdmaStartsFact } from '../../../../src/rack/placement/observed/fact.ts';
import { rdmaPortsFact } from '../../../../src/rack/rdma/devices-fact.ts';
import { type MacRoot, makeMacRoot } from '../../engine/scripts/mac-root.ts';
import { removedAfter, startScript } from '../../engine/scripts/node-root.ts';
import { exampleRecord } from '../../engine/scripts/script-examples.ts';
import { type Shell, scriptShells } from '../../engine/scripts/shells.ts';

const boundary = '0123456789abcdef0123456789abcdef';
const session = 'F2B1C3D4-0000-4000-8000-000000000001';
const nowSeconds = 1_790_000_000;
const newMac = removedAfter(makeMacRoot);

/** A node on which process 4711 runs, with listeners on these ports. */
function newRoot(shell: Shell, listeners: readonly number[] = []): MacRoot {
  const root = newMac(shell);
  const lines = listeners.map((port) => `tcp4 0 0 10.77.0.1.${port} *.* LISTEN`);
  root.tool('usr/sbin/netstat', `printf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')}`);
  root.tool(
    'usr/sbin/sysctl',
    `case $# in (2) printf '${session}\\n' ;; (*) printf 'kern.bootsessionuuid: ${session}\\n' ;; esac`,
  );
  root.tool('bin/date', `printf '${nowSeconds}\\n'`);
  root.tool('bin/ps', 'case "$*" in ("-o pid= -p 4711") printf "4711\\n" ;; (*) exec /bin/ps "$@" ;; esac');
  root.tool('bin/launchctl', 'exit 113');
  root.tool('usr/bin/pgrep', 'exit 1');
  root.recorded(
    'usr/bin/ibv_devinfo',
    "printf 'hca_id:\\trdma_en3\\n\\t\\tport:\\t1\\n\\t\\t\\tstate:\\t\\t\\tPORT_ACTIVE (4)\\n\\n'",
  );
  return root;
}

async function observe(shell: Shell, root: MacRoot): Promise<Facts> {
  const names = ['rdma-kernel', 'ibv-devinfo', 'placement-members', 'sysctl'];
  const request = { probes: allProbes().filter(({ name }) => names.includes(name)), boundary, rootPrefix: root.folder };
  const { stdout } = await startScript(shell, observeScript(request)).end;
  return parseFacts(parseFrames(stdout, request), { sentAtEpochMs: 0, receivedAtEpochMs: 1 });
}

interface Mark {
  readonly boot?: string;
  readonly until?: number;
  readonly log?: number;
  readonly pid?: number;
}

/** A rank whose start over RDMA was marked. */
function started(root: MacRoot, mark: Mark, more: Partial<typeof exampleRecord> = {}): void {
  const record = Object.entries({ ...exampleRecord, ...more, startedIn: session, starts: 1 });
  root.file(`${placementFolder('kimi').path}/record`, record.map(([key, value]) => `${key}=${value}\n`).join(''));
  const lines = Object.entries({ boot: session, until: nowSeconds + 20, log: 0, ...mark });
  root.file(startFile('kimi').path, lines.map(([key, value]) => `${key}=${value}\n`).join(''));
}

const asked = (root: MacRoot): number => root.calls().filter((call) => call === 'ibv_devinfo -v').length;

describe.each(scriptShells)('the RDMA port probe in $name', (shell) => {
  const { port } = exampleRecord;

  it('opens the devices once per observation', async () => {
    const root = newRoot(shell);
    expect(read(await observe(shell, root), rdmaPortsFact)).toMatchObject({
      value: [{ device: 'rdma_en3', state: 'active' }],
    });
    expect(asked(root)).toBe(1);
  });

  it.each([
    ['before the process is known', {}],
    ['while the process has not joined', { pid: 4_711 }],
  ] as const)('does not open the devices of a starting rank %s', async (_when, mark) => {
    const root = newRoot(shell, [port + 1]);
    started(root, mark);
    expect(read(await observe(shell, root), rdmaPortsFact)).toEqual({
      kind: 'unknown',
      reason: 'busy',
      detail: 'Not queried: a rank of kimi is starting.',
    });
    expect(asked(root)).toBe(0);
  });

  it.each([
    ['has joined', { pid: 4_711 }, [port]],
    ['has exited', { pid: 4_712 }, []],
    ['never started', { pid: 0 }, []],
    ['is past its start deadline', { pid: 4_711, until: nowSeconds }, []],
    ['was started under a clock set too far ahead', { pid: 4_711, until: nowSeconds + 100_000 }, []],
    ['belongs to another boot session', { pid: 4_711, boot: 'F2B1C3D4-0000-4000-8000-000000000002' }, []],
  ] as const)('opens the devices if the rank %s', async (_what, mark, listeners) => {
    const root = newRoot(shell, listeners);
    started(root, mark);
    expect(read(await observe(shell, root), rdmaPortsFact).kind).toBe('known');
    expect(asked(root)).toBe(1);
  });

  it('opens the devices if a follower without its own port is running', async () => {
    const root = newRoot(shell);
    started(root, { pid: 4_711 }, { rank: 1, endpointPort: port });
    expect(read(await observe(shell, root), rdmaPortsFact).kind).toBe('known');
  });
});

describe.each(scriptShells)('the RDMA start count in $name', (shell) => {
  it('is read with the last error logged since the start', async () => {
    const root = newRoot(shell);
    const before = 'errno 5 of before\n';
    root.file(rdmaStartsFile.path, `boot=${session}\nstarts=2\n`);
    root.file(rankLog('kimi').path, `${before}hello\nCouldn't allocate protection domain: errno 12\u0007\nbye\n`);
    started(root, { pid: 0, log: before.length });
    expect(read(await observe(shell, root), rdmaStartsFact)).toEqual({
      kind: 'known',
      value: {
        startedIn: session,
        starts: 2,
        last: [{ placement: 'kimi', startedIn: session, complaint: "Couldn't allocate protection domain: errno 12?" }],
      },
    });
  });

  it('has no error if the log shows none since the last start over RDMA', async () => {
    const root = newRoot(shell);
    const last = async (): Promise<unknown> => {
      const fact = read(await observe(shell, root), rdmaStartsFact);
      return fact.kind === 'known' ? fact.value.last : fact;
    };
    started(root, { pid: 0 });
    expect(await last()).toEqual([{ placement: 'kimi', startedIn: session }]);
    root.file(rankLog('kimi').path, 'errno 22\nfine\n');
    started(root, { pid: 0, log: 9 });
    expect(await last()).toEqual([{ placement: 'kimi', startedIn: session }]);
  });
});
