import { expect } from 'vitest';
import { prebootBanner } from '../../src/sim/hosts/ssh/ssh-server.ts';
import { connect, eventually, openSsh } from '../rack/running.ts';
import { jobPlist } from '../unit/sim/launchd-job.ts';
import { accessBehaviours } from './access-behaviours.ts';
import type { ContractRack } from './contract-rack.ts';
import { verbsBehaviours } from './verbs-behaviours.ts';

/** A behavior of a simulated rack on every host. */
export interface Behaviour {
  /** The predicate of a sentence that begins with "a simulated rack". */
  readonly title: string;
  readonly check: (rack: ContractRack) => Promise<void>;
}

const [one, other] = ['studio-1', 'studio-2'] as const;

/** A process that leaves its session and its group, unlike any process of the product. */
const escaped = `"$R/usr/bin/perl" -MPOSIX -e 'fork and exit; POSIX::setsid(); my $n = 0; while (1) { open my $f, ">", "$ENV{HOME}/alive"; print $f $n++; close $f; select undef, undef, undef, 0.02 }' >/dev/null 2>&1 </dev/null`;

const aliveCount = async ({ user }: ContractRack, node: string): Promise<string> =>
  (await user(node, '"$R/bin/cat" "$R/Users/mesh/alive"')).stdout;

/** True if a process still increments the count in the file, which is read twice. */
async function isCounting(rack: ContractRack, node: string): Promise<boolean> {
  const before = await aliveCount(rack, node);
  await new Promise((resolve) => setTimeout(resolve, 150));
  return (await aliveCount(rack, node)) !== before;
}

const jobText = `#!/bin/sh
printf 'started\\n' >>"\${0%/*}/starts"
exec "$1" 300
`;

/** Writes and loads a job that sleeps. */
async function writeJob({ fleet, root }: ContractRack, node: string): Promise<void> {
  const at = fleet.nodes[node]?.root ?? '';
  const plist = jobPlist({
    Label: 'dev.contract',
    ProgramArguments: [`${at}/opt/contract/job`, `${at}/bin/sleep`],
    RunAtLoad: true,
    KeepAlive: true,
    ThrottleInterval: 1,
  });
  const ran = await root(
    node,
    `"$R/bin/mkdir" -p "$R/opt/contract"
"$R/bin/cat" >"$R/opt/contract/job" <<'EOT'
${jobText}EOT
"$R/bin/chmod" 755 "$R/opt/contract/job"
"$R/bin/cat" >"$R/Library/LaunchDaemons/dev.contract.plist" <<'EOT'
${plist}EOT
"$R/bin/launchctl" bootstrap system "$R/Library/LaunchDaemons/dev.contract.plist"`,
  );
  expect([ran.code, ran.stderr]).toEqual([0, '']);
}

/** A program that returns each line that it receives at one of its Mac's addresses, from any number of clients. */
const echoes = (address: string): string =>
  `"$R/usr/bin/perl" -MIO::Socket::INET -e 'alarm 60; $SIG{CHLD} = "IGNORE"; my $all = IO::Socket::INET->new(LocalAddr => shift, Listen => 9, ReuseAddr => 1) or die; while (my $one = $all->accept) { next if fork; print $one "echo $_" while <$one>; exit }' ${address} >/dev/null 2>&1 </dev/null &`;

/** Prints the answer to a line, or `lost`. */
const said = async ({ user }: ContractRack, node: string, address: string): Promise<string> =>
  (
    await user(
      node,
      `"$R/usr/bin/perl" -MIO::Socket::INET -e 'my $far = IO::Socket::INET->new(PeerAddr => shift, Timeout => 1) or exit print "lost"; print $far "hello\n"; print scalar <$far>' ${address}`,
    )
  ).stdout;

