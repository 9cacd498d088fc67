import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { MacAccount, MacAccounts } from '../../../../src/model/account.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../../src/model/desired.ts';
import type { Digest } from '../../../../src/model/digest.ts';
import { identityDigest } from '../../../../src/model/facts/mac.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { subjectText } from '../../../../src/model/subject.ts';
import { placed } from '../../../rack/placements.ts';
import {
  desiredFleet,
  desiredNode,
  healthyFacts,
  meshOfFour,
  type RackChanges,
  receptacles,
} from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';
import { findingsOf, hintsOf, told } from './told.ts';

const only = (values: Partial<FactValues>): RackChanges => ({ values: { 'studio-3': values } });
const system = (desired: Partial<DesiredFleet['system']>): Partial<DesiredFleet> => ({
  system: { ...desiredFleet().system, fileVault: 'any', ...desired },
});

describe("a Mac's identity", () => {
  const nodes = (hardware: Parameters<typeof desiredNode>[1]): Partial<DesiredFleet> => ({
    nodes: desiredFleet().nodes.map((node) => (node.name === 'studio-3' ? desiredNode('studio-3', hardware) : node)),
  });

  it('causes one error if serial, model and memory all differ from the file', () => {
    const desired = nodes({ serial: 'ABC123', model: 'Mac16,9', memoryBytes: 2 ** 38 });
    const [only, ...others] = findingsOf({}, desired);
    expect(others).toEqual([]);
    expect(only?.code).toBe('identity/wrong-mac');
    expect(only?.detail).toContain('SERSTUDIO3, but the file has ABC123');
    expect(only?.detail).toContain('its model is Mac15,14, but the file has Mac16,9');
    expect(only?.detail).toContain('its memory is 512 GB, but the file has 256 GB');
  });

  it('is reported with the matching node in the file', () => {
    const desired = {
      nodes: desiredFleet().nodes.map((node) =>
        desiredNode(node.name, { serial: `SER${node.name.toUpperCase().replace('-', '')}` }),
      ),
    };
    const identity = (name: string): Partial<FactValues> => ({
      identity: { serial: `SER${name}`, hardwareUuid: name },
    });
    const changes = { values: { 'studio-1': identity('STUDIO2'), 'studio-2': identity('STUDIO1') } };
    expect(hintsOf('identity/wrong-mac', changes, desired)[0]).toBe(
      'This is the Mac of studio-2: correct the addresses of studio-1 and studio-2 in the file.',
    );
  });

  it('causes an error with the replace command if it differs from the lock', () => {
    const own = identityDigest({ serial: 'SERSTUDIO3', hardwareUuid: 'UUID-studio-3' });
    const recorded = (identity: Digest) => ({
      nodes: desiredFleet().nodes.map((node) => (node.name === 'studio-3' ? { ...node, identity } : node)),
    });
    expect(told({}, recorded(own))).toEqual([]);
    const other = recorded(identityDigest({ serial: 'SERSTUDIO3', hardwareUuid: 'UUID-of-the-old-one' }));
    expect(told({}, other)).toEqual(['error identity/wrong-mac node studio-3']);
    expect(hintsOf('identity/wrong-mac', {}, other)[0]).toContain(
      'replaced the Mac:\n  meshwright replace studio-3\nOtherwise',
    );
    const unseen = { unknown: { 'studio-3': { identity: 'garbled' as const } } };
    expect(told(unseen, other)).not.toContain('error identity/wrong-mac node studio-3');
  });

  it('is reported with the wrong address if two addresses lead to the same Mac', () => {
    const identity = { serial: 'SERSTUDIO1', hardwareUuid: 'UUID-studio-1' };
    const desired = nodes({ serial: 'SERSTUDIO3' });
    expect(told(only({ identity }), desired)).toEqual(['error identity/same-mac nodes studio-1, studio-3']);
    expect(hintsOf('identity/same-mac', only({ identity }), desired)).toEqual([
      'Correct the address of studio-3 in the file: the hardware belongs to studio-1.',
    ]);
  });

  it('is reported once, without cable findings, if two addresses lead to the same Mac', () => {
    const twin = healthyFacts('studio-1', receptacles('studio-1', 6, meshOfFour));
    expect(told(only(twin))).toEqual(['error identity/same-mac nodes studio-1, studio-3']);
  });
});

