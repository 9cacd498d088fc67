import type { DriverKeys } from '../../desired/rules/rule.ts';
import type { Runtime as RuntimeSpec } from '../../model/cluster-spec.generated.ts';
import type { DesiredRuntime } from '../../model/desired.ts';
import { jsonObject } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { usualPointer } from '../contract/chat-request.ts';
import { isOneOf, isText } from '../contract/version-keys.ts';
import { rules } from './fields.ts';

/** Any program whose command line the file sets. */
export interface CommandRuntime extends DesiredRuntime {
  readonly driver: 'command';
  /** The command line of one rank, with unfilled `{field}`s. */
  readonly command: readonly string[];
  readonly order: 'leader-first' | 'followers-first' | 'together';
  /** Whether a dead rank restarts the whole group or only itself. */
  readonly restart: 'group' | 'node';
  /** TCP port, as text with `{field}`s, where a joined rank listens. */
  readonly joinedListening: string;
  /** `golden: equal` promises the same golden answer after every start. */
  readonly token: { readonly path: string; readonly json: string; readonly golden?: 'equal' };
}

export const keys: DriverKeys<CommandRuntime> = {
  needs: ['command'],
  takes: ['order', 'restart', 'joined', 'token'],
  ofPlacements: [],
  rules,
  resolve: ({ command = [], order = 'leader-first', restart = 'group', joined, token }) => ({
    driver: 'command',
    command: [...command],
    order,
    restart,
    joinedListening: joined?.listening ?? '{port}',
    token: tokenOf(token),
  }),
  ofVersion: ({ command, order, restart, joinedListening, token }) => {
    if (!Array.isArray(command) || command.length === 0 || !command.every((word) => typeof word === 'string')) {
      return undefined;
    }
    if (!isOneOf(order, 'leader-first', 'followers-first', 'together') || !isOneOf(restart, 'group', 'node')) {
      return undefined;
    }
    const { path, json, golden } = jsonObject(token) ?? {};
    if (!isText(joinedListening) || !isText(path) || typeof json !== 'string') return undefined;
    const asked = golden === 'equal' ? ({ path, json, golden } as const) : { path, json };
    return { driver: 'command', command, order, restart, joinedListening, token: asked };
  },
};

function tokenOf({ path = '/v1/chat/completions', json, golden }: NonNullable<RuntimeSpec['token']> = {}) {
  return { path, json: json ?? usualPointer(path), ...given({ golden }) };
}