/** Every behavior that both hosts must share. `docs/simulated-fleet.md` lists behavior that only one of them supports. */
export const behaviours: readonly Behaviour[] = [
  {
    title: 'is observed with one connection and one exec per node, and without unknown commands',
    check: async ({ fleet, look, names, find }) => {
      const before = fleet.counts();
      const { nodes } = await look();
      const after = fleet.counts();
      for (const name of names) {
        expect((after[name]?.connections ?? 0) - (before[name]?.connections ?? 0)).toBe(1);
        expect((after[name]?.execs ?? 0) - (before[name]?.execs ?? 0)).toBe(1);
        expect(Object.values(nodes[name]?.facts ?? {}).filter(({ kind }) => kind === 'unknown')).toEqual([]);
      }
      expect(await find()).toEqual([]);
      expect(Object.values(await fleet.unknown()).flat()).toEqual([]);
    },
  },
  {
    title: 'shows a write to the next command in the same script, and to no other Mac',
    check: async ({ root, user }) => {
      const set =
        '"$R/usr/sbin/sysctl" iogpu.wired_limit_mb=4097 >/dev/null; "$R/usr/sbin/sysctl" -n iogpu.wired_limit_mb';
      expect((await root(one, set)).stdout).toBe('4097\n');
      expect((await user(other, '"$R/usr/sbin/sysctl" -n iogpu.wired_limit_mb')).stdout).not.toBe('4097\n');
    },
  },
  {
    title: 'lets only root change it',
    check: async ({ user, fleet }) => {
      const before = fleet.effects().length;
      const ran = await user(one, '"$R/usr/sbin/sysctl" iogpu.wired_limit_mb=1; "$R/usr/bin/id" -u');
      expect(ran.stdout).toMatch(/501\n$/);
      expect(ran.stderr).toContain('Operation not permitted');
      expect(
        fleet
          .effects()
          .slice(before)
          .filter((effect) => effect.kind === 'write' && effect.exitCode === 0),
      ).toEqual([]);
    },
  },
  {
    title: 'exits with 127 for a command that a Mac does not have, and records it',
    check: async ({ user, fleet }) => {
      const ran = await user(one, '"$R/usr/bin/systemctl" --version');
      expect([ran.code, ran.stdout]).toEqual([127, '']);
      expect(fleet.execs().filter(({ command }) => command.includes('systemctl'))).toHaveLength(1);
    },
  },
  {
    title: "refuses an option that only Linux knows with the tool's own usage, and records it",
    check: async ({ user, fleet }) => {
      const ran = await user(one, '"$R/usr/bin/stat" -c %s "$R/bin/sh"');
      expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('usage: stat')]);
      expect((await fleet.unknown())[one]).toEqual([expect.stringContaining('/usr/bin/stat 3:-c %s ')]);
    },
  },
  {
    title: 'has a new boot session after a restart, and keeps its files but no process, not even a hidden one',
    check: async (rack) => {
      const before = await rack.bootSession(one);
      await rack.user(one, `${escaped}; printf kept >"$R/Users/mesh/kept"; printf gone >"$R/tmp/gone"`);
      expect(await eventually(() => isCounting(rack, one))).toBe(true);
      await rack.reboot(one);
      expect(await rack.bootSession(one)).not.toBe(before);
      expect(await isCounting(rack, one)).toBe(false);
      const left = await rack.user(one, '"$R/bin/cat" "$R/Users/mesh/kept"; "$R/bin/ls" "$R/tmp"');
      expect(left.stdout).toBe('kept');
    },
  },
  {
    title: 'loses its power suddenly, and comes back when its power button is pressed',
    check: async (rack) => {
      const before = await rack.bootSession(one);
      await rack.user(one, escaped);
      expect(await rack.fleet.cutPower(one)).toBe(true);
      expect(rack.fleet.power()[one]).toBe('down');
      await rack.fleet.powerOn(one);
      expect(await rack.bootSession(one)).not.toBe(before);
      expect(await isCounting(rack, one)).toBe(false);
    },
  },
  {
    title: 'runs a launchd job, restarts it when it ends, and stops it when it is unloaded',
    check: async (rack) => {
      const { fleet, root, user } = rack;
      await writeJob(rack, one);
      const pids = (): readonly number[] => fleet.processes().map(({ pid }) => pid);
      const [first = 0] = pids();
      const starts = async (): Promise<string> => (await user(one, '"$R/bin/cat" "$R/opt/contract/starts"')).stdout;
      expect(await eventually(async () => (await starts()) === 'started\n')).toBe(true);
      expect((await user(one, `"$R/bin/ps" -p ${first} -o pid= -o uid=`)).stdout.trim()).toMatch(
        new RegExp(`^${first} `),
      );
      expect((await user(one, '"$R/bin/launchctl" print system/dev.contract')).stdout).toContain(`pid = ${first}`);
      await root(one, `"$R/bin/kill" -9 ${first}`);
      expect(await eventually(() => pids().length === 1 && pids()[0] !== first)).toBe(true);
      expect(await eventually(async () => (await starts()) === 'started\nstarted\n')).toBe(true);
      expect((await root(one, '"$R/bin/launchctl" bootout system/dev.contract')).code).toBe(0);
      expect(pids()).toEqual([]);
    },
  },
  {
    title: 'starts its jobs at boot',
    check: async (rack) => {
      await rack.reboot(one);
      expect(await eventually(() => rack.fleet.processes().length === 1)).toBe(true);
      await rack.root(
        one,
        '"$R/bin/launchctl" bootout system/dev.contract; "$R/bin/rm" -r "$R/Library/LaunchDaemons/dev.contract.plist" "$R/opt/contract"',
      );
    },
  },
  {
    title: 'shows a pulled cable at both ends, and no trace after it is plugged in again',
    check: async ({ fleet, user, find }) => {
      const status = async (node: string, device: string): Promise<string> =>
        /status: (\w+)/.exec((await user(node, `"$R/sbin/ifconfig" ${device}`)).stdout)?.[1] ?? '';
      const before = await find();
      await fleet.setFault(['cable-missing', 'studio-1:2']);
      expect(await find()).toContain('error cabling/missing link studio-1:2 <-> studio-2:2');
      expect([await status(one, 'en3'), await status(other, 'en3')]).toEqual(['inactive', 'inactive']);
      await fleet.clearFault([]);
      expect(await find()).toEqual(before);
      expect([await status(one, 'en3'), await status(other, 'en3')]).toEqual(['active', 'active']);
    },
  },
  {
    title: 'connects perl programs over its cables, and only there',
    check: async (rack) => {
      const address = '10.77.0.1:52000';
      await rack.user(one, echoes(address));
      expect(await eventually(async () => (await said(rack, other, address)) === 'echo hello\n')).toBe(true);
      expect(await said(rack, one, address)).toBe('echo hello\n');
      expect([await said(rack, 'studio-3', address), await said(rack, other, '10.77.0.1:52001')]).toEqual([
        'lost',
        'lost',
      ]);
      await rack.fleet.setFault(['cable-missing', 'studio-1:2']);
      expect(await said(rack, other, address)).toBe('lost');
      await rack.fleet.clearFault([]);
      expect(await said(rack, other, address)).toBe('echo hello\n');
    },
  },
  {
    title: 'waits at FileVault with its banner, accepts no key, and runs nothing',
    check: async ({ fleet }) => {
      await fleet.setFault(['filevault-locked', one]);
      const ran = await openSsh(fleet, one, ['-oLogLevel=INFO', 'true']);
      expect(ran.code).toBe(255);
      expect(ran.stderr.replaceAll('\r', '')).toContain(prebootBanner);
      expect(ran.stderr).toMatch(/Permission denied \(password\)/);
    },
  },
  {
    title: 'shows a different host key under a fault, and its own afterwards',
    check: async ({ fleet }) => {
      const seen = async (): Promise<string> => {
        let key = '';
        const hostVerifier = (blob: Buffer): boolean => {
          key = blob.toString('base64');
          return true;
        };
        (await connect(fleet, one, { hostVerifier })).end();
        return key;
      };
      const own = await seen();
      expect(fleet.nodes[one]?.hostKey).toContain(own);
      await fleet.setFault(['wrong-host-key', one]);
      expect(await seen()).not.toBe(own);
      await fleet.clearFault([]);
      expect(await seen()).toBe(own);
    },
  },
  {
    title: 'has a separate clock that can be wrong',
    check: async ({ fleet, user }) => {
      const ahead = async (): Promise<number> =>
        Number((await user(one, '"$R/bin/date" +%s')).stdout) - Date.now() / 1000;
      expect(Math.abs(await ahead())).toBeLessThan(30);
      await fleet.setFault(['clock-skew', one]);
      expect(Math.abs((await ahead()) - 420)).toBeLessThan(30);
    },
  },
  {
    title: 'writes as much as fits to a full disk, and then reports the error',
    check: async ({ fleet, user }) => {
      await fleet.setFault(['disk-full', one]);
      const ran = await user(
        one,
        '"$R/usr/bin/head" -c 200000 /dev/zero | "$R/bin/cat" >"$R/Users/mesh/big"; "$R/usr/bin/stat" -f %z "$R/Users/mesh/big"',
      );
      expect([ran.stdout, ran.stderr]).toEqual(['65536\n', expect.stringContaining('No space left on device')]);
    },
  },
  {
    title: 'cuts every connection in the middle of its data',
    check: async ({ fleet }) => {
      await fleet.setFault(['connection-drop', one]);
      const ran = await openSsh(fleet, one, ['i=0; while [ $i -lt 400 ]; do printf "%0100d\\n" $i; i=$((i+1)); done']);
      expect([ran.code, ran.stdout.length < 2_000]).toEqual([255, true]);
    },
  },
  {
    title: 'stays off after a restart until its power button is pressed',
    check: async ({ fleet, root, user }) => {
      await fleet.setFault(['no-return', one]);
      await root(one, '"$R/sbin/shutdown" -r now >/dev/null 2>&1 </dev/null &');
      expect(await eventually(() => fleet.power()[one] === 'down')).toBe(true);
      await fleet.clearFault([]);
      await fleet.powerOn(one);
      expect((await user(one, 'printf here')).stdout).toBe('here');
    },
  },
  {
    title: "asks for a password in sudo's words if sudo has lost its rule",
    check: async ({ fleet, user, root }) => {
      await fleet.setFault(['sudo-denied', one]);
      const ran = await user(one, '"$R/usr/bin/sudo" -n "$R/usr/bin/id" -u');
      expect([ran.code, ran.stdout, ran.stderr]).toEqual([1, '', 'sudo: a password is required\n']);
      await fleet.clearFault([]);
      expect((await root(one, '"$R/usr/bin/id" -u')).stdout).toBe('0\n');
    },
  },
  ...accessBehaviours,
  ...verbsBehaviours,
];
