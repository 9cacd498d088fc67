import { guess } from '../../desired/did-you-mean.ts';
import { failure } from '../../diagnostics/diagnose.ts';
import type { FleetError } from '../../diagnostics/diagnostic.ts';
import type { EffectTotal, Plan } from '../../engine/plan/plan.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { EffectKind } from '../../model/step.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { joinProse, type Prose, prose } from '../../model/text/prose.ts';
import { effectTexts } from '../../report/plan/plan-text.ts';
import { askPerson } from '../terminal/ask.ts';
import { type Run, textOption, usageError } from '../verb.ts';

/** Effects that need explicit consent. Starts of placements and network changes do not. */
const guarded = [
  'rdma-start',
  'interrupt',
  'reboot',
  'locked-reboot',
  'shutdown',
  'delete',
] as const satisfies readonly EffectKind[];

/** An effect that can be named in `--allow`. */
export type GuardedEffect = (typeof guarded)[number];

/** The effects that the upgrade commands do not imply; a playbook passes its own consent to them on. */
export const beyondUpgrade = { macos: ['locked-reboot', 'rdma-start'], runtime: ['rdma-start'] } as const;

/** The effects that a command may have without asking. */
export interface ConsentPolicy {
  /** Effects that the command implies: `reboot` implies a reboot. */
  readonly named?: readonly GuardedEffect[];
  /** Further effects of its plans, which the user can name in `--allow`. */
  readonly allowable?: readonly GuardedEffect[];
  /** True if consent was given in advance: by default with `--yes`. */
  readonly isAgreed?: boolean;
  /** True if the command has changed a node before these plans. */
  readonly hasChanged?: boolean;
  /** Effects to which the user has already agreed. */
  readonly agreed?: readonly EffectTotal[];
  /** The digest of the reviewed plan, with which `--allow interrupt=DIGEST` must agree. */
  readonly reviewed?: string;
}

/** The part of `--allow` that affects the planning itself. */
export const planAllowances = (run: Run): Pick<DesiredFleet, 'mayPassBudget'> =>
  allowedWords(run).includes('rdma-start') ? { mayPassBudget: true } : {};

const allowedWords = (run: Run): readonly string[] =>
  (textOption(run, 'allow') ?? '').split(',').map((word) => word.trim());

/**
 * The effects named in `--allow`; with `EFFECT=DIGEST` only if that plan was reviewed.
 * @throws FleetError `cli/usage` for any other word
 */
export function allowedEffects(
  run: Run,
  allowable: readonly GuardedEffect[],
  reviewed?: string,
): readonly GuardedEffect[] {
  return allowedWords(run).flatMap((word) => {
    if (word === '') return [];
    const [name = '', digest, ...rest] = word.split('=');
    const found = allowable.find((kind) => kind === name);
    if (found !== undefined && digest === undefined) return [found];
    if (digest !== undefined && reviewed === undefined) {
      throw usageError('--allow EFFECT=DIGEST needs --reviewed.', 'Name the reviewed plan: --reviewed FILE');
    }
    if (found !== undefined && rest.length === 0) return digest === reviewed ? [found] : [];
    throw usageError(
      `${JSON.stringify(word)} is not a valid effect for --allow here.`,
      `${guess(name, allowable)}Effects: ${allowable.join(', ')}`,
    );
  });
}

export type Consent = ReturnType<typeof createConsent>;

