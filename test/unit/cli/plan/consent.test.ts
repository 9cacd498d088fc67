import { describe, expect, it } from 'vitest';
import { allowedEffects, type ConsentPolicy, createConsent } from '../../../../src/cli/plan/consent.ts';
import { FleetError } from '../../../../src/diagnostics/diagnostic.ts';
import type { EffectTotal } from '../../../../src/engine/plan/plan.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { emptyPlan } from '../../../rack/plans.ts';
import { asText } from '../../as-text.ts';
import { onOnePage, sayValue } from '../../one-page.ts';
import { problemsOf } from '../../problems-of.ts';
import { fakeRun } from '../console-of.ts';

const effect = (kind: EffectTotal['kind']): EffectTotal => ({ kind, nodes: [], placements: ['kimi'], seconds: 95 });
const quiet = emptyPlan({ effects: [effect('start'), effect('network')] });
const interrupting = emptyPlan({ effects: [effect('interrupt')] });

/** The problem that a refusal reports. */
const refusalOf = (given: Promise<boolean>) =>
  given.catch((error: unknown) => {
    if (error instanceof FleetError) return asText(error.diagnostics[0]);
    throw error;
  });

/** The answers, or the codes of refusals. */
async function answer(policy: ConsentPolicy, plans: readonly ReturnType<typeof emptyPlan>[], allow?: string) {
  const { run } = fakeRun({ own: allow === undefined ? {} : { allow } });
  const consent = createConsent(run, policy);
  const answers: (boolean | string)[] = [];
  for (const plan of plans) {
    const given = await refusalOf(consent.give(plan, 'Do it?'));
    answers.push(typeof given === 'boolean' ? given : sayValue(given).code);
  }
  return answers;
}

const allowable = ['interrupt', 'delete'] as const;
const agreed: ConsentPolicy = { named: [], allowable, isAgreed: true };
const unagreed: ConsentPolicy = { named: [], allowable, isAgreed: false };

