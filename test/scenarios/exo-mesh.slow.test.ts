import { existsSync, readdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunReport } from '../../src/apply/open-run.ts';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import type { Act } from '../../src/model/step.ts';
import { mostLogBytes } from '../../src/node/paths/own-paths.ts';
import { inTurn } from '../in-turn.ts';
import { eventually } from '../rack/running.ts';
import { sampleOf } from '../sample.ts';
import { writeIndexedModel } from '../tiny-models.ts';
import { type FileValue, filePart, first, pairFile, second } from './converge-file.ts';
import { type ConvergeRack, changesIn, leftIn, patience, rankNodes, startConvergeRack } from './converge-rack.ts';
import { writeExoBuild, writeExoImage } from './exo-doubles.ts';
import { hurried } from './failed-start.ts';

const versions = { '1.0.71': 'release', main: 'main' } as const;
type Dialect = keyof typeof versions;

/** Two nodes of the example, with a placement of exo over RDMA. */
function exoFile(dialect: Dialect, change: (file: FileValue) => void = () => undefined): FileValue {
  return pairFile((file) => {
    file['runtimes'] = {
      exo: {
        driver: 'exo',
        archive: `./dist/exo-${versions[dialect]}.dmg`,
        version: dialect === 'main' ? '1.0.72' : dialect,
      },
    };
    file['models'] = { tiny: { source: './models/indexed', repository: 'acme/indexed' } };
    Object.assign(filePart(file, 'placements', 'chat'), {
      runtime: 'exo',
      transport: 'rdma',
      expect: { firstToken: '4s' },
    });
    change(file);
  });
}

let rack: ConvergeRack;
const nodes = [first, second] as const;

const fault = async (...lines: readonly string[]): Promise<void> => {
  for (const node of nodes) {
    const root = rack.fleet().nodes[node]?.root ?? '';
    await writeFile(join(root, '.sim/exo-faults'), lines.map((line) => `${line}\n`).join(''));
  }
};

const logPath = '/Library/Application Support/meshwright/log/chat.log';

const logOf = async (node: string): Promise<string> => (await rack.asRoot(node, `"$R/bin/cat" "$R${logPath}"`)).stdout;

const secret = 'purple elephants of tomorrow';

