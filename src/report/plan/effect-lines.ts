import type { EffectTotal, Plan } from '../../engine/plan/plan.ts';
import type { Change, EffectKind } from '../../model/step.ts';
import { diskText, durationText } from '../../model/text/units.ts';
import { nodesText } from '../nodes-text.ts';

type Shown = Exclude<EffectKind, 'none'>;

const texts: Readonly<Record<Shown, (total: EffectTotal) => string>> = {
  start: ({ placements }) => `starts ${placements.join(', ')}`,
  'rdma-start': ({ placements, nodes }) =>
    `starts ${placements.join(', ')} past the launch budget of ${nodesText(nodes)}`,
  network: ({ nodes }) => `network settings of ${nodesText(nodes)}`,
  interrupt: ({ placements, seconds }) =>
    `interrupts ${placements.join(', ')}${seconds === undefined || seconds <= 0 ? '' : ` for up to ${durationText(seconds * 1_000)}`}`,
  reboot: ({ nodes }) => `restarts ${nodesText(nodes)}`,
  shutdown: ({ nodes }) => `switches off ${nodesText(nodes)}`,
  delete: ({ nodes, bytes }) => `deletes ${diskText(bytes ?? 0)} of models on ${nodesText(nodes)}`,
};

/** What people fear, in the order in which they fear it: said of a plan that does not do it. */
const denials: readonly (readonly [Shown, string])[] = [
  ['interrupt', 'interrupted'],
  ['reboot', 'rebooted'],
  ['shutdown', 'switched off'],
  ['delete', 'deleted'],
];

/** What the effects of a plan come to, a phrase each: `interrupts kimi for up to 95 s`. */
export const effectTexts = ({ effects, ...plan }: Pick<Plan, 'effects' | 'changes' | 'steps'>): readonly string[] =>
  effects.flatMap((total) => (total.kind === 'start' ? startTexts(total, plan) : [texts[total.kind](total)]));

/** What gives no token is stopped without an interruption: to stay stopped, or before it is started again. */
function startTexts(total: EffectTotal, { changes, steps }: Pick<Plan, 'changes' | 'steps'>): readonly string[] {
  const of = (name: string): readonly Change[] =>
    changes.filter(({ about }) => about.kind === 'placement' && about.placement === name);
  const isEnded = (name: string): boolean => of(name).length > 0 && of(name).every(({ to }) => to === 'stopped');
  const isStopped = (name: string): boolean =>
    steps.some(
      ({ act, effect }) =>
        act.kind === 'script' && act.name === 'stop-rank' && effect.kind === 'start' && effect.placement === name,
    );
  const ended = total.placements.filter(isEnded);
  const begun = total.placements.filter((name) => !isEnded(name));
  const again = begun.filter(isStopped);
  const started = begun.filter((name) => !isStopped(name));
  return [
    ...(started.length === 0 ? [] : [texts.start({ ...total, placements: started })]),
    ...(again.length === 0
      ? []
      : [`stops the processes of ${again.join(', ')}, which gives no token, and starts it again`]),
    ...(ended.length === 0 ? [] : [`stops the remaining processes of ${ended.join(', ')}`]),
  ];
}

/** `Nothing is interrupted, rebooted, switched off or deleted.`, without what the plan does; empty when it does all. */
export function denialText(effects: readonly EffectTotal[]): string {
  const words = denials.filter(([kind]) => !effects.some((total) => total.kind === kind)).map(([, word]) => word);
  const last = words.at(-1);
  if (last === undefined) return '';
  const head = words.slice(0, -1).join(', ');
  return `Nothing is ${head === '' ? last : `${head} or ${last}`}.`;
}

/** The bytes that the plan brings to nodes, nodes with amounts that read alike together: `735 GB to studio-3`. */
export function transferTexts({ steps }: Pick<Plan, 'steps'>): readonly string[] {
  const bytesByNode = new Map<string, number>();
  for (const { node, act } of steps) {
    const bytes =
      act.kind === 'send'
        ? act.sizeBytes
        : act.kind === 'job' && act.name === 'fetch-model'
          ? act.args.files.reduce((sum, file) => sum + file.sizeBytes, 0)
          : 0;
    if (bytes > 0) bytesByNode.set(node, (bytesByNode.get(node) ?? 0) + bytes);
  }
  const amounts = [...new Set([...bytesByNode.values()].map(diskText))];
  return amounts.map((amount) => {
    const nodes = [...bytesByNode].filter(([, own]) => diskText(own) === amount).map(([node]) => node);
    return `${amount} to ${nodes.length > 1 ? 'each of ' : ''}${nodesText(nodes)}`;
  });
}