describe('power settings', () => {
  const power = (changes: Partial<FactValues['power']>): Partial<FactValues> => ({
    power: { sleepMinutes: 0, diskSleepMinutes: 0, restartAfterPowerLoss: true, ...changes },
  });

  it('are reported with a command for exactly the settings that differ', () => {
    expect(hintsOf('power/settings', only(power({ sleepMinutes: 10 })))).toEqual([
      'Set it with meshwright apply, or on studio-3:\n  sudo pmset -c sleep 0',
    ]);
    expect(hintsOf('power/settings', only(power({ sleepMinutes: 1, restartAfterPowerLoss: false })))).toEqual([
      'Set it with meshwright apply, or on studio-3:\n  sudo pmset -c sleep 0 autorestart 1',
    ]);
  });

  it('are not compared if the file does not set them', () => {
    expect(told(only(power({ sleepMinutes: 10 })), { power: {} })).toEqual([]);
  });

  it('include a notice for a Mac that cannot restart by itself', () => {
    expect(told(only(power({ restartAfterPowerLoss: 'unsupported' })))).toEqual([
      'notice power/no-autorestart node studio-3',
    ]);
  });
});

describe('the wired limit', () => {
  const limit = (megabytes: number): RackChanges => only({ 'wired-limit': { megabytes } });
  const large = { kind: 'bytes', bytes: 480 * 2 ** 30 } as const;

  it('is the memory minus the larger of 8 GiB and 6.25 % if set to auto', () => {
    const desired = system({ wiredLimit: { kind: 'auto' } });
    expect(told(limit(491_520), desired)).toEqual([]);
    expect(hintsOf('memory/wired-limit', limit(0), desired)[0]).toContain('iogpu.wired_limit_mb=491520');
    const small = only({
      hardware: { model: 'Mac16,11', chip: 'Apple M4 Pro', memoryBytes: 2 ** 36 },
      'wired-limit': { megabytes: 57_344 },
    });
    expect(told(small, desired)).toEqual([]);
  });

  it('is 0 if set to default, and in MiB if set to a size', () => {
    const values = (megabytes: number): RackChanges => ({
      values: Object.fromEntries(
        ['studio-1', 'studio-2', 'studio-3', 'studio-4'].map((name) => [name, { 'wired-limit': { megabytes } }]),
      ),
    });
    expect(told(values(0), system({ wiredLimit: { kind: 'default' } }))).toEqual([]);
    expect(told(values(1024), system({ wiredLimit: { kind: 'bytes', bytes: 2 ** 30 } }))).toEqual([]);
  });

  it("causes a notice during the keeper's first round after a start, and an error after that", () => {
    const desired = (keeper: boolean): Partial<DesiredFleet> =>
      system({ wiredLimit: { kind: 'auto' }, ...(keeper && { keeper: 'auto' }) });
    const keptBy = (lastExit: string, isLoaded = true): RackChanges =>
      only({
        'wired-limit': { megabytes: 0 },
        keeper: { files: [], isLoaded, isRefused: false },
        services: [{ label: 'dev.meshwright.keeper', state: 'running', runs: 1, lastExit }],
      });
    const due = keptBy('(never exited)');
    expect(told(due, desired(true))).toEqual(['notice memory/wired-limit node studio-3']);
    const late = [
      told(keptBy('0'), desired(true)),
      told(keptBy('(never exited)', false), desired(true)),
      told(due, desired(false)),
    ];
    for (const one of late) expect(one).toEqual(['error memory/wired-limit node studio-3']);
  });

  it('is not compared while the memory is unknown, unless set to default', () => {
    const changes = { ...limit(0), unknown: { 'studio-3': { hardware: 'timed-out' as const } } };
    for (const wiredLimit of [{ kind: 'auto' }, large] as const) {
      expect(told(changes, system({ wiredLimit }))).toEqual(['warning fact/unknown node studio-3']);
    }
  });

  it("is a mistake in the file if it exceeds the Mac's memory, even if the Mac has this limit", () => {
    const hardware = { model: 'Mac15,14', chip: 'Apple M3 Ultra', memoryBytes: 2 ** 38 };
    for (const megabytes of [0, 491_520]) {
      const changes = only({ hardware, 'wired-limit': { megabytes } });
      expect(told(changes, system({ wiredLimit: large }))).toEqual([
        'error memory/wired-limit-too-large node studio-3',
      ]);
    }
  });
});

describe('FileVault', () => {
  it('is compared only if the file sets a state, even while the disk is being converted', () => {
    expect(told(only({ filevault: 'on' }))).toEqual([]);
    for (const filevault of ['on', 'converting'] as const) {
      expect(told(only({ filevault }), system({ fileVault: 'disabled' }))).toEqual([
        'error filevault/differs node studio-3',
      ]);
    }
  });
});

describe('sudo', () => {
  it('causes a warning if it needs a password or is denied', () => {
    expect(told(only({ sudo: 'needs-password' }))).toEqual(['warning sudo/needs-password node studio-3']);
    expect(told(only({ sudo: 'denied' }))).toEqual(['warning sudo/denied node studio-3']);
  });
});

