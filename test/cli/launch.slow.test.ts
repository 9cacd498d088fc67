import { expect, it } from 'vitest';
import { inTurn } from '../in-turn.ts';
import { sampleOf } from '../sample.ts';
import { filePart, pairFile } from '../scenarios/converge-file.ts';
import { expectGolden, json } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { listenTo, type Talking } from './talking.ts';

const file = pairFile((one) => {
  filePart(one, 'system')['accounts'] = { ranks: '_meshrank' };
});
const { place, run } = pairPlace(file, { isApplied: true });
const launch = (script: string) => run('launch', 'chat', '--sim', '--yes', '--', 'sh', '-c', script);

/** The output of a rank, without the prefixes. */
const printed = (stdout: string, rank: number): readonly string[] =>
  stdout.split('\n').flatMap((line) => new RegExp(`^simulated rank ${rank} \\S+ \\| (.*)$`).exec(line)?.[1] ?? []);

const serves = async (): Promise<boolean> => (await run('ask', 'chat', 'Hello?', '--sim')).code === 0;

/** Starts ranks that sleep, and waits until both have printed something. */
async function launched(...as: readonly string[]): Promise<Talking> {
  const words = ['launch', 'chat', ...as, '--sim', '--yes', '--', 'sh', '-c', 'echo up; sleep 600'];
  const ranks = listenTo(place, words);
  for (const rank of ['rank 0 studio-1', 'rank 1 studio-4']) await ranks.until(`${rank} | up`);
  return ranks;
}

interface Leases {
  readonly nodes: Readonly<Record<string, { readonly run?: string }>>;
}

const accounts = [
  ['the rank account', [], '_meshrank', ', as _meshrank'],
  ['the SSH user', ['--as', 'login'], 'mesh', ', as the ssh user, who can become root'],
] as const;

inTurn(0, 2).each(sampleOf(accounts, { few: 1, oneIn: 2 }))('launch as %s', (_, as, account, whom) => {
  const launch = (script: string) => run('launch', 'chat', ...as, '--sim', '--yes', '--', 'sh', '-c', script);

  it('runs one rank per Mac with a host file, and then starts the placement again', async () => {
    const ran = await launch(
      'echo "$MLX_RANK of {size}"; cat "{hostfile}"; cat "${MLX_IBV_DEVICES:-$MLX_HOSTFILE}"; id -un; pwd',
    );
    expect([ran.code, await serves()]).toEqual([0, true]);
    expect(ran.stdout).toContain('studio-1,4: leased for the ranks\n');
    expect(ran.stdout).not.toContain('sw_vers');
    expect(ran.stderr).toContain(`launch: 2 ranks, jaccl${whom}\nlaunch: ranks of chat ended\n`);
    const [zero, one] = [printed(ran.stdout, 0), printed(ran.stdout, 1)];
    expect([zero[0], one[0], zero.length]).toEqual(['0 of 2', '1 of 2', 5]);
    expect(zero.slice(1, 3)).toEqual(one.slice(1, 3));
    expect([
      zero[3],
      zero[4]?.endsWith(account === 'mesh' ? '/Users/mesh' : '/accounts/folders/_meshrank/home'),
    ]).toEqual([account, true]);
    const hostfile = JSON.parse(zero[1] ?? '');
    expect(hostfile.hosts.map(({ rdma }: { readonly rdma: unknown }) => rdma)).toEqual(JSON.parse(zero[2] ?? ''));
    expect(hostfile.backend).toBe('jaccl');
    const left = await run('exec', '--all', '--sim', '--', 'sh', '-c', 'ls /tmp | grep -c meshwright-launch');
    expect(left.stdout).not.toMatch(/ [1-9]\d*$/m);
  });

  it("exits with the worst rank's code, stops the others, and starts the placement again", async () => {
    const ran = await launch('[ "$MLX_RANK" = 1 ] && exit 7; sleep 600');
    expect([ran.code, await serves()]).toEqual([7, true]);
    expect(ran.stderr).toContain('rank 1 studio-4 ! exit 7; stopping the others');
    expect(ran.stderr).toContain('launch: ranks of chat ended; worst exit code 7\n');
  });

  it('stops all ranks on Ctrl-C, and starts the placement again', async () => {
    const ranks = await launched(...as);
    expect([(await ranks.interrupt()).code, await serves()]).toEqual([130, true]);
    const left = await run('exec', '--all', '--sim', '--', 'sh', '-c', 'ps -axo command | grep -c "[s]leep 600"');
    expect(left.stdout).not.toMatch(/ [1-9]\d*$/m);
  });
});

