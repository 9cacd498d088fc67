import { describe, expect, it } from 'vitest';
import { planDocument } from '../../../../src/cli/plan/plan-document.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { forecastTransfers, type NodeForecast } from '../../../../src/engine/plan/forecast.ts';
import { makePlan } from '../../../../src/engine/plan/make-plan.ts';
import { viewOf } from '../../../../src/engine/plan/view.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { shortDigest } from '../../../../src/model/digest.ts';
import type { ObservedTree } from '../../../../src/model/facts/fact-values.ts';
import { given } from '../../../../src/model/given.ts';
import { known, unknown } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { DownloadHours } from '../../../../src/model/node-script.ts';
import { needsToken } from '../../../../src/model/step.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import { jobKey } from '../../../../src/rack/artifacts/trees/tree-steps.ts';
import { transferLines } from '../../../../src/report/plan/transfer-lines.ts';
import { schemaCheck } from '../../../cli/schema-check.ts';
import { plainPage } from '../../../rack/page.ts';
import { meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { anyDigest } from '../../../rack/plans.ts';

/** A fleet whose model has 100 GB on a server. */
function fleetFrom(base: string, more: Pick<Rack, 'secret' | 'access'> = {}): DesiredFleet {
  const fleet = meshFleet();
  const files = [{ path: 'weights', sha256: anyDigest, sizeBytes: 100e9 }];
  const models = fleet.models.map((one) => ({
    ...one,
    digest: anyDigest,
    files,
    repository: 'acme/tiny',
    source: base.startsWith('/')
      ? { kind: 'controller' as const, folder: base }
      : { kind: 'url' as const, base, ...more },
  }));
  return { ...fleet, models };
}

/** The job that gets the model, which has ended. */
const endedJob = (exit: string) => ({
  key: jobKey({ kind: 'model', name: 'tiny', digest: anyDigest }, 'fetch-model'),
  fields: { state: 'ended', exit },
});

/** A rack: the node on which exo has the model, whether the placement runs, and whether the source needs a token. */
interface Rack {
  readonly maxBytesPerSecond?: number;
  readonly hours?: DownloadHours;
  readonly exoOn?: string;
  /** A node that restarted during an exchange of the model. */
  readonly restarted?: string;
  /** A node on which the last exchange of the model failed. */
  readonly failed?: string | undefined;
  /** A node on which `models pull --detach` has prepared the model. */
  readonly prepared?: string;
  readonly isServing?: true;
  /** True if no node has said which placements it runs. */
  readonly isUnseen?: true;
  readonly secret?: true;
  readonly access?: 'public';
  /** The time at which every link was measured as dead. */
  readonly deadAt?: string;
}

/** The plan and its forecast; by node, the state of the model there. */
function forecast(
  base: string,
  states: Readonly<Record<string, ObservedTree['state']>> = {},
  { exoOn, failed, prepared, restarted, isServing, isUnseen, maxBytesPerSecond, hours, deadAt, ...source }: Rack = {},
) {
  const downloads = { downloads: given({ maxBytesPerSecond, hours }) };
  const fleet = fleetFrom(base, source);
  const { links } = fleet.thunderbolt;
  const dead = deadAt === undefined ? [] : links.map(({ index }) => [index, { at: deadAt, carries: 'nothing' }]);
  const thunderbolt = { ...fleet.thunderbolt, measured: Object.fromEntries(dead) };
  const desired = { ...fleet, ...downloads, thunderbolt };
  const [model] = desired.models;
  const state = isServing ? 'joined' : 'absent';
  const observation = observeMesh(desired, { ranks: threeRanks([state, state, state]) });
  const treeOn = (name: string): readonly ObservedTree[] => {
    const state = states[name];
    if (state === undefined || model === undefined) return [];
    const whole = state === 'intact' ? { whole: anyDigest } : state === 'changed' ? { wrongFiles: ['weights'] } : {};
    return [{ kind: 'model', name: model.name, digest: shortDigest(anyDigest), isCurrent: false, state, ...whole }];
  };
  const tree = `model ${model?.name} ${shortDigest(anyDigest)}`;
  const fields = { name: 'fetch-model', tree, state: 'gone', exchanging: '0 F2B1C3D4-0000-4000-8000-000000000001' };
  const crashed = {
    jobs: known([{ key: anyDigest, fields }]),
    'boot-session': known({ uuid: 'F2B1C3D4-0000-4000-8000-000000000002', bootedAtEpochSeconds: 1 }),
  };
  const nodes = Object.fromEntries(
    Object.entries(observation.nodes).map(([name, node]) => {
      const free = known({ totalBytes: 8e12, freeBytes: 2e12 });
      const stored = [{ path: 'weights', sizeBytes: 100e9, isOnVolume: true }];
      const folder = { model: model?.name ?? '', layout: 'exo' as const, folder: '/Users/ana/tiny', files: stored };
      const copies = known({ folders: name === exoOn ? [folder] : [], unreadable: [] });
      const own = {
        trees: known(treeOn(name)),
        'disk-space': free,
        'model-copies': copies,
        jobs: known([...(name === failed ? [endedJob('1')] : []), ...(name === prepared ? [endedJob('0')] : [])]),
        ...(name === restarted ? crashed : {}),
        ...(isUnseen ? { placements: unknown('truncated', 'the answer ended early') } : {}),
      };
      return [name, { ...node, facts: { ...node.facts, ...own } }];
    }),
  );
  const seen = { ...observation, nodes };
  const targets = desired.nodes.map(({ name }) => name);
  const plan = makePlan({ goal: { kind: 'converge' }, desired, observation: seen, targets });
  return { plan, transfers: forecastTransfers(plan.steps, viewOf({ desired, observation: seen, targets })) };
}

const lines = (all: readonly NodeForecast[], columns = 80) => transferLines(all, plainPage({ columns }));

describe("a plan's transfers and disk space", () => {
  it('are shown per node and in total, with what is already there', () => {
    const { transfers } = forecast('https://huggingface.co/x/', { 'studio-2': 'staged', 'studio-3': 'intact' });
    expect(transfers.map(({ node, uplinkBytes, presentBytes }) => [node, uplinkBytes, presentBytes])).toEqual([
      ['studio-1', 0, 0],
      ['studio-2', 0, 0],
      ['studio-3', 0, 100e9],
    ]);
    expect(lines(transfers)).toEqual([
      'Transfers',
      '  studio-1  1 kB from this computer, 100 GB from other Macs over the cables,',
      '            needs 110 GB of disk (2 TB free)',
      '  studio-2  1 kB from this computer, 100 GB from other Macs over the cables,',
      '            part of it already there, needs 110 GB of disk (2 TB free)',
      '  studio-3  1 kB from this computer, 100 GB of models already there',
      '  total     3 kB from this computer, 200 GB from other Macs over the cables',
    ]);
    for (const line of lines(transfers, 40)) expect(line.length).toBeLessThanOrEqual(40);
  });

  it('count only one chunk of a file with wrong contents if another Mac has the right chunk', () => {
    const { plan, transfers } = forecast('https://huggingface.co/x/', { 'studio-1': 'changed', 'studio-3': 'intact' });
    expect(lines(transfers.slice(0, 1))).toEqual([
      'Transfers',
      '  studio-1  1 kB from this computer, at least 67 MB from other Macs over the',
      '            cables, needs 74 MB of disk (2 TB free)',
    ]);
    const document: unknown = JSON.parse(planDocument(plan, { isSimulated: false, additions: [], transfers }));
    expect(schemaCheck('plan')(document)).toEqual([]);
  });

  it('download a whole file with wrong contents if no other Mac has the model', () => {
    const { transfers } = forecast('https://huggingface.co/x/', { 'studio-1': 'changed' });
    expect(transfers[0]).toMatchObject({ uplinkBytes: 100e9, cableBytes: 0 });
  });

  it.each([
    ['the cables', {}, 100e9, undefined],
    ['Ethernet if a placement runs', { isServing: true }, 0, 100e9],
  ] as const)('send a model from this computer to one Mac, and from there over %s', (_, rack, cableBytes, sshBytes) => {
    const { plan, transfers } = forecast('/models/tiny', {}, rack);
    const other = { controllerBytes: 1_000, cableBytes, ...given({ sshBytes }) };
    expect(transfers).toMatchObject([{ controllerBytes: 100e9 + 1_000, cableBytes: 0 }, other, other]);
    const fetches = plan.steps.filter(({ act }) => act.kind === 'job' && act.name === 'fetch-model');
    expect(fetches.map(({ needs }) => needs.at(-1))).toEqual([
      'studio-1/model/tiny/serve',
      'studio-1/model/tiny/serve',
    ]);
  });

  it('send the model directly to a Mac that could not fetch it from its peers', () => {
    const sent = (failed?: string) => {
      const { transfers } = forecast('/models/tiny', { 'studio-2': 'intact', 'studio-3': 'intact' }, { failed });
      return transfers[0]?.controllerBytes;
    };
    expect([sent(), sent('studio-1')]).toEqual([1_000, 100e9 + 1_000]);
  });

  it('are omitted for a Mac whose copy is already prepared, and no Mac waits for that copy', () => {
    const states = { 'studio-1': 'intact', 'studio-2': 'intact', 'studio-3': 'staged' } as const;
    const { plan, transfers } = forecast('https://huggingface.co/x/', states, { prepared: 'studio-3' });
    const ofModel = plan.steps.map(({ id }) => id).filter((id) => id.includes('/model/tiny'));
    const steps = ['prepare', 'fetch', 'publish', 'gate'].map((name) => `studio-3/model/tiny/${name}`);
    expect(ofModel).toEqual(steps);
    expect(transfers.at(-1)).toMatchObject({ node: 'studio-3', uplinkBytes: 0, cableBytes: 0 });
  });

  it('do not use the cables of a running placement, and the plan says so', () => {
    const { plan, transfers } = forecast('https://huggingface.co/x/', { 'studio-3': 'intact' }, { isServing: true });
    expect(transfers.map(({ uplinkBytes, cableBytes, sshBytes }) => [uplinkBytes, cableBytes, sshBytes])).toEqual([
      [0, 0, 100e9],
      [0, 0, 100e9],
      [0, 0, undefined],
    ]);
    const notices = plan.diagnostics.filter(({ code }) => code === 'model/cables-in-use');
    const detail = 'A placement is running on its cables to the other Macs, so tiny does not use them.';
    expect(notices).toMatchObject([{ detail }, { detail }]);
  });

  it("do not use cables if a Mac's ranks are unknown, and do not claim that the ranks run", () => {
    const { plan } = forecast('https://huggingface.co/x/', { 'studio-3': 'intact' }, { isUnseen: true });
    const notices = plan.diagnostics.filter(({ code }) => code === 'model/cables-in-use');
    const detail = 'A placement may be running on its cables to the other Macs, so tiny does not use them.';
    expect(notices).toMatchObject([{ detail }, { detail }]);
  });

  it('do not use cables that were measured as dead, and the plan says so if a model is missing', () => {
    const noticesOf = (state: ObservedTree['state']): readonly string[] => {
      const states = { 'studio-1': state, 'studio-2': state, 'studio-3': 'intact' } as const;
      const { plan, transfers } = forecast('https://huggingface.co/x/', states, { deadAt: '2026-11-27T10:00:00Z' });
      expect(transfers.every(({ cableBytes }) => cableBytes === 0)).toBe(true);
      const notices = plan.diagnostics.filter(({ code }) => code === 'cables/measured-dead');
      return notices.map(({ detail }) => plainText(detail));
    };
    expect(noticesOf('staged')).toContain(
      'On 2026-11-27, neither RDMA nor TCP got through, so models do not use this cable.',
    );
    expect(noticesOf('intact')).toEqual([]);
  });

  it('use SSH between Macs for a model that needs a token, which only the Mac that downloads gets', () => {
    const { plan, transfers } = forecast('https://huggingface.co/x/', {}, { secret: true });
    expect(lines(transfers).slice(1)).toEqual([
      '  studio-1    100 GB over the uplink, 1 kB from this computer, needs 110 GB of',
      '              disk (2 TB free)',
      '  studio-2,3  1 kB from this computer, 100 GB from other Macs over SSH, needs',
      '              110 GB of disk (2 TB free)',
      '  total       100 GB over the uplink, 3 kB from this computer, 200 GB from other',
      '              Macs over SSH',
      '  time        at least 13 min if the uplink brings 1 Gbit/s',
    ]);
    expect(plan.steps.filter(({ act }) => needsToken(act)).map(({ node }) => node)).toEqual(['studio-1']);
    const document: unknown = JSON.parse(planDocument(plan, { isSimulated: false, additions: [], transfers }));
    expect(schemaCheck('plan')(document)).toEqual([]);
  });

  it('count what a node clones from other software, which needs neither the uplink nor disk space', () => {
    const { plan, transfers } = forecast('https://huggingface.co/x/', { 'studio-2': 'intact' }, { exoOn: 'studio-1' });
    expect(transfers[0]).toMatchObject({ uplinkBytes: 0, adoptedBytes: 100e9, neededBytes: 0 });
    expect(lines(transfers).slice(1, 2)).toEqual([
      '  studio-1  1 kB from this computer, 100 GB from copies already there',
    ]);
    const document: unknown = JSON.parse(planDocument(plan, { isSimulated: false, additions: [], transfers }));
    expect(schemaCheck('plan')(document)).toEqual([]);
  });

  it('distinguish the uplink from the local network', () => {
    const [first] = forecast('https://mirror.lan/x/').transfers;
    expect(first).toMatchObject({
      uplinkBytes: 0,
      lanBytes: 100e9,
      neededBytes: Math.ceil(100e9 * 1.1),
      freeBytes: 2e12,
    });
  });

  it('show the time that the slowest connection needs, unless that time is short', () => {
    const { transfers } = forecast('https://mirror.lan/x/');
    expect(lines(transfers).at(-1)).toBe('  time        at least 13 min if the LAN brings 1 Gbit/s');
    const small = transfers.map((one) => ({ ...one, lanBytes: 1e9, cableBytes: 0 }));
    expect(lines(small).at(-1)).toBe('  total        3 GB over the LAN, 3 kB from this computer');
    const cabled = small.map((one) => ({ ...one, cableBytes: 735e9 }));
    expect(lines(cabled).at(-1)).toBe('  time         at most 6.1 min if each cable brings 16 Gbit/s');
    const sent = small.map((one) => ({ ...one, controllerBytes: 9e9 }));
    expect(lines(sent).at(-1)).toBe("  time         at least 3.6 min if this computer's connection brings 1 Gbit/s");
  });

  it("estimate the time from an earlier run's rate, or from a lower rate in the file", () => {
    const at = '2026-11-24T10:00:00Z';
    const rates = { uplink: { bytesPerSecond: 57.3e6, at }, cables: { bytesPerSecond: 4.12e9, at } };
    const timeIn = (change: object, limit = {}): string | undefined => {
      const { transfers } = forecast('https://huggingface.co/x/', {}, limit);
      return lines(
        transfers.map((one) => ({ ...one, rates, ...change })),
        100,
      ).at(-1);
    };
    expect(timeIn({})).toBe('  time        about 29 min if the uplink brings 458 Mbit/s, as on 2026-11-24');
    const cabled = { uplinkBytes: 0, cableBytes: 735e9 };
    expect(timeIn(cabled)).toMatch(/about 3 min if each Mac's cables bring 33 Gbit\/s, as on 2026-11-24$/);
    const oneCable = { bytesPerSecond: 3.05e9, at };
    expect(timeIn({ ...cabled, rates: { oneCable } })).toMatch(
      /at most 4 min if each cable brings 24.4 Gbit\/s, as on 2026-11-24$/,
    );
    expect(timeIn({ isPartlyStaged: true })).toContain('at most 29 min');
    expect(timeIn({}, { maxBytesPerSecond: 5e6 })).toMatch(/at least 5.6 h if the uplink brings 40 Mbit\/s \(/);
    expect(timeIn({}, { maxBytesPerSecond: 75e6 })).toContain('458 Mbit/s, as on 2026-11-24');
  });

  it('use the cables for a public model, and give the token only to the Mac that downloads', () => {
    const { plan, transfers } = forecast('https://huggingface.co/x/', {}, { secret: true, access: 'public' });
    expect(transfers.map(({ uplinkBytes, cableBytes }) => [uplinkBytes, cableBytes])).toEqual([
      [100e9, 0],
      [0, 100e9],
      [0, 100e9],
    ]);
    expect(plan.steps.filter(({ act }) => needsToken(act)).map(({ node }) => node)).toEqual(['studio-1']);
  });

  it('split the maximum rate in the file among the nodes that download', () => {
    const limit = { maxBytesPerSecond: 75e6 };
    const one = forecast('https://huggingface.co/x/', {}, limit);
    expect(lines(one.transfers, 100).at(-1)).toMatch(/ 22 min if the uplink brings 600 Mbit\/s \(downloads.maxRate\)$/);
    const rates = one.plan.steps.flatMap(({ act }) =>
      act.kind === 'job' && act.name === 'fetch-model' && act.args.source.kind === 'url'
        ? [act.args.source.maxBytesPerSecond]
        : [],
    );
    // Only one node downloads, and the other two get the model from it.
    expect(rates).toEqual([75e6, 75e6, 75e6]);
  });

  it('name a Mac that restarted during the exchange, and the rate of its cables', () => {
    const { plan } = forecast('https://huggingface.co/x/', {}, { restarted: 'studio-2' });
    const found = plan.diagnostics.filter(({ code }) => code === 'model/exchange-slowed');
    expect(found.map(({ subject }) => subject)).toEqual([nodeSubject(nodeName('studio-2'))]);
    expect(found[0]?.detail).toContain('at most 250 MB/s');
    // Over Ethernet, there is nothing to slow down.
    const uncabled = forecast('https://huggingface.co/x/', {}, { restarted: 'studio-2', isServing: true }).plan;
    expect(uncabled.diagnostics.map(({ code }) => code)).not.toContain('model/exchange-slowed');
  });

  it('show the download hours in the file, and on how many days the download then runs', () => {
    const hours = { begin: '23:30', end: '00:00' };
    const { plan, transfers } = forecast('https://huggingface.co/x/', {}, { hours, maxBytesPerSecond: 5e6 });
    expect(lines(transfers, 200).slice(-2)).toEqual([
      "  hours       downloads only from 23:30 to 00:00, by each Mac's own clock (downloads.window)",
      '  time        at least 5.6 h if the uplink brings 40 Mbit/s (downloads.maxRate), on at least 12 days',
    ]);
    const hoursIn = plan.steps.flatMap(({ act }) =>
      act.kind === 'job' && act.name === 'fetch-model' && act.args.source.kind === 'url' ? [act.args.source.hours] : [],
    );
    expect(hoursIn).toEqual([hours, hours, hours]);
  });

  it('are in the JSON document, but are ignored when a saved plan is compared', () => {
    const { plan, transfers } = forecast('https://huggingface.co/x/');
    const document: unknown = JSON.parse(planDocument(plan, { isSimulated: false, additions: [], transfers }));
    expect(schemaCheck('plan')(document)).toEqual([]);
    expect(document).toMatchObject({ transfers: { 'studio-1': { uplinkBytes: 100e9, partlyStaged: false } } });
  });

  it('are omitted from a plan that transfers nothing', () => {
    const intact = Object.fromEntries(['studio-1', 'studio-2', 'studio-3'].map((name) => [name, 'intact' as const]));
    const { plan } = forecast('https://huggingface.co/x/', intact);
    expect(
      lines(
        forecastTransfers([], viewOf({ desired: meshFleet(), observation: { nodes: {}, failures: {} }, targets: [] })),
      ),
    ).toEqual([]);
    expect(plan.changes.some(({ resource }) => resource.startsWith('model/'))).toBe(false);
  });
});