/** In a playbook, a command implies nothing: only what the user has agreed to, or allows, happens. */
export function createConsent(run: Run, { named: implied = [], ...rest }: ConsentPolicy) {
  const named = run.agreed === undefined ? implied : [];
  const allowable = [...(rest.allowable ?? []), ...(run.agreed === undefined ? [] : implied)];
  const policy = { ...rest, allowable };
  const { isAgreed = run.options.yes === true, hasChanged = false } = policy;
  const allowed = allowedEffects(run, allowable, policy.reviewed);
  const isGuarded = ({ kind }: EffectTotal): boolean => guarded.some((one) => one === kind);
  const isUnapproved = (one: EffectTotal): boolean =>
    isGuarded(one) && ![...allowed, ...named].some((kind) => kind === one.kind);
  let hasBegun = false;
  let { agreed = run.agreed } = policy;
  const isAgreedTo = (one: EffectTotal): boolean =>
    agreed?.some(
      (all) =>
        all.kind === one.kind &&
        (one.placements.length > 0 || one.nodes.every((node) => all.nodes.includes(node))) &&
        one.placements.every((name) => all.placements.includes(name)),
    ) === true;
  return {
    /**
     * Returns true if a whole playbook with these effects may run. Later, only plans with other disruptive effects are
     * asked about.
     * @throws FleetError `plan/not-allowed`, or `cli/needs-yes` if prompting is impossible
     */
    giveAll: async (effects: readonly EffectTotal[], question: string): Promise<boolean> => {
      const unapproved = effects.filter((one) => isUnapproved(one) && !isAgreedTo(one));
      if (!isAgreed || unapproved.length > 0) {
        if (!canAsk(run))
          throw unapproved.length > 0
            ? notAllowed(unapproved, policy, hasBegun || hasChanged)
            : needsYes(run, question);
        if (!(await askPerson(run, isAgreed ? `This ${textOf(unapproved)}.\nAllow this?` : question))) return false;
      }
      agreed = effects;
      return true;
    },
    /**
     * Returns true if exactly this plan, which was shown, may run. A yes applies to one plan; later plans in the same run
     * need another yes only if their effects are disruptive.
     * @throws FleetError `plan/not-allowed`, or `cli/needs-yes` if prompting is impossible
     */
    give: async ({ effects }: Plan, question: string): Promise<boolean> => {
      const disturbing = effects.filter((one) => isGuarded(one) && !isAgreedTo(one));
      if (agreed !== undefined && disturbing.length === 0) return true;
      const unapproved = disturbing.filter(isUnapproved);
      const isLater = hasBegun || agreed !== undefined;
      hasBegun = true;
      if (isAgreed) {
        if (unapproved.length === 0) return true;
        if (!canAsk(run)) throw notAllowed(unapproved, policy, isLater || hasChanged);
        return askPerson(run, `This ${textOf(unapproved)}.\nAllow this?`);
      }
      if (isLater && disturbing.length === 0) return true;
      if (canAsk(run)) return askPerson(run, question);
      throw unapproved.length > 0 ? notAllowed(unapproved, policy, isLater || hasChanged) : needsYes(run, question);
    },
  };
}

/** With --json, no plan is shown, so no question is asked. */
const canAsk = ({ console, options }: Run): boolean => console.canAsk && !options.json;

const textOf = (effects: readonly EffectTotal[]): string => effectTexts({ effects, changes: [], steps: [] }).join('; ');

/** @param isLater true if an earlier plan in the same run was confirmed and ran */
const notAllowed = (
  effects: readonly EffectTotal[],
  { allowable = [], reviewed }: ConsentPolicy,
  isLater: boolean,
): FleetError => {
  const foreign = effects.filter(({ kind }) => !allowable.some((one) => one === kind));
  const of = reviewed === undefined ? '' : `=${reviewed}`;
  const kinds = [...new Set(effects.map(({ kind }) => `${kind}${of}`))].join(',');
  const done = isLater ? 'Earlier changes from this run remain.' : 'Nothing was changed.';
  return failure('plan/not-allowed', {
    detail: `The plan ${textOf(effects)}. ${done}`,
    hint:
      foreign.length === 0
        ? `Check the plan. If you agree, add: --allow ${kinds}`
        : prose`Without a prompt, this command cannot do this. Check the plan. If you agree: ${joinProse(commandsFor(foreign), ', ')}`,
  });
};

/** The commands that imply consent to these effects. */
const commandsFor = (effects: readonly EffectTotal[]): readonly Prose[] =>
  effects.map(({ kind, nodes }) => {
    if (kind === 'reboot' || kind === 'shutdown') return [aside(meshwright(kind, ...nodes))];
    if (kind === 'locked-reboot') return [aside(meshwright('reboot', ...nodes, '--allow', kind))];
    return [aside(kind === 'delete' ? meshwright('uninstall', '--models') : meshwright('apply', '--allow', kind))];
  });

const needsYes = (run: Run, question: string): FleetError =>
  failure('cli/needs-yes', {
    detail: question,
    ...(run.options.json ? { hint: 'With --json, no question is asked. Check the plan first, then add --yes.' } : {}),
  });
