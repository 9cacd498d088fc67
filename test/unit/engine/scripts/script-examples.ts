/** An example call of every node script and every job, and every other text that is sent to a node. */

import { requestPattern } from '../../../../src/drivers/exo/exo.ts';
import { jobText, launchBody, pollJobCommand } from '../../../../src/engine/scripts/job.ts';
import {
  type LeaseClaim,
  releaseLeaseScript,
  renewLeaseScript,
  stealLeaseScript,
  takeLeaseScript,
} from '../../../../src/engine/scripts/lease.ts';
import { scriptBody } from '../../../../src/engine/scripts/registry.ts';
import { confirmBody, transactionBody } from '../../../../src/engine/scripts/transaction.ts';
import { digest } from '../../../../src/model/digest.ts';
import type { RankRecord } from '../../../../src/model/facts/fact-values.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { JobArgs, JobCall, PeerPlan, ScriptArgs, ScriptCall, TreeId } from '../../../../src/model/node-script.ts';
import { askCommand } from '../../../../src/node/endpoint/ask-endpoint.ts';
import {
  appendCommand,
  nodeBytesCommand,
  prefixDigestCommand,
  stagedSizeCommand,
} from '../../../../src/node/node-bytes.ts';
import { nodePath, place } from '../../../../src/node/paths/node-paths.ts';
import { requestFile, serviceFile, stagedFile, treeFolder } from '../../../../src/node/paths/own-paths.ts';
import { putBody } from '../../../../src/node/put-file.ts';
import { type Fence, historyCommand, mutatingScript } from '../../../../src/node/root-script.ts';
import { installAccessCommand, ruleText } from '../../../../src/rack/access/install-access-script.ts';
import { restartBody } from '../../../../src/rack/boot/restart-script.ts';
import { keepText } from '../../../../src/rack/keeper/program-script.ts';
import { refuseOrder } from '../../../../src/rack/macos/update-scripts.ts';
import { restoreText, rollText, touchedNetwork } from '../../../../src/rack/network/transaction/transaction-script.ts';
import { launchRankScript } from '../../../../src/rack/placement/launched-program-script.ts';
import {
  rankLogCommand,
  rankLogPartsCommand,
  rankProgressCommand,
  rankReportCommand,
} from '../../../../src/rack/placement/observed/rank-log-script.ts';

/** SHA-256 of the text `ab`. */
export const exampleDigest = digest('fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603');

export const exampleModel: TreeId = { kind: 'model', name: 'tiny', digest: exampleDigest };
export const exampleRuntime: TreeId = { kind: 'runtime', name: 'reference', digest: exampleDigest };

export const exampleRecord: RankRecord = {
  placement: 'kimi',
  digest: exampleDigest,
  generation: 3,
  rank: 0,
  size: 2,
  port: 29_500,
  meetPort: 0,
  endpointPort: 8_080,
  tokenPath: '/v1/chat/completions',
  tokenPointer: '/choices/0/message/content',
  tokenDeadlineMs: 4_000,
  logPattern: '',
};

const files = [
  { path: 'config.json', sha256: exampleDigest, sizeBytes: 2 },
  { path: "odd names/it's.bin", sha256: exampleDigest, sizeBytes: 2 },
];