describe('ranks and gateways', () => {
  const kimi = placed('kimi', ['studio-2', 'studio-3']);
  const publication = { listen: 'node', servedName: 'kimi', clientNames: ['kimi'] } as const;

  it('cause a warning if they run as the ssh user, and so do downloads that run as root', () => {
    const ranks = '_meshrank';
    const gateway = '_meshgate';
    const warned = (
      accounts: DesiredFleet['system']['accounts'],
      placement: Partial<DesiredPlacement> = { publication },
      models: DesiredFleet['models'] = [],
    ) => {
      const system = { ...desiredFleet().system, accounts };
      return findingsOf({}, { placements: [{ ...kimi, ...placement }], models, system })
        .filter(({ code }) => code === 'accounts/login')
        .map(({ subject, detail }) => `${subjectText(subject)}: ${detail}`);
    };
    expect(warned({})).toEqual([
      'node studio-2: The gateway of kimi runs as the ssh user, who can become root (system.accounts.gateway: login).',
      'nodes studio-2, studio-3: The ranks of kimi run as the ssh user, who can become root (system.accounts.ranks: login).',
    ]);
    expect(warned({ ranks }, {})).toEqual([]);
    expect(warned({ gateway }, { state: 'stopped' })).toEqual([]);
    expect(warned({ ranks, gateway })).toEqual([]);
    const models = [{ name: 'kimi-k2', source: { kind: 'url', base: 'https://models.lan/' }, files: [] }] as const;
    const downloading = {
      state: 'stopped',
      fallback: { nodes: [nodeName('studio-1')], contextTokens: 4_096 },
    } as const;
    expect(warned({ ranks, gateway }, downloading, models)).toEqual([
      'nodes studio-1, studio-2, studio-3: Downloads of kimi-k2 run as root (system.accounts.transfers: login).',
    ]);
    expect(warned({ ranks, gateway, transfers: '_meshmove' }, downloading, models)).toEqual([]);
  });
});

describe('accounts for ranks and gateways', () => {
  const person = (name: string, more: Partial<MacAccount> = {}): MacAccount => ({
    name,
    uid: 502,
    gid: 502,
    generatedUid: '5C3C7B0E-6E0D-4C0B-9C1B-1B6B6F6C2A11',
    hasPassword: true,
    groups: [name, 'everyone', 'localaccounts'],
    ...more,
  });
  const own = person('_meshrank', {
    uid: 450,
    gid: 450,
    home: '/var/empty',
    shell: '/usr/bin/false',
    hasPassword: false,
  });
  const made = { name: '_meshrank', uid: 450, generatedUid: own.generatedUid ?? '' };
  const accountFindings = (ranks: string, seen: Partial<MacAccounts>, more: Partial<FactValues> = {}) =>
    told(only({ accounts: { accounts: [], made: [], begun: [], checked: [], ...seen }, ...more }), {
      system: { ...desiredFleet().system, accounts: { ranks } },
    }).filter((line) => line.includes('studio-3'));

  it('are accepted as created, as kept by macOS after an uninstall, or if meshwright can create them', () => {
    expect(accountFindings('_meshrank', {})).toEqual([]);
    expect(accountFindings('_meshrank', { accounts: [{ ...own, uid: 7 }], begun: ['_meshrank'] })).toEqual([]);
    expect(accountFindings('_meshrank', { accounts: [own], made: [made] })).toEqual([]);
    expect(accountFindings('_meshrank', { accounts: [own] })).toEqual([]);
    expect(accountFindings('ana', { accounts: [person('ana')] })).toEqual([]);
  });

  it('are refused if they differ from the created ones', () => {
    const other = ['error accounts/other node studio-3'];
    for (const changed of [
      { uid: 451 },
      { uid: 550, gid: 550 },
      { gid: 20 },
      { home: '/Users/x' },
      { shell: '/bin/sh' },
      { hasPassword: true },
    ]) {
      const accounts = [{ ...own, ...changed }];
      expect(accountFindings('_meshrank', { accounts, made: [made] })).toEqual(other);
      expect(accountFindings('_meshrank', { accounts })).toEqual(other);
    }
    for (const changed of [{ uid: 451, gid: 451 }, { generatedUid: '5C3C7B0E-6E0D-4C0B-9C1B-1B6B6F6C2A12' }]) {
      expect(accountFindings('_meshrank', { accounts: [{ ...own, ...changed }], made: [made] })).toEqual(other);
    }
  });

  it('are refused if they can become root, share their group, do not exist, or are the ssh user', () => {
    const root = ['error accounts/can-become-root node studio-3'];
    for (const group of ['admin', 'wheel']) {
      expect(accountFindings('ana', { accounts: [person('ana', { groups: [group] })] })).toEqual(root);
      expect(accountFindings('_meshrank', { accounts: [{ ...own, groups: [group] }], made: [made] })).toEqual(root);
    }
    expect(accountFindings('ana', { accounts: [person('ana', { uid: 0 })] })).toEqual(root);
    expect(accountFindings('ana', { accounts: [person('ana')] }, { login: 'ana' })).toEqual(root);
    expect(accountFindings('ana', { accounts: [person('ana', { gid: 20 })] })).toEqual([
      'error accounts/shared-group node studio-3',
    ]);
    expect(accountFindings('ana', {})).toEqual(['error accounts/absent node studio-3']);
  });
});

