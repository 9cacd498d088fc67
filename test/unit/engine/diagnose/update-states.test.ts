import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { pendingUpdates, updateProblem, updateState } from '../../../../src/engine/diagnose/update-states.ts';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { MacosUpdate } from '../../../../src/model/facts/mac.ts';
import { type Known, known, unknown } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { desiredFleet, observedFleet } from '../../../rack/rack.ts';
import { loadFactCase, parseCase } from '../observe/fact-cases.ts';

const node = nodeName('studio-1');
const tahoe: MacosUpdate = {
  label: 'macOS Tahoe 26.7-25G229',
  title: 'macOS Tahoe 26.7',
  version: '26.7',
  build: '25G229',
};
const next: MacosUpdate = { label: 'macOS 27-26A428', title: 'macOS 27', version: '27.0', build: '26A428' };
const beta: MacosUpdate = {
  label: 'macOS 26.7 Beta-25G5229c',
  title: 'macOS 26.7 Beta',
  version: '26.7',
  build: '25G5229c',
};
const improvement: MacosUpdate = { ...tahoe, label: 'x', extra: '(a)', build: '25G771229a' };

function stateWith(offers: Known<readonly MacosUpdate[]> | undefined, values: Partial<FactValues> = {}, to = '26.7') {
  const { nodes } = observedFleet({
    values: { 'studio-1': { 'macos-version': { version: '26.5', build: '25F71' }, ...values } },
  });
  return updateState(to, { node, facts: nodes[node]?.facts, offers });
}

const told = (state: ReturnType<typeof updateState>): string =>
  state.kind === 'blocked' ? `${state.diagnostic.code}: ${plainText(state.diagnostic.detail)}` : state.kind;

describe('the updates that are left to `upgrade macos`', () => {
  const desired = desiredFleet();
  const left = (macos: Partial<typeof desired.macos>, versions: Readonly<Record<string, string>>) =>
    pendingUpdates(
      { ...desired, macos: { ...desired.macos, ...macos } },
      observedFleet({
        values: Object.fromEntries(
          Object.entries(versions).map(([name, version]) => [name, { 'macos-version': { version, build: '25A1' } }]),
        ),
      }),
    );
  const versions = { 'studio-1': '26.7', 'studio-2': '26.5', 'studio-3': '27.0', 'studio-4': '26.7' };
  const serving = desired.placements.filter(({ state }) => state === 'serving').map(({ name }) => name);

  it('are only those of older Macs, with the placements of their unit', () => {
    expect(left({ version: '26.7', updateDriver: 'softwareupdate' }, versions)).toEqual({
      to: '26.7',
      units: [{ nodes: ['studio-2'], placements: serving }],
    });
  });

  it('are none if a person installs them, or if the file names no version', () => {
    expect(left({ version: '26.7', updateDriver: undefined as never }, versions)).toBeUndefined();
    expect(left({ version: undefined as never, updateDriver: 'softwareupdate' }, versions)).toBeUndefined();
  });
});

