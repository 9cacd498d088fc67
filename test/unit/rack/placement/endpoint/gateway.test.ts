import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../../../src/engine/plan/plan.ts';
import { digest } from '../../../../../src/model/digest.ts';
import type { LaunchdService } from '../../../../../src/model/facts/daemons.ts';
import type { InstalledFile } from '../../../../../src/model/facts/fact-values.ts';
import { textDigest } from '../../../../../src/node/put-file.ts';
import { planLines, planOf, type ResourceFile } from '../../../engine/plan/resource-file.ts';
import { onOnePage } from '../../../one-page.ts';

const sha = 'aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccdddddddddddddddd';
const label = 'dev.meshwright.gateway.8080';

const placementOf = (name: string, publication: object = {}): object => ({
  name,
  model: 'none',
  runtime: 'none',
  nodes: ['studio-1'],
  transport: 'tcp',
  contextTokens: 4_096,
  parallel: 1,
  args: [],
  env: {},
  endpointPort: 8_080,
  firstTokenMs: 30_000,
  state: 'serving',
  publication: { servedName: name, ...publication },
});

const caseOf = (placements: readonly object[], seen: object = {}): ResourceFile => ({
  title: '',
  goal: { kind: 'converge', only: ['gateway'] },
  file: {
    gateway: {
      name: 'gateway',
      archive: '/node.tar.gz',
      program: 'node/bin/node',
      extras: [],
      sha256: sha,
      digest: sha,
    },
    placements,
  },
  seen: { 'studio-1': { ...seen } },
});

/** The files that a plan writes, as the next observation reads them. */
const filesOf = (plan: Plan): readonly InstalledFile[] =>
  plan.steps.flatMap(({ act }) =>
    act.kind === 'put' ? [{ path: act.path.path, digest: textDigest(act.content), state: 'intact' } as const] : [],
  );

const running: LaunchdService = { label, state: 'running', pid: 7 };

describe('a gateway with intact files', () => {
  const placements = [placementOf('kimi'), placementOf('qwen')];
  const files = filesOf(planOf(caseOf(placements)));
  const seenWith = (service: LaunchdService, kept = files) =>
    planLines(planOf(caseOf(placements, { services: [service], files: kept })));

  it('is in place only if it answers on its port for all its placements', () => {
    expect(seenWith({ ...running, behind: ['kimi', 'qwen'] })).toMatchObject({ changes: [], waiting: [] });
    for (const behind of [[], ['kimi']]) {
      const { changes, steps } = seenWith({ ...running, behind });
      expect(changes).toEqual([expect.stringMatching(/^studio-1 gateway\/8080: not listening -> version/)]);
      expect(steps).toEqual([expect.stringContaining('"reload":true,"isTaken":false')]);
    }
  });

  it('is unknown, not stopped, if launchd reports no known state', () => {
    const { changes, waiting, steps } = seenWith({ label, state: 'unknown', behind: [] });
    expect([changes, steps]).toEqual([[], []]);
    expect(waiting).toContainEqual(expect.stringContaining(`an unreadable state of ${label}`));
  });

  it('is shown with the cause of its exit, if the cause is known', () => {
    const stopped = (lastExit: string) => seenWith({ label, state: 'waiting', lastExit }).changes;
    expect(stopped('1')).toEqual([expect.stringContaining('gateway/8080: not running -> version')]);
    expect(stopped('OS_REASON_CODESIGNING')).toEqual([
      expect.stringContaining('not running: was ended by macOS (OS_REASON_CODESIGNING: the code signature'),
    ]);
  });

  it('is reloaded when its process is older than its files', () => {
    const [change] = planLines(planOf(caseOf(placements))).changes;
    const own = / -> version ([0-9a-f]{16})/.exec(change ?? '')?.[1];
    const service = { ...running, behind: ['kimi', 'qwen'] };
    const saying = (version?: string) => {
      const gateways = [{ kind: 'answered', port: 8_080, strangers: 0, endpoints: [], ...(version && { version }) }];
      return planLines(planOf(caseOf(placements, { services: [service], files, gateways })));
    };
    expect(saying(own)).toMatchObject({ changes: [], steps: [] });
    const withMore = seenWith({ ...service, behind: ['kimi', 'old', 'qwen'] });
    for (const { changes, steps } of [saying('0123456789abcdef'), saying(), withMore]) {
      expect(changes).toEqual([expect.stringMatching(/^studio-1 gateway\/8080: different from the file -> version/)]);
      expect(steps).toContainEqual(expect.stringContaining('"reload":true,"isTaken":false'));
    }
  });

  it('is removed from a port where only its files are left', () => {
    const path = '/Library/Application Support/meshwright/gateway/9090/config.json';
    const left: InstalledFile = { path, digest: 'ab', state: 'intact' };
    const changesWith = (state: InstalledFile['state']) =>
      seenWith({ ...running, behind: ['kimi', 'qwen'] }, [...files, { ...left, state }]).changes;
    expect(changesWith('intact')).toEqual(['studio-1 gateway/9090: left over -> removed']);
    expect(changesWith('missing')).toEqual([]);
  });

  it('tells clients where the endpoint of a moved placement is now', () => {
    const services = [{ ...running, label: 'dev.meshwright.gateway.9000', behind: ['gone', 'kimi', 'qwen'] }];
    const unpublished = { ...placementOf('qwen'), publication: undefined };
    const { steps } = planOf(caseOf([placementOf('kimi'), unpublished], { services }));
    expect(steps.flatMap(({ act, id }) => (id.endsWith('/close') && act.kind === 'put' ? act.content : []))).toEqual([
      'it is no longer published here.\n',
      'its endpoint has moved to port 8080 of studio-1.\n',
      'it is no longer published here.\n',
    ]);
  });

  it('is unknown while it could not be asked', () => {
    const { changes, waiting } = seenWith(running);
    expect(changes).toEqual([]);
    expect(waiting).toEqual([expect.stringContaining('whether the gateway listens on port 8080')]);
  });

  it('interrupts all its placements when it is reloaded, and none when it is first loaded', () => {
    const first = planOf(caseOf(placements));
    expect(first.effects).toEqual([]);
    const again = planOf(caseOf(placements, { services: [{ ...running, behind: ['kimi', 'qwen'] }], files: [] }));
    expect(again.effects).toMatchObject([{ kind: 'interrupt', nodes: ['studio-1'], placements: ['kimi', 'qwen'] }]);
    const unheard = planOf(caseOf(placements, { services: [{ ...running, behind: [] }], files }));
    expect(unheard.effects).toEqual([]);
    const removed = planOf(caseOf([], { services: [{ ...running, behind: ['kimi', 'old'] }], files }));
    expect(removed.effects).toMatchObject([{ kind: 'interrupt', nodes: ['studio-1'], placements: ['kimi', 'old'] }]);
  });
});