const scripts: ScriptArgs = {
  'set-hold': { reason: "the fan's bearing", until: '2026-12-01', by: 'ana@laptop', since: '2026-11-21' },
  'clear-hold': {},
  'set-power': { sleepMinutes: 0, restartAfterPowerLoss: true },
  'set-updates': {},
  'check-account': {
    name: 'mesh',
    devices: ['rdma_en2'],
    reads: [nodePath('/opt/llama-server'), nodePath('/opt/of another member')],
    gpu: {
      argv: [nodePath('/opt/llama-server'), '--list-devices'],
      shows: '^ *MTL',
      builtFor: 'ggml_metal',
      digest: exampleDigest,
      env: { GGML: "it's" },
    },
  },
  'make-account': { name: '_meshrank' },
  'remove-accounts': { names: ['_meshrank', '_meshgate'] },
  'set-names': { computerName: 'studio-1', localHostName: 'studio-1', hostName: "ana's" },
  'set-clock': {},
  'authorize-restart': {},
  'set-screen-sharing': { on: true },
  'stop-firewall': {},
  'stop-spotlight': {},
  'stop-backups': {},
  'stop-photos-analysis': {},
  'set-wired-limit': { megabytes: 491_520 },
  'remove-bridge': { bridge: 'bridge0', members: ['en2', 'en3'], services: ['Thunderbolt Bridge'], keeper: true },
  'set-link-address': {
    service: "Ana's cable",
    hardwarePort: 'Thunderbolt 2',
    device: 'en3',
    address: '10.77.0.1',
    prefixLength: 30,
    create: true,
    keeper: true,
  },
  'clear-link-address': {
    service: 'Thunderbolt 2',
    hardwarePort: 'Thunderbolt 2',
    device: 'en3',
    addresses: ['10.77.0.1'],
  },
  'stop-daemon': { label: 'io.exo.networksetup', remove: true },
  'order-services': { last: ['en2', 'en3', 'bridge0'], keeper: true },
  'load-keeper': { reload: true },
  'remove-keeper': {},
  'load-gateway': { port: 8080, reload: true, isTaken: false, left: ['old'], user: 'mesh' },
  'remove-gateway': { port: 8080, closed: ['chat'], keyed: ['chat'] },
  'drain-endpoint': { port: 8080, placement: 'chat', waitMs: 10_000 },
  'open-endpoint': { port: 8080, placement: 'chat' },
  'restore-network': {
    bridge: { name: 'bridge0', interfaces: ['en2', 'en3'], auto: 'thunderbolt-bridge' },
    made: ['Thunderbolt 2 2'],
    switched: [{ service: 'Thunderbolt Bridge', on: true }],
    manual: [
      { service: 'Thunderbolt 3', device: 'en4', address: '192.0.2.7', prefixLength: 24 },
      { service: 'Thunderbolt 4', device: 'en5', address: '198.51.100.7', prefixLength: 24, router: '198.51.100.1' },
    ],
    order: ['Ethernet', "Ana's", 'Thunderbolt Bridge'],
  },
  'restore-value': { key: 'power' },
  'return-daemon': { label: 'io.exo.networksetup', load: true },
  'clear-node': { labels: ['dev.meshwright.keeper'], models: false },
  'withdraw-node': {},
  'settle-transaction': { run: "r-0's" },
  'prepare-staging': { tree: exampleModel, user: 'mesh' },
  'publish-tree': { tree: exampleModel, jobs: [exampleDigest] },
  'switch-runtime': { tree: exampleRuntime },
  'remove-runtime-versions': { name: 'reference', digests: ['0123456789abcdef'] },
  'remove-model-versions': { name: 'tiny', digests: ['0123456789abcdef'] },
  'clear-staging': { folders: ['model-tiny-0123456789abcdef'], jobs: [exampleDigest] },
  'bootstrap-rank': {
    record: exampleRecord,
    request: '{"messages":[]}',
    user: 'mesh',
    files: ['matrix.json'],
    links: [{ name: 'models', to: treeFolder(exampleModel) }],
    folders: [
      { name: 'home', keeps: false },
      { name: 'cache', keeps: true },
    ],
  },
  'kick-rank': { placement: 'kimi', user: 'mesh', generation: 3, transport: 'rdma', startMs: 30_000 },
  'stop-rank': { placement: 'kimi', graceMs: 1_000 },
  'continue-rank': { placement: 'chat' },
  'keep-golden': {
    placement: 'kimi',
    golden: { key: digest('a'.repeat(64)), sha256: digest('b'.repeat(64)), firstTokenMs: 180, tokensPerSecond: 24.5 },
  },
  'remove-rank': { placement: 'kimi' },
};

const peers: PeerPlan = {
  self: nodeName('studio-1'),
  role: 'serve',
  mode: 'mesh',
  port: 12_345,
  stripe: { at: 0, of: 1 },
  listen: ['10.77.0.1'],
  sources: [],
  feeds: [nodeName('studio-2')],
};