describe('the state of a Mac before an update', () => {
  it('is offered if the list has exactly one release of the version', () => {
    expect(stateWith(known([next, beta, improvement, tahoe]))).toEqual({
      kind: 'offered',
      from: 'macOS 26.5',
      update: tahoe,
    });
  });

  it.each([
    ['the next major version', [next]],
    ['a beta', [beta]],
    ['a background security improvement', [improvement]],
    ['two builds of the version', [tahoe, { ...tahoe, label: 'y', build: '25G230' }]],
    ['nothing', []],
  ])('is blocked if the Mac is offered only %s', (_, offers) => {
    expect(told(stateWith(known(offers)))).toMatch(
      /^upgrade\/not-offered: studio-1: it runs macOS 26\.5 and is offered /,
    );
  });

  it('is blocked with the reason if the Mac could not reach the server', () => {
    const offline = unknown('failed', "The Mac could not reach Apple's update server.");
    expect(told(stateWith(offline))).toContain("could not reach Apple's update server");
  });

  it('is blocked if the file wants an older version', () => {
    expect(told(stateWith(known([]), {}, '26.4')).split(':')[0]).toBe('upgrade/newer');
  });

  it('is the next major version if the file names it', () => {
    expect(stateWith(known([next, tahoe]), {}, '27.0')).toMatchObject({ kind: 'offered', update: next });
  });

  it('is blocked if the Mac does not answer', () => {
    expect(told(updateState('26.7', { node, facts: undefined, offers: undefined })).split(':')[0]).toBe(
      'upgrade/unknown',
    );
  });

  it('is done with the release, not with its beta', () => {
    const at = (build: string) => stateWith(known([tahoe]), { 'macos-version': { version: '26.7', build } }).kind;
    expect([at('25G229'), at('25G5229c')]).toEqual(['done', 'offered']);
  });

  it('is installing while the job runs in this boot session', () => {
    const job = (state: string) => ({
      jobs: [{ key: 'k', fields: { name: 'install-macos', label: tahoe.label, state } }],
    });
    expect(stateWith(known([]), job('running'))).toEqual({
      kind: 'installing',
      from: 'macOS 26.5',
      label: tahoe.label,
    });
    expect(stateWith(known([tahoe]), job('gone')).kind).toBe('offered');
  });

  it('leaves the update to a person if the Mac was not asked for offers', () => {
    expect(stateWith(undefined).kind).toBe('by-hand');
  });
});

/** The state of a Mac with 26.3 whose `softwareupdate --list` prints what this case has captured. */
const stateIn = (title: string, to: string): string => {
  const offers = parseCase(loadFactCase(`software-updates/${title}`)) as Known<readonly MacosUpdate[]>;
  const state = stateWith(offers, { 'macos-version': { version: '26.3', build: '25D125' } }, to);
  return state.kind === 'offered' ? state.update.label : told(state).replace(/:.*/, '');
};

describe('the update that a captured list offers', () => {
  it.each([
    ['safari-tahoe-and-27', '26.7', 'macOS Tahoe 26.7-25G229'],
    ['many-items', '26.7', 'macOS Tahoe 26.7-25G229'],
    ['safari-tahoe-and-27', '27.0', 'macOS 27-26A428'],
    ['security-improvement-and-26-4', '26.4', 'macOS Tahoe 26.4-25E246'],
  ])('of %s is for %s exactly %s', (title, to, label) => {
    expect(stateIn(title, to)).toBe(label);
  });

  it.each([
    ['safari-tahoe-and-27', '26.6', 'a newer release and the next major version'],
    ['beta-27-2', '27.2', 'a beta of it'],
    ['security-improvement-and-26-4', '26.3.1', 'a background security improvement of it'],
    ['security-improvement', '26.4', 'a background security improvement'],
    ['only-safari', '26.7', 'Safari'],
    ['none-available', '26.7', 'nothing'],
    ['offline', '26.7', 'nothing, because it is offline'],
    ['cut-inside-an-item', '26.7', 'a list that is cut off'],
    ['no-words-after-the-title', '26.7', 'a list without its end'],
    ['full-installers', '26.7', 'another kind of list'],
    ['garbage', '26.7', 'an error'],
  ])('of %s is none for %s, because it has only %s', (title, to) => {
    expect(stateIn(title, to)).toBe('upgrade/not-offered');
  });
});

describe('the proof of an update', () => {
  const problem = (build: string | undefined, found: { readonly version: string; readonly build: string }) =>
    updateProblem('26.7', { node, build, now: stateWith(undefined, { 'macos-version': found }) });

  it('is the exact build', () => {
    expect(problem('25G229', { version: '26.7', build: '25G229' })).toBeUndefined();
    expect(problem('25G229', { version: '26.7', build: '25G230' })?.code).toBe('upgrade/not-updated');
    expect(problem('25G229', { version: '26.5', build: '25F71' })?.code).toBe('upgrade/not-updated');
  });

  it('is any release of the version if a person installed it', () => {
    expect(problem(undefined, { version: '26.7', build: '25G230' })).toBeUndefined();
  });
});