describe("a node's clock", () => {
  const clock = (offsetMs: number, uncertaintyMs: number): RackChanges => only({ clock: { offsetMs, uncertaintyMs } });

  it("may be off by five seconds plus the observation's uncertainty", () => {
    expect(told(clock(6_000, 1_000))).toEqual([]);
    expect(told(clock(-6_001, 1_000))).toEqual(['warning clock/offset node studio-3']);
  });

  it('is reported with the size and direction of its offset', () => {
    const details = [-7_200_000, 7_200_000].map((offsetMs) => findingsOf(clock(offsetMs, 10))[0]?.detail);
    expect(details).toEqual(['behind', 'ahead of'].map((side) => `This node's clock is 2 h ${side} this computer.`));
  });
});

describe("this computer's clock", () => {
  const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
  const offsets = (...each: readonly number[]): RackChanges => ({
    values: Object.fromEntries(
      names.map((name, index) => [name, { clock: { offsetMs: each[index] ?? 0, uncertaintyMs: 50 } }]),
    ),
  });

  it('is reported as wrong, behind or ahead, if all nodes agree with each other', () => {
    for (const changes of [offsets(60_000, 60_080, 59_980, 60_010), offsets(-60_000, -60_080, -59_980, -60_010)]) {
      expect(told(changes)).toEqual([`warning clock/this-computer nodes ${names.join(', ')}`]);
    }
  });

  it('is not blamed if one node disagrees or only one node was observed', () => {
    expect(told(offsets(60_000, 60_000, 60_000, 80_000))).toEqual(
      names.map((name) => `warning clock/offset node ${name}`),
    );
    const first = (count: number) => ({
      ...offsets(60_000, 60_000),
      unknown: Object.fromEntries(names.slice(count).map((name) => [name, { clock: 'failed' as const }])),
    });
    expect(told(first(1))).toContain('warning clock/offset node studio-1');
    expect(told(first(2))).toContain('warning clock/this-computer nodes studio-1, studio-2');
  });
});

describe('disk space', () => {
  it('is reported if less than a tenth is free', () => {
    const withFree = (freeBytes: number) => told(only({ 'disk-space': { totalBytes: 1e12, freeBytes } }));
    expect([withFree(1e11), withFree(99e9).length]).toEqual([[], 1]);
  });
});

onOnePage('rules-node');

const digest = 'ab'.repeat(32) as Digest;
const withKimi = {
  models: [{ name: 'kimi', digest, files: [], source: { kind: 'controller', folder: '/kimi' } }],
} as const;

describe('a model with wrong contents', () => {
  const damaged = {
    kind: 'model',
    name: 'kimi',
    digest: digest.slice(0, 16),
    isCurrent: false,
    state: 'changed',
  } as const;
  const wrongFiles = ['a.bin', 'b.bin', 'c.bin'];

  it('causes an error that names the wrong file, but only if the model version is in the cluster file', () => {
    const trees = [
      { ...damaged, wrongFiles, foundAtEpochSeconds: 1_790_000_000 },
      { ...damaged, name: 'old', wrongFiles },
      { ...damaged, digest: 'f'.repeat(16), wrongFiles },
    ];
    expect(told(only({ trees }), withKimi)).toEqual(['error model/damaged node studio-3']);
    expect(told(only({ trees: [damaged] }), withKimi)).toEqual([]);
  });
});

describe('a model that a job prepares', () => {
  const fields = { name: 'fetch-model', tree: `model kimi ${digest.slice(0, 16)}`, state: 'running' };
  const shown = (more: Readonly<Record<string, string>>): readonly (string | undefined)[] =>
    findingsOf(only({ jobs: [{ key: 'k', fields: { ...fields, ...more } }] }), withKimi).map(({ detail }) => detail);

  it("causes a notice that shows the bytes so far and the end of the job's wait", () => {
    expect(shown({})).toEqual(['A job on studio-3 prepares kimi.']);
    expect(shown({ done: '412000000000', total: '735000000000', until: '22:00' })).toEqual([
      'A job on studio-3 prepares kimi: it has 412.0 GB of 735.0 GB, and waits until 22:00 (downloads.window).',
    ]);
    expect([shown({ state: 'ended' }), shown({ name: 'serve-model' }), shown({ tree: 'x' })].flat()).toEqual([]);
  });
});