inTurn(1, 2)('launch', () => {
  it('does not start a rank under a missing account or one with sudo rights', async () => {
    const refused = await run('launch', 'chat', '--as', 'ben', '--sim', '--yes', '--', 'id', '-un');
    expect([refused.code, refused.stdout, refused.stderr.includes('launch/account')]).toEqual([5, '', true]);
    expect(refused.stderr.replaceAll(/\s+/g, ' ')).toContain(
      'studio-1: there is no account ben. Nothing was started or stopped.',
    );
    const asRoot = (line: string) =>
      run(
        'exec',
        'studio-1',
        '--sim',
        '--',
        'sh',
        '-c',
        `R=$(command -v sh); R=\${R%/bin/sh}; echo "${line}" | sudo -n "$R/bin/sh" -s`,
      );
    const rules = '$R/private/etc/sudoers.d/ranks';
    expect((await asRoot(`echo '_meshrank ALL=(root) NOPASSWD: ALL' >'${rules}'`)).code).toBe(0);
    // The placement uses the same account and could not start again, so it is not stopped.
    const asked = await launch('id -un');
    expect([asked.code, printed(asked.stdout, 0), await serves()]).toEqual([1, [], true]);
    expect(asked.stderr.replaceAll(/\s+/g, ' ')).toContain('sudo -l -U _meshrank: User _meshrank may run');
    const again = await run('restart', 'chat', '--sim', '--yes');
    expect([again.code, await serves()]).toEqual([1, true]);
    expect(again.stdout).toContain('Failed: 0 changed, 1 failed');
    // If no placement serves, each rank reports the sudo rule.
    expect((await run('stop', 'chat', '--sim', '--yes')).code).toBe(0);
    const idle = await launch('id -un');
    expect([idle.code, printed(idle.stdout, 0)]).toEqual([73, []]);
    expect(idle.stderr).toContain('simulated rank 0 studio-1 ! sudo -l -U _meshrank: User _meshrank may run');
    expect((await asRoot(`rm '${rules}'`)).code).toBe(0);
    expect((await run('apply', '--sim', '--yes')).code).toBe(0);
  });

  it('stops all ranks and fails if another run takes over a lease', async () => {
    const ranks = await launched();
    const { nodes } = json(await run('lease', 'status', '--sim', '--json')) as Leases;
    const id = nodes['studio-4']?.run ?? 'none';
    expect((await run('lease', 'release', 'studio-4', '--run', id, '--sim', '--yes')).code).toBe(0);
    const ran = await ranks.end;
    expect([ran.code, ran.stderr.includes('took over the lease of a Mac')]).toEqual([255, true]);
    const left = await run('exec', '--all', '--sim', '--', 'sh', '-c', 'ps -axo command | grep -c "[s]leep 600"');
    expect(left.stdout).not.toMatch(/ [1-9]\d*$/m);
    expect((await run('apply', '--sim', '--yes')).code).toBe(0);
    expect(await serves()).toBe(true);
  });

  it('runs nothing on a Mac that is on hold or whose hold is unknown', async () => {
    expect((await run('stop', 'chat', '--sim', '--yes')).code).toBe(0);
    expect((await run('hold', 'studio-4', '--reason', 'fan', '--sim', '--yes')).code).toBe(0);
    const held = await launch('echo up');
    expect([held.code, held.stdout, held.stderr.includes('studio-4: it is on hold (fan)')]).toEqual([5, '', true]);
    expect(held.stderr).toContain('launch/held');
    const other = await run('launch', '--nodes', 'studio-1', '--sim', '--yes', '--', 'echo', 'up');
    // The placement of studio-1 needs a rank on the held Mac, so it stays stopped.
    expect([other.code, printed(other.stdout, 0)]).toEqual([3, ['up']]);
    expect((await run('release', 'studio-4', '--sim', '--yes')).code).toBe(0);
    expect((await run('sim', 'fault', 'not-enrolled', 'studio-4')).code).toBe(0);
    const unseen = await launch('echo up');
    expect([unseen.code, unseen.stdout]).toEqual([5, '']);
    expect(unseen.stderr.replaceAll(/\s+/g, ' ')).toContain('studio-4: it is unknown whether the node is on hold');
    expect([unseen.stderr.includes('launch/hold-unseen'), unseen.stderr.includes('meshwright release')]).toEqual([
      true,
      false,
    ]);
    expect((await run('sim', 'fault', '--clear', 'not-enrolled')).code).toBe(0);
  });

  it('warns of a GID from which mlx cannot send, and starts the ranks', async () => {
    expect((await run('sim', 'fault', 'gid-second', 'studio-1')).code).toBe(0);
    const ran = await run('launch', '--nodes', 'studio-4,studio-1', '--sim', '--yes', '--', 'echo', 'up');
    expect([ran.code, printed(ran.stdout, 0)]).toEqual([0, ['up']]);
    expect(ran.stderr).toContain('warning  placement/gid-index');
    expect((await run('sim', 'fault', '--clear', 'gid-second')).code).toBe(0);
  });

  it('assigns ranks in the order of --nodes', async () => {
    const ran = await run('launch', '--nodes', 'studio-4,studio-1', '--sim', '--yes', '--', 'sh', '-c', 'echo {rank}');
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('simulated rank 0 studio-4 | 0\n');
    expect(await serves()).toBe(true);
  });

  it('rejects missing and invalid arguments', async () => {
    const rans = await Promise.all([
      run('launch', 'chat', '--sim'),
      run('launch', '--sim', '--', 'true'),
      run('launch', 'chat', '--nodes', 'studio-1', '--sim', '--', 'true'),
      run('launch', '--nodes', 'studio-9', '--sim', '--', 'true'),
      run('launch', 'chat', '--as', 'ana maria', '--sim', '--', 'true'),
      run('launch', 'chat', '-l', 'role=worker', '--sim', '--', 'true'),
    ]);
    expect(rans.map(({ code, stdout }) => [code, stdout])).toEqual(rans.map(() => [64, '']));
    await expectGolden('launch-usage', place, rans);
  });
});
