import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, it } from 'vitest';
import { emptyLock } from '../../src/config/lock.ts';
import { recordedMacs } from '../unit/cli/recorded-macs.ts';
import { casesFolder } from '../unit/engine/observe/fact-cases.ts';

/** Facts that share output with others, differ between the Macs, or change with the date. */
const elsewhere = `baseline boot-session clock dhcp-leases gateways files hardware hold identity jobs keeper leases
  model-copies other-rdma-devices placements rdma-holders rdma-starts reboot-mark transactions service-addresses services
  swap thunderbolt traces trees wired-limit`.split(/\s+/);

/** One recorded case of each other fact; a different one for each position. */
const casesAt = (position: number): readonly string[] =>
  readdirSync(casesFolder)
    .filter((fact) => !elsewhere.includes(fact))
    .map((fact) => {
      const names = readdirSync(casesFolder + fact).sort();
      return `${fact}/${names[position % names.length]?.replace('.txt', '')}`;
    });

const lines = (text: string): string => `${text.replaceAll(/;\s*/g, '\n')}\n`;
const hardware = (model: string, chip: string, gigabytes: number, wired = 0): string =>
  lines(`hw.model: ${model};hw.memsize: ${gigabytes * 2 ** 30};machdep.cpu.brand_string: Apple ${chip};
    iogpu.wired_limit_mb: ${wired};vm.swapusage: total = 0.00M  used = 0.00M  free = 0.00M  (encrypted);kern.boottime: { sec = 1790421415, usec = 9 } Sat Sep 26 06:16:55 2026;
    kern.bootsessionuuid: 40962879-B7EE-4F13-AF6E-E7266EF5E732`);
const rank = (placement: string, at: number, size: number): string =>
  `placement ${placement};|placement=${placement};|digest=${'ab'.repeat(32)};|generation=12;|rank=${at};|size=${size};
    |port=29512;|endpointPort=8081;|tokenPath=/v1;|tokenDeadlineMs=4000;|starts=2;|tokenPointer=/text;
    |startedIn=40962879-B7EE-4F13-AF6E-E7266EF5E732;`;
const running = (label: string): string => `service dev.meshwright.${label} 0;|x = {;|\tstate = running;|\tpid = 9;|};`;
const tree = (name: string, hex: string, more = ''): string =>
  `tree ${name}/${hex.repeat(8)};|digest=${hex.repeat(32)};|files=2;${more}`;
const boot = '|boot=40962879-B7EE-4F13-AF6E-E7266EF5E732;';

const edit = (text: string, edits: readonly (readonly [RegExp, string])[]): string =>
  edits.reduce((edited, [from, to]) => edited.replace(from, to), text);
const file = edit(readFileSync('docs/cluster.full.yaml', 'utf8'), [
  [/\n {4}hold: .*/, ''],
  [/mirror\.lan:8080/, '127.0.0.1:1'],
  [/studio-2:2\n/, 'studio-2:1\n'],
  [/serial: ABC123DEF4/, 'serial: "1234567890"'],
  [/"Mac15,14", memory: 256GB/, '"Mac17,7", memory: 128GB'],
  [/, "studio-2:5"/, ''],
  [/ {4}state: stopped\n(?= {4}fallback)/, ''],
]);

/** The same file without gateways, and with only those runtimes whose archives this test writes. */
const planned = edit(file, [
  [/\ngateway:[\s\S]*?(?=\nplacements)/, ''],
  [/, listen: lan, access: anybody/g, ''],
  [/\n {6}(?:listen|servedName|apiKey|proxies): .*/g, ''],
  [/ {4}replicas: per-node/, '    sharding: pipeline'],
  [/ {2}llamacpp:[\s\S]*?(?=\nmodels:)/, ''],
  [/runtime: (?:mlx|llamacpp)/g, 'runtime: reference'],
  [/ {4}(?:backend|parallel|args|shares|drafter): .*\n/g, ''],
  [/\.\.\/dist\/reference/, './reference'],
  [/models\/tiny /, 'tiny '],
]);

