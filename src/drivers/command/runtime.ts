import type { DriverKeys } from '../../desired/rules/rule.ts';
import { requirementsName } from '../../desired/settle/python-packages.ts';
import type { Runtime as RuntimeSpec } from '../../model/cluster-spec.generated.ts';
import type { DesiredRuntime } from '../../model/desired.ts';
import { jsonObject } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { usualPointer } from '../contract/chat-request.ts';
import { isOneOf, isText } from '../contract/version-keys.ts';
import type { FieldTexts } from './fields.ts';
import { rules } from './rules.ts';

/** Any program whose command line the file sets. */
export interface CommandRuntime extends DesiredRuntime, FieldTexts {
  readonly driver: 'command';
  /** The command line that each node runs once before its rank starts. */
  readonly prepare?: readonly string[];
  /** Whether ranks get the variables from which MLX makes its group. */
  readonly variables?: 'mlx';
  readonly order: 'leader-first' | 'followers-first' | 'together';
  /** Whether a dead rank restarts the whole group or only itself. */
  readonly restart: 'group' | 'node';
  /** TCP port, as text with `{field}`s, where a joined rank listens. */
  readonly joinedListening: string;
  /** The same for followers, or `running` if a running follower has joined; absent: as for the leader. */
  readonly followersJoin?: string;
  /** TCP port, as text with `{field}`s, where the leader listens before the followers start. */
  readonly meeting?: string;
  /** `golden: equal` promises the same golden answer after every start. */
  readonly token: { readonly path: string; readonly json: string; readonly golden?: 'equal' };
}

/** With `requirements`, the archive is that of uv, and each node builds the runtime's tree. */
const packagesOf = ({ python, requirements, wheels }: RuntimeSpec) =>
  python === undefined || requirements === undefined
    ? {}
    : { python, extras: [{ name: requirementsName, source: requirements }], ...given({ wheels }) };

export const keys: DriverKeys<CommandRuntime> = {
  needs: [],
  takes: [
    ...['command', 'leader', 'follower', 'roles', 'env', 'prepare', 'variables', 'order', 'restart', 'joined', 'token'],
    ...['python', 'requirements', 'wheels'],
  ],
  ofPlacements: ['roles'],
  rules,
  resolve: (spec) => {
    const { command, leader, follower, roles, env, prepare, variables } = spec;
    return {
      driver: 'command',
      command: [...(leader ?? command ?? [])],
      ...given({ follower, roles, env, prepare, variables }),
      order: spec.order ?? 'leader-first',
      restart: spec.restart ?? 'group',
      joinedListening: spec.joined?.listening ?? '{port}',
      ...given({ followersJoin: spec.joined?.followers, meeting: spec.joined?.meeting }),
      token: tokenOf(spec.token),
      ...packagesOf(spec),
    };
  },
  ofVersion: ({ command, order, restart, joinedListening, token, ...others }) => {
    const roles = rolesOf(others);
    if (!areWords(command) || roles === undefined || !isText(joinedListening)) return undefined;
    if (!isOneOf(order, 'leader-first', 'followers-first', 'together') || !isOneOf(restart, 'group', 'node')) {
      return undefined;
    }
    const { path, json, golden } = jsonObject(token) ?? {};
    if (!isText(path) || typeof json !== 'string') return undefined;
    const asked = golden === 'equal' ? ({ path, json, golden } as const) : { path, json };
    return { driver: 'command', command, ...roles, order, restart, joinedListening, token: asked };
  },
  packages: [],
};

/** Keys that runtimes of older versions of meshwright do not have. */
type RoleKeys = Pick<
  CommandRuntime,
  'follower' | 'roles' | 'env' | 'prepare' | 'variables' | 'followersJoin' | 'meeting' | 'python'
>;

/** The valid role keys of a lock line; undefined if one of them is not valid. */
function rolesOf(keys: Readonly<Record<string, unknown>>): RoleKeys | undefined {
  const { follower, roles, env, prepare, variables, followersJoin, meeting, python } = keys;
  const { prefill } = jsonObject(roles) ?? {};
  const values = env === undefined ? {} : jsonObject(env);
  if (!areWordsOrAbsent(follower) || !areWordsOrAbsent(prefill) || !areWordsOrAbsent(prepare)) return undefined;
  if (variables !== undefined && variables !== 'mlx') return undefined;
  if (values === undefined || !isTextOrAbsent(followersJoin) || !isTextOrAbsent(meeting) || !isTextOrAbsent(python)) {
    return undefined;
  }
  const texts = Object.entries(values).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  if (texts.length < Object.keys(values).length) return undefined;
  return given({
    follower,
    roles: prefill && { prefill },
    env: env === undefined ? undefined : Object.fromEntries(texts),
    prepare,
    variables,
    followersJoin,
    meeting,
    python,
  });
}

const areWords = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string');

const areWordsOrAbsent = (value: unknown): value is readonly string[] | undefined =>
  value === undefined || areWords(value);

const isTextOrAbsent = (value: unknown): value is string | undefined => value === undefined || isText(value);

function tokenOf({ path = '/v1/chat/completions', json, golden }: NonNullable<RuntimeSpec['token']> = {}) {
  return { path, json: json ?? usualPointer(path), ...given({ golden }) };
}