describe('gateway key files', () => {
  const hash = (letter: string) => digest(letter.repeat(64));
  const known = (...letters: readonly string[]) => ({ kind: 'known', value: letters.map(hash) });
  const source = { kind: 'env', name: 'A' };
  const read = { apiKeys: [source], keyHashes: known('e') };
  const unread = {
    apiKeys: [source, { kind: 'env', name: 'B' }],
    keyHashes: { kind: 'unknown', reason: 'not-asked', detail: 'B is not set.' },
  };
  const folder = '/Library/Application Support/meshwright/gateway/8080/keys';
  const keyPuts = (plan: Plan) =>
    plan.steps.flatMap(({ act }) =>
      act.kind === 'put' && act.path.path.startsWith(folder)
        ? [[act.path.path.slice(folder.length + 1), act.content.join('')]]
        : [],
    );

  it('wait only for the placement whose key cannot be read', () => {
    for (const state of ['intact', 'changed', 'missing']) {
      const files = ['kimi', 'qwen'].map((name) => ({ path: `${folder}/${name}`, digest: 'f'.repeat(64), state }));
      for (const seen of [{}, { files }]) {
        const plan = planOf(caseOf([placementOf('kimi', read), placementOf('qwen', unread)], seen));
        const { changes, waiting } = planLines(plan);
        expect(changes).toContainEqual(
          expect.stringMatching(/^studio-1 gateway\/8080\/kimi\/keys: .* -> the file's keys$/),
        );
        expect(waiting).toEqual([expect.stringMatching(/gateway\/8080\/qwen\/keys.*B is not set/)]);
        expect(keyPuts(plan)).toEqual([['kimi', expect.stringContaining('e'.repeat(64))]]);
      }
    }
  });

  it('contain all listed keys, regardless of their order in the file', () => {
    const put = (...letters: readonly string[]) =>
      keyPuts(planOf(caseOf([placementOf('kimi', { apiKeys: [source, source], keyHashes: known(...letters) })])));
    expect(put('e', 'a')).toEqual(put('a', 'e'));
    expect(put('e', 'a')[0]?.[1]).toContain('a'.repeat(64));
    expect(put('e', 'a')[0]?.[1]).toContain('e'.repeat(64));
    expect(put('e')).not.toEqual(put('e', 'a'));
  });

  it('are removed with placements that left the gateway', () => {
    const files = [{ path: `${folder}/old`, digest: 'f'.repeat(64), state: 'intact' }];
    const { steps } = planLines(planOf(caseOf([placementOf('kimi', read)], { files })));
    expect(steps).toContainEqual(expect.stringContaining('"left":["old"]'));
  });
});

onOnePage('gateway');