/** The cases of a Mac without surprises. */
const usual =
  `macos-version/macos-27 disk-space/m3ultra-8tb sudo/allowed rdma-state/m3ultra-enabled rdma-switch/m3ultra-on
  bridge-preferences/m3ultra-bridge-deleted hardware-ports/m3ultra-no-bridge service-addresses/fixed-and-dhcp
  interfaces/m3ultra-en7-own-address routes/addressed-cables-and-neighbours power/studio foreign-daemons/none
  accounts/person-and-ours automatic-updates/off names/renamed firewall/off screen-sharing/on search-path/of-macos
  time-machine/off remote-login/on login/an-administrator panic-reports/none spotlight/off photos-analysis/off
  automatic-login/somebody software-updates/none-available rdma-objects/nothing-held filevault/off
  rdma-devices/m3ultra-macos-27 rdma-ports/m3ultra-en7-active`.split(/\s+/);

const macs: Parameters<typeof recordedMacs>[2] = {
  'studio-1': {
    cases: [...usual, 'thunderbolt/m3ultra-pair-a', 'identity/macbook-air-m2'],
    printed: {
      sysctl: hardware('Mac15,14', 'M3 Ultra', 512, 491_520),
      'kept-records': lines(`baseline power;|sleep 1;|autorestart 0;baseline wired-limit;|0;baseline bridge;
        foreign io.exo.networksetup;|was=loaded;|plist=moved;traces;|folder=yes;|trees=some;end`),
      'kept-files': lines(`${tree('runtimes/reference', 'ab', '|current=yes;')}${tree('models/tiny', 'cd')}
        counts 0;|runtimes/reference/${'ab'.repeat(8)} 2 0;|models/tiny/${'cd'.repeat(8)} 1 0;end`),
      'placement-members': lines(`listening 0;|29512;${rank('chat', 1, 3)}${rank('pair', 0, 2)}
        reboot-mark;${boot}|why=memory;|placement=pair;|wired=34359738368;|baseline=17179869184;|now=18897856102;end`),
      'launchd-services': lines(`${running('rank.chat')}${running('rank.pair')}end`),
    },
  },
  'studio-2': {
    cases: [...usual, 'thunderbolt/m5max-pair-a', 'identity/macbook-pro-m5-masked'],
    printed: {
      sysctl: hardware('Mac17,7', 'M5 Max', 128),
      'kept-records': lines('traces;|folder=yes;|sudoers=yes;|key=yes;|trees=models;end'),
      'kept-files': 'end\n',
      'placement-members': lines(`listening 0;|29512;|8081;${rank('chat', 0, 3)}token chat 0 503;end`),
      'launchd-services': lines(`${running('rank.chat')}${running('gateway.8081')}end`),
    },
  },
  'studio-3': {
    cases: casesAt(2),
    printed: {
      sysctl: hardware('Mac16,9', 'M4 Max', 128),
      'kept-records': 'end\n',
      'kept-files': lines(`tree models/gone/${'ab'.repeat(8)};end`),
      'placement-members': 'listening 0\nend\n',
      'launchd-services': 'end\n',
    },
  },
};
const lock = { ...emptyLock('the lock'), nodes: Object.keys(macs) };

describe.each([
  [file, ['doctor --json', 'status', 'facts', 'cables', 'graph --format dot']],
  [
    planned,
    [
      'plan',
      'plan --json',
      'stop --all',
      'restart chat',
      'reboot studio-1',
      'shutdown --all',
      'uninstall studio-1 studio-2 --restore --models',
      'models prune --all',
    ],
  ],
])('a rack with a few faults', (text, commands) => {
  const rack = recordedMacs(text, lock, macs);
  beforeAll(() => {
    mkdirSync(`${rack.place.folder}/tiny`);
    rack.place.write('tiny/config.json', '{}');
    for (const name of ['reference.tar.gz', 'server.zip', 'pairwise.tar.gz']) rack.place.write(name, name);
  });
  it.each(commands)('is shown as recorded by %s', (words) =>
    rack.expectPage(words.replaceAll(/\W+/g, '-'), [`${words} --sim`]),
  );
});

describe('a rack of unusual Macs', () => {
  const odd = (position: number) => ({
    cases: casesAt(position),
    printed: { sysctl: hardware('Mac15,14', 'M3 Ultra', 512) },
  });
  const rack = recordedMacs(file, lock, { 'studio-1': odd(0), 'studio-2': odd(1), 'studio-3': odd(3) });
  it.each(['doctor', 'facts --json'])('is shown as recorded by %s', (words) =>
    rack.expectPage(`odd-${words.replaceAll(/\W+/g, '-')}`, [`${words} --sim`]),
  );
});
