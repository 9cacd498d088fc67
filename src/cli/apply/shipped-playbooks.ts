import { readFileSync } from 'node:fs';
import { plainText } from '../../diagnostics/prose-text.ts';
import { loadPlaybook } from '../../engine/playbooks/load.ts';
import type { Playbook } from '../../engine/playbooks/playbook.ts';

const folder = new URL('../../../playbooks/', import.meta.url);

const shipped = ['apply', 'drain', 'restart', 'reboot', 'shutdown'] as const;

/** The verbs whose whole behaviour is a file. */
export type ShippedPlaybook = (typeof shipped)[number];

/** Whether a word is the name of such a verb. */
export const isShipped = (word: string): word is ShippedPlaybook => shipped.some((name) => name === word);

/**
 * A playbook of this package. Only its own folder is looked at, so that no file of a user can stand in for it.
 * @throws Error when the package is damaged
 */
export function shippedPlaybook(name: ShippedPlaybook): Playbook {
  const file = `${name}.yaml`;
  const { playbook, diagnostics } = loadPlaybook(readFileSync(new URL(file, folder)), { file, name });
  if (playbook === undefined)
    throw new Error(`${file} is damaged: ${plainText(diagnostics[0]?.detail ?? 'it is empty')}`);
  return playbook;
}

/** A verb that is one task for its targets. */
export const oneTask = (name: 'start' | 'stop'): Playbook => ({
  name,
  plays: [{ nodes: { kind: 'targets' }, serial: [], maxFailures: 0, tasks: [{ kind: name }] }],
});