const jobs: JobArgs = {
  'unpack-runtime': {
    tree: exampleRuntime,
    archive: 'tar.gz',
    sha256: exampleDigest,
    extras: [{ name: 'requirements.lock', sha256: exampleDigest }],
  },
  'build-python': {
    tree: exampleRuntime,
    archive: 'tar.gz',
    sha256: exampleDigest,
    extras: [{ name: 'requirements.lock', sha256: exampleDigest }],
    python: '3.12',
    isOffline: true,
    account: 'mesh',
  },
  'list-packages': {
    tree: exampleRuntime,
    archive: 'tar.gz',
    sha256: exampleDigest,
    python: '3.12',
    account: 'mesh',
    wanted: 'mlx-lm==0.32.0',
    mostBytes: 1_048_576,
    index: 'https://mirror.lan/pypi.org/simple',
    pythons: 'https://mirror.lan/github.com/astral-sh/python-build-standalone/releases/download',
  },
  'build-archive': {
    tree: exampleRuntime,
    sha256: exampleDigest,
    commit: '0123456789ab',
    account: 'mesh',
    mostBytes: 1_048_576,
  },
  'fetch-source': {
    tree: exampleRuntime,
    sha256: exampleDigest,
    sizeBytes: 2,
    url: 'https://github.com/acme/mlx-lm/archive/0123456789abcdef0123456789abcdef01234567.tar.gz',
    account: 'mesh',
  },
  'fetch-archive': {
    tree: exampleRuntime,
    archive: 'dmg',
    sha256: exampleDigest,
    sizeBytes: 2,
    url: 'https://example.com/tool.dmg',
  },
  'fetch-model': { tree: exampleModel, files, source: { kind: 'url', base: 'https://models.lan/tiny/' } },
  'serve-model': { tree: exampleModel, files, peers },
  'adopt-model': {
    tree: exampleModel,
    files: files.map((file) => ({ ...file, from: file.path })),
    folder: nodePath("/Volumes/ana's disk/models--acme--tiny/snapshots/1"),
    fence: nodePath("/Volumes/ana's disk/models--acme--tiny"),
  },
  'verify-model': { tree: exampleModel, files },
  'prepare-rank': {
    placement: 'kimi',
    key: exampleDigest,
    name: 'data-0123456789abcdef',
    account: 'mesh',
    env: { HOME: [nodePath('/var/mesh')], LEVEL: ['in', 'fo'] },
    argv: [
      [nodePath('/usr/bin/awk')],
      ['BEGIN { print ARGV[1] }'],
      ["it's"],
      ['--model=', nodePath('/opt/meshwright/models/tiny')],
      [''],
    ],
  },
  'rehash-model': { tree: exampleModel, files },
  'list-folder': { model: 'tiny', folder: nodePath('/Volumes/disk/tiny'), most: 100 },
  'download-macos': { label: 'macOS Tahoe 26.7-25G229' },
  'install-macos': { label: 'macOS Tahoe 26.7-25G229', user: 'mesh' },
};

/** Every script with arguments. */
export const scriptCalls = Object.entries(scripts).map(([name, args]) => ({ name, args }) as ScriptCall);

/** Every job with arguments; jobs with two kinds of sources appear twice. */
const jobCalls = [
  ...Object.entries(jobs).map(([name, args]) => ({ name, args }) as JobCall),
  {
    name: 'unpack-runtime',
    args: { ...jobs['unpack-runtime'], archive: 'dmg', programs: ['EXO.app/exo'] },
  } satisfies JobCall,
  {
    name: 'unpack-runtime',
    args: { ...jobs['unpack-runtime'], programs: ['bin/llama-server'], binHas: 'llama-server' },
  } satisfies JobCall,
  {
    name: 'fetch-model',
    args: { tree: exampleModel, files, source: { kind: 'folder', folder: nodePath("/Volumes/ana's disk/tiny") } },
  } satisfies JobCall,
];

/** The values that a run writes into its lease; the owner needs quoting. */
export const exampleClaim = (run: string): LeaseClaim => ({
  run,
  owner: "ana@o'hara $(id)",
  verb: 'apply',
  phase: 'observe',
  controller: '0123456789ab',
  pid: 7,
  start: '812',
  since: '2026-11-20T08:00:00Z',
});

export const exampleFence: Fence = { run: 'r-1', token: 7 };

const transactionNote = {
  fence: exampleFence,
  note: { step: "studio-1/it's", verb: 'apply', by: "ana@o'hara", config: 'cafe' },
};

/** A complete root script around a body, as a run sends it. */
export const inScript = (body: string, rootPrefix: string, fence = exampleFence): string =>
  mutatingScript({
    rootPrefix,
    fence,
    note: { step: 'studio-1 power', verb: 'apply', by: "ana@o'hara", config: 'cafe' },
    body,
  });

const claim = {
  run: 'r-1',
  owner: "ana@o'hara",
  verb: 'apply',
  phase: 'change',
  controller: '0123456789ab',
  pid: 7,
  start: '812',
  since: '2026-11-20T08:00:00Z',
};

