import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { NodeName } from '../../model/node.ts';
import type { ExecLimits, ExecResult } from '../../remote/remote.ts';
import { forEachLimited } from '../for-each-limited.ts';
import { type NodeWay, type UseLimits, withRemote } from './with-remote.ts';

/** How one command went on one node: what it gave, or why it could not be given. */
export type CommandOutcome =
  | { readonly kind: 'ended'; readonly node: NodeName; readonly result: ExecResult }
  | { readonly kind: 'unreached'; readonly node: NodeName; readonly diagnostics: readonly Diagnostic[] };

/** Bounds of a command on many nodes. */
export interface CommandOptions extends UseLimits {
  readonly parallel: number;
  readonly maxBytes: number;
  /** Called as each node ends, in the order in which they end. */
  readonly onOutcome?: (outcome: CommandOutcome) => void;
}

/** A command line that depends on its node, with its input. */
export type CommandFor = (
  node: NodeName,
  rootPrefix: string,
) => Pick<ExecLimits, 'name' | 'stdin'> & { readonly command: string };

/** Runs one command line on many nodes at once, each over its own connection. Never resent: it may not be idempotent. */
export async function runCommand(
  ways: readonly NodeWay[],
  command: string | CommandFor,
  options: CommandOptions,
): Promise<readonly CommandOutcome[]> {
  const outcomes = new Map<NodeName, CommandOutcome>();
  const { maxBytes } = options;
  await forEachLimited(ways, options.parallel, async (way) => {
    const { node } = way;
    const reached = await withRemote(way, options, (remote, leftMs) => {
      const one = typeof command === 'string' ? { name: 'exec', command } : command(node, remote.rootPrefix);
      const { command: line, ...input } = one;
      return remote.exec(line, { deadlineMs: leftMs, maxBytes, ...input });
    });
    const outcome: CommandOutcome =
      reached.kind === 'reached'
        ? { kind: 'ended', node, result: reached.value }
        : { kind: 'unreached', node, diagnostics: reached.diagnostics };
    outcomes.set(node, outcome);
    options.onOutcome?.(outcome);
  });
  return ways.flatMap(({ node }) => outcomes.get(node) ?? []);
}
