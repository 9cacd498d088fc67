import type { Effect, Patch, Step } from '../../../../../src/model/step.ts';

/** `studio-1/kick` for the id `studio-1/placement/kimi/kick`; the whole id for a different placement. */
const shortId = (id: string, placement: string): string => id.replace(`/placement/${placement}/`, '/');

/** `gen 5 joined on studio-1 studio-2`, for patches with the same value. */
function ranksWords(patches: readonly Patch[]): string {
  const values = new Set(patches.map(({ value }) => Object.values(value as object).join(' ')));
  const nodes = patches.map(({ node, address }) => (address.startsWith('rank/') ? node : `${node} ${address}`));
  return patches.length === 0 ? 'nothing' : `gen ${[...values].join(' and ')} on ${nodes.join(' ')}`;
}

function actWords({ act }: Step): string {
  switch (act.kind) {
    case 'script':
    case 'transaction':
      return act.name;
    case 'gate':
      return `gate (${ranksWords(act.expect)}; aborts: ${ranksWords(act.aborts)})`;
    default:
      return act.kind;
  }
}

function effectWords(effect: Effect): string {
  switch (effect.kind) {
    case 'none':
      return '';
    case 'interrupt':
      return ` [interrupt ${effect.placement} ${effect.seconds} s]`;
    default:
      return ` [${effect.kind}]`;
  }
}

/**
 * A step on one line: `studio-1/stop: stop-rank [start] after studio-1/put-service`.
 *
 * @param placement its step ids are abbreviated
 */
export function stepLine(step: Step, placement: string): string {
  const needs = step.needs.map((id) => shortId(id, placement));
  const after = needs.length === 0 ? '' : ` after ${needs.join(' ')}`;
  const ended = (step.after ?? []).map((id) => shortId(id, placement));
  const behind = ended.length === 0 ? '' : `, once ended ${ended.join(' ')}`;
  return `${shortId(step.id, placement)}: ${actWords(step)}${effectWords(step.effect)}${after}${behind}`;
}