describe('consent without a terminal', () => {
  it('is missing without --yes', async () => {
    expect(await answer(unagreed, [quiet])).toEqual(['cli/needs-yes']);
    expect(await answer(unagreed, [interrupting])).toEqual(['plan/not-allowed']);
  });

  it('covers starts and network changes with --yes, but nothing disruptive', async () => {
    expect(await answer(agreed, [quiet, quiet])).toEqual([true, true]);
    expect(await answer(agreed, [interrupting])).toEqual(['plan/not-allowed']);
    for (const kind of ['reboot', 'locked-reboot', 'shutdown', 'delete'] as const) {
      expect(await answer(agreed, [emptyPlan({ effects: [effect(kind)] })])).toEqual(['plan/not-allowed']);
    }
  });

  it('is given by --allow for exactly the named effects', async () => {
    expect(await answer(agreed, [interrupting], 'interrupt')).toEqual([true]);
    const both = emptyPlan({ effects: [effect('interrupt'), effect('delete')] });
    expect(await answer(agreed, [both], 'interrupt')).toEqual(['plan/not-allowed']);
    expect(await answer(agreed, [both], 'interrupt,delete')).toEqual([true]);
  });

  it('is given by --allow with a digest only if exactly that plan was reviewed', async () => {
    const reviewed = { ...agreed, reviewed: 'abc' };
    expect(await answer(reviewed, [interrupting], 'interrupt=abc')).toEqual([true]);
    expect(await answer(reviewed, [interrupting], 'interrupt=other,interrupt=abc')).toEqual([true]);
    for (const allow of ['interrupt=', 'interrupt=ab', 'interrupt=abcd', 'delete=abc']) {
      expect(await answer(reviewed, [interrupting], allow)).toEqual(['plan/not-allowed']);
    }
    const { run } = fakeRun({ own: { allow: 'interrupt=abc' } });
    expect(problemsOf(() => createConsent(run, agreed))).toMatchObject([{ code: 'cli/usage' }]);
  });

  it('covers the effects that the command itself names', async () => {
    const stop: ConsentPolicy = { named: ['interrupt'], allowable: [], isAgreed: true };
    expect(await answer(stop, [interrupting])).toEqual([true]);
    expect(await answer(stop, [emptyPlan({ effects: [effect('reboot')] })])).toEqual(['plan/not-allowed']);
    expect(await answer({ ...stop, isAgreed: false }, [interrupting])).toEqual(['cli/needs-yes']);
  });

  it('covers in a playbook only what the user has agreed to, or allows', async () => {
    const policy: ConsentPolicy = { named: ['interrupt'], allowable: [], isAgreed: true };
    const given = (agreed: readonly EffectTotal[], allow = '') => {
      const { run } = fakeRun({ own: { allow } });
      return refusalOf(createConsent({ ...run, agreed }, policy).giveAll([effect('interrupt')], 'Run it?'));
    };
    expect(await given([effect('interrupt')])).toBe(true);
    expect(await given([], 'interrupt')).toBe(true);
    expect(await given([])).toMatchObject({ code: 'plan/not-allowed' });
    expect(await given([{ ...effect('interrupt'), placements: ['qwen'] }])).toMatchObject({ code: 'plan/not-allowed' });
  });

  it('is refused before the first plan runs, or later with a note about earlier changes', async () => {
    const consent = createConsent(fakeRun().run, agreed);
    const effects = [effect('start'), effect('interrupt'), effect('interrupt')];
    const hint = 'Check the plan. If you agree, add: --allow interrupt';
    const words = 'interrupts kimi for up to 95 s';
    const before = { detail: `The plan ${words}; ${words}. Nothing was changed.`, hint };
    expect(await refusalOf(consent.giveAll(effects, 'Run it?'))).toMatchObject(before);
    expect(await consent.give(quiet, 'Do it?')).toBe(true);
    const later = { detail: `The plan ${words}. Earlier changes from this run remain.`, hint };
    expect(await refusalOf(consent.give(interrupting, 'Do it?'))).toMatchObject(later);
    const changed = createConsent(fakeRun().run, { ...agreed, hasChanged: true });
    expect(await refusalOf(changed.give(interrupting, 'Do it?'))).toMatchObject(later);
  });

  it('for a whole playbook needs --yes, and covers its later plans, but no other effects', async () => {
    const refused = createConsent(fakeRun().run, unagreed);
    expect(await refusalOf(refused.giveAll([effect('start')], 'Run it?'))).toMatchObject({ code: 'cli/needs-yes' });
    const consent = createConsent(fakeRun({ own: { allow: 'interrupt' } }).run, agreed);
    expect(await consent.giveAll([effect('start'), effect('interrupt')], 'Run it?')).toBe(true);
    expect(await consent.give(interrupting, 'Do it?')).toBe(true);
    const more = emptyPlan({ effects: [effect('interrupt'), effect('delete')] });
    const hint = 'Check the plan. If you agree, add: --allow delete';
    expect(await refusalOf(consent.give(more, 'Do it?'))).toMatchObject({ code: 'plan/not-allowed', hint });
  });

  it.each([
    ['interrupt', 'meshwright apply --allow interrupt'],
    ['reboot', 'meshwright reboot studio-1'],
    ['locked-reboot', 'meshwright reboot studio-1 --allow locked-reboot'],
    ['shutdown', 'meshwright shutdown studio-1'],
    ['delete', 'meshwright uninstall --models'],
  ] as const)('is refused for a command that may %s but has no option to allow it', async (kind, command) => {
    const plan = emptyPlan({ effects: [{ ...effect(kind), nodes: [nodeName('studio-1')] }] });
    const consent = createConsent(fakeRun().run, { ...agreed, allowable: [] });
    const hint = `Without a prompt, this command cannot do this. Check the plan. If you agree: ${command}`;
    expect(await refusalOf(consent.give(plan, 'Do it?'))).toMatchObject({ hint });
  });

  it('rejects an unknown effect', () => {
    const allowed = (allow: string) => allowedEffects(fakeRun({ own: { allow } }).run, allowable);
    expect(() => allowed('interupt')).toThrow('"interupt" is not a valid effect');
    expect(() => allowed('reboot')).toThrow('"reboot" is not a valid effect');
    expect(allowedEffects(fakeRun().run, allowable)).toEqual([]);
  });
});

onOnePage('consent');