/** Every other text that is sent to a node, by name. */
function otherTexts(rootPrefix: string): Readonly<Record<string, string>> {
  const path = stagedFile(exampleModel, "it's.bin");
  const seen = { run: 'r-0', token: 6, heartbeat: 4, fields: {} };
  const request = { placement: 'kimi', isOne: false, port: 8_080, path: '/v1/chat', deadlineSeconds: 4, rootPrefix };
  return {
    put: inScript(
      putBody({
        path: serviceFile('kimi'),
        mode: 0o644,
        content: ["<string>it's ", place.ours, { kind: 'login-user' }, '</string>\n'],
        rootPrefix,
        login: 'mesh',
      }),
      rootPrefix,
    ),
    'third attempt': mutatingScript({
      rootPrefix,
      fence: exampleFence,
      note: { step: 'studio-1 power', verb: 'apply', by: 'ana@desk', config: 'cafe' },
      sending: { key: 'c0ffee', attempt: 3 },
      body: 'changed',
    }),
    'launch of a job': inScript(
      launchBody(exampleDigest, { name: 'verify-model', args: jobs['verify-model'] }),
      rootPrefix,
    ),
    'change of the network': inScript(
      transactionBody({
        ...transactionNote,
        call: { name: 'remove-bridge', args: scripts['remove-bridge'] },
        seconds: 20,
      }),
      rootPrefix,
    ),
    'change of an address': inScript(
      transactionBody({
        ...transactionNote,
        call: { name: 'set-link-address', args: scripts['set-link-address'] },
        seconds: 0.5,
      }),
      rootPrefix,
    ),
    'confirmation of a change': inScript(confirmBody(transactionNote), rootPrefix),
    'restoring of a bridge': restoreText(touchedNetwork({ name: 'remove-bridge', args: scripts['remove-bridge'] })),
    'restoring of an address': restoreText(
      touchedNetwork({ name: 'set-link-address', args: scripts['set-link-address'] }),
    ),
    'waiting for a confirmation': rollText,
    'round of the keeper': keepText,
    'stop before a restart': inScript(
      scriptBody({ name: 'stop-rank', args: { ...scripts['stop-rank'], beforeReboot: true } }),
      rootPrefix,
    ),
    'refused update': inScript(refuseOrder(exampleDigest, "it's full"), rootPrefix),
    restart: inScript(restartBody({ intent: 'reboot-1', from: 'AB', to: 'up', delaySeconds: 2 }), rootPrefix),
    "rank of a program of one's own": launchRankScript(
      {
        rootPrefix,
        folder: nodePath('/tmp/meshwright-launch-1'),
        files: { 'hosts.json': "[it's]" },
        environment: { MLX_RANK: '0' },
        words: ['sh', '-c', "it's {rank}"],
      },
      { name: 'mesh', isOfRanks: true },
    ),
    'take a lease': takeLeaseScript(rootPrefix, claim),
    'steal a lease': stealLeaseScript(rootPrefix, claim, seen),
    'renew a lease': renewLeaseScript(rootPrefix, exampleFence, 'verify'),
    'release a lease': releaseLeaseScript(rootPrefix, exampleFence),
    poll: pollJobCommand(exampleDigest, rootPrefix),
    history: historyCommand(rootPrefix, 100),
    'log of a rank': rankLogCommand({ placement: 'kimi', lines: 100, requestPattern: undefined, rootPrefix }),
    'log of a rank without requests': rankLogCommand({ placement: 'kimi', lines: 100, requestPattern, rootPrefix }),
    'parts of logs': rankLogPartsCommand(
      [{ placement: 'kimi', mark: { file: '12', bytes: 34 } }, { placement: 'qwen' }],
      rootPrefix,
    ),
    'bytes of a file': nodeBytesCommand(
      { path: nodePath("/Volumes/ana's disk/a.gguf"), from: 7, to: 131_072 },
      rootPrefix,
    ),
    'report of a rank': rankReportCommand({ placement: 'kimi', lines: 100, requestPattern, rootPrefix }),
    'progress of a rank': rankProgressCommand('kimi', rootPrefix),
    ask: askCommand(request),
    'ask by turns': askCommand({ ...request, isOne: true }),
    'ask with a file': askCommand({ ...request, body: requestFile('kimi') }),
    'install of key and rule': installAccessCommand(rootPrefix, { key: 'ssh-ed25519 AAAA', user: 'mesh' }),
    'rule of sudo': ruleText(rootPrefix, 'mesh'),
    size: stagedSizeCommand(path, rootPrefix),
    prefix: prefixDigestCommand(path, 17, rootPrefix),
    append: appendCommand(path, { offset: 17 }, rootPrefix),
    'append from the first byte': appendCommand(path, { offset: 0, replaces: true }, rootPrefix),
    'whole small file': appendCommand(path, { offset: 0, digests: true }, rootPrefix),
  };
}

/** Every text that is sent to a node, except the observation, by name. */
export const everyText = (rootPrefix: string): readonly (readonly [string, string])[] => [
  ...scriptCalls.map((call) => [`script ${call.name}`, inScript(scriptBody(call), rootPrefix)] as const),
  ...jobCalls.map((call) => [`job ${call.name}`, jobText(call)] as const),
  ...Object.entries(otherTexts(rootPrefix)),
];