/** All files on the first node that contain a text. */
const holding = (text: string): readonly string[] =>
  readdirSync(rack.fleet().nodes[first]?.root ?? '', { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
    .filter((path) => existsSync(path) && readFileSync(path).includes(text));

const stop = { kind: 'stop', placements: ['chat'] } as const;

type Dialogue = Extract<Act, { readonly kind: 'dialogue' }>['name'];

/** The outcomes of a dialogue of a run, by its name. */
const talkOf = (report: RunReport | undefined, name: Dialogue = 'exo-place') =>
  report?.steps
    .filter(({ step }) => step.act.kind === 'dialogue' && step.act.name === name)
    .map(({ outcome, diagnostics }) => ({ outcome, codes: diagnostics.map(({ code }) => code) }));

const dialects = sampleOf(['1.0.71', 'main'] as const, { few: 1, oneIn: 2 });

inTurn(0, 2).each(dialects)('an exo placement, dialect %s', { timeout: patience }, (dialect) => {
  beforeAll(async () => {
    rack = await startConvergeRack(`exo-${dialect}`, pairFile());
    await writeExoImage(join(rack.folder, `dist/exo-${versions[dialect]}.dmg`), dialect);
    await writeIndexedModel(join(rack.folder, 'models/indexed'));
    expect(await rack.declare(exoFile(dialect))).toEqual([]);
  }, patience);
  afterAll(() => rack.stop());

  it("starts from scratch and produces a token, although exo's own daemon is installed", async () => {
    await rack.behindOurBack((fleet) => fleet.setFault(['daemon-conflict', second]));
    const { plan, report } = await rack.converge();
    expect(changesIn(plan)).toEqual(expect.arrayContaining([`${first} runtime/exo`, `${first} placement/chat`]));
    expect(talkOf(report)).toEqual([{ outcome: 'changed', codes: [] }]);
    expect(rankNodes(rack)).toEqual([...nodes]);
    expect(await logOf(first)).toContain('Starting node');
  });

  it('needs no changes in a second apply', async () => {
    const { plan } = await rack.apply();
    expect([leftIn(plan), plan.effects]).toEqual([[], []]);
  });

  it('is placed again after a rank is killed, because exo forgets the placement', async () => {
    await rack.behindOurBack(async (fleet) => {
      for (const one of fleet.processes()) if (one.node === second) process.kill(one.pid, 'SIGKILL');
      // The other rank answers until it misses the killed one.
      const log = join(fleet.nodes[first]?.root ?? '', logPath);
      expect(await eventually(() => readFileSync(log, 'utf8').includes('due to inactivity'))).toBe(true);
    });
    const log = join(rack.fleet().nodes[second]?.root ?? '', logPath);
    truncateSync(log, mostLogBytes + 1);
    const { plan, report } = await rack.converge();
    expect(plan.changes.map(({ id }) => id)).toContain(`${first} placement/chat`);
    expect(talkOf(report)).toEqual([{ outcome: 'changed', codes: [] }]);
    expect((await logOf(first)).match(/Starting node/g)).toHaveLength(2);
    // The log of the killed rank was too long.
    expect((await logOf(second)).match(/Starting node/g)).toHaveLength(1);
    // The account is the only member of its group.
    expect([statSync(`${log}.1`).size, statSync(log).mode & 0o777]).toEqual([mostLogBytes + 1, 0o660]);
  });

  it("stores a prompt only in exo's event log, and only while exo runs", async () => {
    const body = JSON.stringify({
      model: 'acme/indexed',
      messages: [{ role: 'user', content: `tell me of ${secret}` }],
    });
    const table = readFileSync(join(rack.fleet().nodes[first]?.root ?? '', '.sim/link-table'), 'utf8');
    const [, place] = /^127\.0\.0\.1:8080 (\S+)$/m.exec(table) ?? [];
    const answer = await fetch(`http://${place}/v1/chat/completions`, { method: 'POST', body });
    expect(await answer.text()).toContain('chat.completion');
    expect(await eventually(async () => (await logOf(first)).includes('Starting prefill'))).toBe(true);
    const [eventLog, ...others] = holding(secret);
    expect([eventLog, others]).toEqual([expect.stringMatching(/files\/home\/\.exo\/event_log\/api\/events\.bin$/), []]);
  });

  it('stops its runners gracefully before its processes', async () => {
    const { report } = await rack.converge({ goal: stop });
    expect(talkOf(report, 'exo-graceful-shutdown')).toEqual([{ outcome: 'changed', codes: [] }]);
    expect(rack.fleet().processes()).toEqual([]);
    for (const node of nodes) {
      const lastOf = async (): Promise<string> => /.*Starting node(.*)$/s.exec(await logOf(node))?.[1] ?? '';
      expect(await eventually(async () => (await lastOf()).includes('EXO Shutdown complete'))).toBe(true);
      expect(await lastOf()).toMatch(/Runner exited with exit code 0\n(?:.*\n)*.*EXO Shutdown complete/);
      expect(await lastOf()).not.toContain("didn't respond to SIGTERM");
    }
    expect(await eventually(() => holding(secret).length === 0)).toBe(true);
  });
});

inTurn(1, 2)('a placement that exo refuses or that fails on exo', { timeout: patience }, () => {
  beforeAll(async () => {
    rack = await startConvergeRack('exo-refuses', pairFile());
    await writeExoImage(join(rack.folder, 'dist/exo-main.dmg'), 'main');
    await writeIndexedModel(join(rack.folder, 'models/indexed'));
    expect(await rack.declare(exoFile('main'))).toEqual([]);
  }, patience);
  afterAll(() => rack.stop());

  it.each([
    ['refuse-placement', 'exo/placement-refused'],
    ['stuck-warmup', 'exo/stuck'],
    ['fail-runner ValueError: [jaccl] Changing queue pair to RTR failed with errno 96', 'exo/runner-failed'],
  ])('is stopped as a whole and reports the reason: %s', async (line, code) => {
    await fault(line);
    const { report } = await rack.behindOurBack(() => rack.apply({ timing: hurried }));
    expect(talkOf(report)).toEqual([{ outcome: 'failed', codes: expect.arrayContaining([code]) }]);
    expect(rack.fleet().processes()).toEqual([]);
  });

  it('is placed as soon as exo accepts it', async () => {
    await fault();
    expect(leftIn((await rack.converge()).after)).toEqual([]);
  });

  it('is placed again if a run was cut off after the graceful shutdown', async () => {
    const script = `ask() { "$R/usr/bin/curl" -q -s -m 5 "$@"; }
i=$(ask http://127.0.0.1:8080/state)
i=\${i#*'"instanceId":"'}
i=\${i%%'"'*}
ask -X DELETE "http://127.0.0.1:8080/instance/$i"
n=0
while ask http://127.0.0.1:8080/state | "$R/usr/bin/grep" -q "$i" && [ "$n" -lt 50 ]; do n=$((n + 1)); sleep 0.2; done`;
    const { stdout } = await rack.behindOurBack(() => rack.asRoot(first, script));
    expect(stdout).toContain('Command received');
    const { plan } = await rack.converge();
    expect(plan.changes.map(({ id }) => id)).toEqual([`${first} placement/chat`]);
  });

  it('keeps serving if the archive was not built from the commit in the file', async () => {
    const [commit, other] = ['b5375f8cee4368d09e1ce96a56b9f81fb0bc81aa', 'cdf1add8673b1a1d7fcc7b36eead1a0f2adca15a'];
    await writeExoBuild(join(rack.folder, 'dist/exo-build.tar.gz'), commit);
    const fromSource = exoFile('main', (file) => {
      const runtime = filePart(file, 'runtimes', 'exo');
      Object.assign(runtime, { archive: './dist/exo-build.tar.gz', program: `exo-${other}/exo` });
    });
    expect(await rack.declare(fromSource)).toEqual([]);
    const { report } = await rack.apply();
    expect(report?.diagnostics.map(({ detail }) => plainText(detail))).toContainEqual(
      expect.stringContaining(`exo-${other}/exo is not a program of this version`),
    );
    expect(report?.steps.filter(({ step }) => step.act.kind === 'dialogue').map(({ outcome }) => outcome)).toEqual([
      'skipped',
      'skipped',
    ]);
    expect(rack.fleet().processes()).toHaveLength(2);
    expect(await rack.declare(exoFile('main'))).toEqual([]);
    const { plan } = await rack.converge();
    expect(changesIn(plan)).toEqual(nodes.map((node) => `${node} staging`));
  });

  it('is stopped even if its runners do not end, and this is reported', async () => {
    await fault('stuck-shutdown');
    const { report, exit } = await rack.apply({ goal: stop, timing: hurried });
    expect(talkOf(report, 'exo-graceful-shutdown')).toEqual([
      { outcome: 'unchanged', codes: ['exo/no-graceful-shutdown'] },
    ]);
    expect([rack.fleet().processes(), exit]).toEqual([[], 0]);
    const isLogged = async (): Promise<boolean> => (await logOf(second)).includes("didn't respond to SIGTERM, killing");
    expect(await eventually(isLogged)).toBe(true);
    await fault();
  });

  it("starts only over TCP if a cable's address has its GID at index 2", async () => {
    await rack.behindOurBack(async (fleet) => {
      for (const name of ['gid-second', 'gid-missing']) await fleet.setFault([name, `${first}:4`]);
    });
    const { report, plan } = await rack.apply({ timing: hurried });
    expect(plan.blockers).toEqual([]);
    const failed = report?.steps.filter(({ outcome }) => outcome === 'failed') ?? [];
    expect(failed.map(({ step }) => step.id)).toEqual([`${first}/placement/chat/gid-index`]);
    expect(failed[0]?.diagnostics.map(({ code }) => code)).toEqual(['placement/gid-index']);
    expect(plainText(failed[0]?.diagnostics[0]?.detail ?? '')).toMatch(
      /expected usable, found index 2 on studio-1:4 \(rdma_en\d\)/,
    );
    expect((await rack.plan()).blockers.map(({ code }) => code)).toEqual(['placement/gid-index']);
    const overTcp = exoFile('main', (file) =>
      Object.assign(filePart(file, 'placements', 'chat'), { transport: 'tcp' }),
    );
    expect(await rack.declare(overTcp)).toEqual([]);
    await rack.converge();
    expect(rack.fleet().processes()).toHaveLength(2);
    await rack.behindOurBack((fleet) => fleet.clearFault(['gid-second']));
  });

  it('is refused early without a repository or an index, or with reserved arguments', async () => {
    const codesOf = async (change: (file: FileValue) => void): Promise<readonly string[]> => {
      expect(await rack.declare(exoFile('main', change))).toEqual([]);
      return [...new Set((await rack.plan()).blockers.map(({ code }) => code))];
    };
    expect(await codesOf((file) => delete filePart(file, 'models', 'tiny')['repository'])).toContain(
      'exo/no-repository',
    );
    expect(
      await codesOf((file) => Object.assign(filePart(file, 'models', 'tiny'), { source: './models/tiny' })),
    ).toContain('exo/no-index');
    const reserved = (file: FileValue): void => {
      Object.assign(filePart(file, 'placements', 'chat'), { env: { EXO_HOME: 'x' }, args: ['--namespace=x'] });
    };
    expect(await codesOf(reserved)).toEqual(['placement/reserved-word']);
  });
});
