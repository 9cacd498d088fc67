import { appendFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FleetObservation } from '../../src/rack/examination.ts';
import { read } from '../../src/rack/fact.ts';
import { interfacesFact } from '../../src/rack/network/interfaces-fact.ts';
import { hardwarePortsFact } from '../../src/rack/network/services-fact.ts';
import type { Fleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { first } from './converge-file.ts';
import type { Drift, Hand } from './converge-hand.ts';
import type { ConvergeRack } from './converge-rack.ts';
import { settingDrifts } from './converge-setting-drifts.ts';

const preferences = '/Library/Preferences/SystemConfiguration/preferences.plist';
const ours = '/Library/Application Support/meshwright';
const placement = ['placement/*'];
const label = 'system/dev.meshwright.rank.chat';
const plist = '/Library/LaunchDaemons/dev.meshwright.rank.chat.plist';

const exoDaemon = '/Library/LaunchDaemons/io.exo.networksetup.plist';

/** The property list that exo's app installs. */
const exoPlist = (root: string): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>Label</key><string>io.exo.networksetup</string>
<key>ProgramArguments</key><array><string>${root}/bin/sh</string><string>-c</string><string>exit 0</string></array>
<key>RunAtLoad</key><true/>
<key>StartInterval</key><integer>1786</integer>
</dict></plist>
`;

const bridge = `<key>Bridge</key><dict><key>bridge0</key><dict>
<key>Interfaces</key><array><string>en2</string><string>en3</string></array>
<key>Options</key><dict><key>__AUTO__</key><string>thunderbolt-bridge</string></dict></dict></dict>`;

/** Writes the network preferences; any command that writes makes the simulated Mac read them. */
async function writePreferences({ at, asRoot }: Hand, change: (text: string) => string): Promise<void> {
  const path = at(preferences);
  const before = await readFile(path, 'utf8');
  const after = change(before);
  if (after === before) throw new Error('nothing was changed');
  await writeFile(path, after);
  await asRoot('"$R/usr/bin/pmset" -a disksleep 0');
}

/** Adds the bridge to the running system only: creates it with its preferences, then restores these. */
async function bridgeInterface(hand: Hand): Promise<void> {
  const before = await readFile(hand.at(preferences), 'utf8');
  await hand.fleet.setFault(['bridge-active', hand.node]);
  await writePreferences(hand, () => before);
}

/** The folder of the desired version of a tree. Older versions may be next to it. */
function treeAt({ at, rack }: Hand, name: 'runtimes/reference' | 'models/tiny'): string {
  const { runtimes, models } = rack.desired();
  const digest = name === 'models/tiny' ? models[0]?.digest : runtimes[0]?.sha256;
  if (digest === undefined) throw new Error(`${name} is not settled`);
  return at(`/opt/meshwright/${name}/${digest.slice(0, 16)}`);
}

const weights = 'model-00001-of-00002.safetensors';

async function flip(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  await writeFile(path, bytes);
}

async function orphanedRank({ at }: Hand): Promise<void> {
  const [from, to] = [at(`${ours}/placements/chat`), at(`${ours}/placements/old`)];
  await cp(from, to, { recursive: true });
  await rm(join(to, 'process'));
  const record = await readFile(join(to, 'record'), 'utf8');
  await writeFile(
    join(to, 'record'),
    record.replace('placement=chat', 'placement=old').replace(/^rank=.*$/m, 'rank=1'),
  );
}

/** The state after a run that changed the network and died before its confirmation. */
async function unconfirmed({ at }: Hand): Promise<void> {
  const pending = at(`${ours}/transaction/pending`);
  await mkdir(pending, { recursive: true });
  await writeFile(join(pending, 'about'), 'run=r-0\ntoken=1\nstep=an/address\nby=ana@desk\n');
  await writeFile(join(pending, 'restore'), 'exit 0\n');
}

/** Every change that may happen to a node between runs, at least one per property. */
export const drifts: readonly Drift[] = [
  { of: 'transaction', what: 'a run left a network change unconfirmed', make: unconfirmed },
  ...settingDrifts,
  {
    of: 'keeper/files',
    what: "the keeper's data was edited",
    batch: 'settings',
    make: ({ at }) => appendFile(at(`${ours}/keeper/data`), 'wired 1\n'),
  },
  {
    of: 'keeper/loaded',
    what: 'the keeper was unloaded from launchd',
    batch: 'files',
    make: ({ asRoot }) => asRoot('"$R/bin/launchctl" bootout system/dev.meshwright.keeper'),
  },
  {
    of: 'keeper/files',
    what: "the keeper's property list is missing",
    batch: 'ranks',
    make: ({ at }) => rm(at('/Library/LaunchDaemons/dev.meshwright.keeper.plist')),
    with: ['keeper/loaded'],
  },
  {
    of: 'thunderbolt-bridge/service',
    what: 'the bridge has a network service',
    batch: 'settings',
    // After the repair, the service still exists but is switched off.
    make: ({ asRoot }) =>
      asRoot(`n=$R/usr/sbin/networksetup b='Thunderbolt Bridge'
"$n" -createnetworkservice "$b" "$b" || "$n" -setnetworkserviceenabled "$b" on`),
  },
  {
    of: 'foreign-daemon/*',
    what: 'exo was installed, and its network daemon runs',
    batch: 'settings',
    make: async ({ at, asRoot }) => {
      await mkdir(at('/Library/Application Support/EXO'), { recursive: true });
      await writeFile(at(exoDaemon), exoPlist(at('')));
      await asRoot(`"$R/bin/launchctl" enable system/io.exo.networksetup
"$R/bin/launchctl" bootstrap system "$R${exoDaemon}"`);
    },
  },
  {
    of: 'service-order',
    what: "a link's service precedes the office network",
    batch: 'settings',
    make: ({ asRoot, linked }) =>
      asRoot(`n=$R/usr/sbin/networksetup
set --
while IFS= read -r x; do case $x in ('Thunderbolt ${linked}') ;; (*) set -- "$@" "$x" ;; esac; done <<EOT
$("$n" -listallnetworkservices | "$R/usr/bin/sed" -e 1d -e 's/^[*]//')
EOT
"$n" -ordernetworkservices 'Thunderbolt ${linked}' "$@"`),
  },
  {
    of: 'link-address/*/kept',
    what: 'a service without a link keeps a link address',
    batch: 'settings',
    make: ({ asRoot, free }) =>
      asRoot(`"$R/usr/sbin/networksetup" -setmanual 'Thunderbolt ${free}' 10.77.0.205 255.255.255.252`),
  },
  {
    of: 'thunderbolt-bridge/preferences',
    what: 'the bridge is in the preferences',
    batch: 'settings',
    make: (hand) => writePreferences(hand, (text) => text.replace(/<key>Bridge<\/key>\s*<dict\/>/, bridge)),
  },
  {
    of: 'link-address/*/live',
    what: "a link's interface lost its address",
    batch: 'settings',
    make: ({ asRoot, device, address, linked }) =>
      asRoot(`"$R/sbin/ifconfig" ${device(linked)} inet ${address(linked)} -alias`),
    with: placement,
  },
  {
    of: 'thunderbolt-bridge/interface',
    what: 'the bridge is in the running system',
    batch: 'settings',
    make: bridgeInterface,
    with: ['link-address/*/live', ...placement],
  },
  {
    of: 'link-address/*/kept',
    what: "a link's service returned to DHCP, and the address stays until the next start",
    batch: 'files',
    make: ({ asRoot, device, address, linked }) =>
      asRoot(`"$R/usr/sbin/networksetup" -setdhcp 'Thunderbolt ${linked}'
"$R/sbin/ifconfig" ${device(linked)} inet ${address(linked)} netmask 255.255.255.252`),
  },
  {
    of: 'link-address/*/live',
    what: 'an interface without a link has a link address',
    batch: 'files',
    make: ({ asRoot, device, free }) =>
      asRoot(`"$R/sbin/ifconfig" ${device(free)} inet 10.77.0.201 netmask 255.255.255.252`),
  },
  {
    of: 'runtime/*',
    what: 'a program in the runtime was edited',
    batch: 'files',
    make: async (hand) => appendFile(join(treeAt(hand, 'runtimes/reference'), 'bin/rank'), '# edited\n'),
  },
  {
    of: 'runtime/*/old',
    what: 'several older versions are installed',
    batch: 'files',
    make: async (hand) => {
      const tree = treeAt(hand, 'runtimes/reference');
      for (const digest of ['0123456789abcdef', 'fedcba9876543210']) {
        await cp(tree, join(tree, '..', digest), { recursive: true });
      }
    },
  },
  {
    of: 'staging',
    what: 'an unfinished copy of an undeclared model was abandoned',
    batch: 'files',
    make: async ({ at }) => {
      const staged = at('/opt/meshwright/staging/model-old-0123456789abcdef/tree');
      const job = at(`${ours}/ops/${'0'.repeat(64)}`);
      for (const folder of [staged, job]) await mkdir(folder, { recursive: true });
      await writeFile(join(staged, 'weights.part'), 'half of it');
      await writeFile(join(job, 'job'), 'name=fetch-model\ntree=model old 0123456789abcdef\nboot=none\n');
    },
  },
  {
    of: 'model/*',
    what: 'one bit of the weights changed',
    batch: 'files',
    make: async (hand) => flip(join(treeAt(hand, 'models/tiny'), weights)),
  },
  {
    of: 'placement/*/service-file',
    what: 'a service file was edited',
    batch: 'files',
    make: ({ at }) => appendFile(at(plist), '\n'),
  },
  { of: 'placement', what: 'a node has an orphaned rank', batch: 'files', make: orphanedRank },
  {
    of: 'runtime/*',
    what: 'the link to the current version is missing',
    batch: 'ranks',
    make: ({ at }) => rm(at('/opt/meshwright/runtimes/reference/current')),
  },
  {
    of: 'model/*',
    what: 'the model is missing',
    batch: 'ranks',
    make: async (hand) => rm(treeAt(hand, 'models/tiny'), { recursive: true }),
    with: placement,
  },
  {
    of: 'placement/*',
    what: 'a rank was killed',
    batch: 'ranks',
    make: ({ asRoot }) => asRoot(`"$R/bin/launchctl" kill SIGKILL ${label}`),
  },
  {
    of: 'runtime/*',
    what: 'the current version is missing',
    make: async (hand) => rm(treeAt(hand, 'runtimes/reference'), { recursive: true }),
  },
  {
    of: 'model/*',
    what: 'the model has an extra file',
    make: async (hand) => writeFile(join(treeAt(hand, 'models/tiny'), 'more.bin'), 'more'),
  },
  { of: 'placement/*', what: 'a rank hangs', make: ({ asRoot }) => asRoot(`"$R/bin/launchctl" kill SIGUSR1 ${label}`) },
  {
    of: 'placement/*',
    what: 'a rank was unloaded from launchd',
    make: ({ asRoot }) => asRoot(`"$R/bin/launchctl" bootout ${label}`),
  },
  {
    of: 'placement/*',
    what: "a rank's record is missing",
    make: ({ at }) => rm(at(`${ours}/placements/chat`), { recursive: true }),
  },
  { of: 'placement/*/service-file', what: 'a service file is missing', make: ({ at }) => rm(at(plist)) },
];

const ipv4Of = ({ nodes }: FleetObservation, node: string): ReadonlyMap<string, string> => {
  const facts = read(nodes[node]?.facts, interfacesFact);
  const all = facts?.kind === 'known' ? facts.value : [];
  return new Map(all.flatMap(({ name, ipv4 }) => (ipv4[0] === undefined ? [] : [[name, ipv4[0].address] as const])));
};

/** The access of a person to a node of a rack. */
export async function handOn(rack: ConvergeRack, fleet: Fleet, node: string): Promise<Hand> {
  const seen = await rack.observe();
  const ports = read(seen.nodes[node]?.facts, hardwarePortsFact);
  const devices = new Map(ports?.kind === 'known' ? ports.value.map(({ port, device }) => [port, device]) : []);
  const device = (receptacle: number): string => devices.get(`Thunderbolt ${receptacle}`) ?? '';
  const addresses = ipv4Of(seen, node);
  return {
    rack,
    fleet,
    node,
    linked: node === first ? 4 : 2,
    free: 3,
    asRoot: async (script) => {
      const ran = await rack.asRoot(node, `set -e\n${script}`);
      if (ran.code !== 0) throw new Error(`${script}: ${ran.stdout}${ran.stderr}`);
    },
    at: (path) => `${fleet.nodes[node]?.root ?? ''}${path}`,
    device,
    address: (receptacle) => addresses.get(device(receptacle)) ?? '',
  };
}
