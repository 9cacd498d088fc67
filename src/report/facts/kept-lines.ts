import type { KeptFile, KeptTree, PlacementMember, TokenSight } from '../../model/facts/fact-values.ts';
import type { RdmaStarts, RebootMark } from '../../model/facts/node-records.ts';
import type { DoormanSight } from '../../model/gateway.ts';

/** A file that was put, and whether it is still as it was. */
export const fileLine = ({ path, digest, state }: KeptFile): string => `${path} ${state}, ${digest.slice(0, 16)}`;

/** A published tree, and whether it is still as it was. */
export function treeLine({ kind, name, digest, isCurrent, state }: KeptTree): string {
  return `${kind} ${name} ${digest} ${state}${isCurrent ? ', in use' : ''}`;
}

/** A member of a placement: its place in the mesh, how often it was started, what is seen of it. */
export function memberLine(member: PlacementMember): string {
  const { placement, rank, size, generation, starts, port, isListening, token } = member;
  const more = [
    `generation ${generation}`,
    `${starts} ${starts === 1 ? 'start' : 'starts'}`,
    `port ${port} ${isListening ? 'listens' : 'silent'}`,
    ...tokenWords(token),
  ];
  return [`${placement} rank ${rank} of ${size}`, ...more].join(', ');
}

/** A doorman: by placement how many are inside, and what it has counted. */
export function doormanLine(sight: DoormanSight): string {
  if (sight.kind === 'silent') return `port ${sight.port}: ${sight.reason}`;
  const doors = sight.doors.map(({ placement, running, waiting, counts: { requests, tokens } }) =>
    [`${placement} ${running + waiting} inside`, `${requests} answered`, `${tokens} tokens`].join(', '),
  );
  return `port ${sight.port}: ${doors.join('; ')}`;
}

/** How often ranks over RDMA were started, and what the last start of each member has complained about. */
export const rdmaStartLines = ({ startedIn, starts, last }: RdmaStarts): readonly string[] => [
  startedIn === '' ? 'none yet' : `${starts} in boot session ${startedIn}`,
  ...last.flatMap(({ placement, complaint }) => (complaint === undefined ? [] : [`${placement} said: ${complaint}`])),
];

/** Why the node needs a restart before any rank may be started there. */
export const rebootMarkLine = ({ placement, why, wiredBytes, baselineBytes }: RebootMark): string =>
  why === 'kernel'
    ? `after ${placement}: KILL did not end it`
    : `after ${placement}: ${wiredBytes} bytes wired, ${baselineBytes} before`;

function tokenWords(token: TokenSight): readonly string[] {
  switch (token.kind) {
    case 'not-asked':
      return [];
    case 'answered':
      return [token.text === '' ? 'gives tokens without text' : `answers ${JSON.stringify(token.text.slice(0, 40))}`];
    case 'in-flight':
      return [token.reason];
    case 'silent':
      return [`no token: ${token.reason}`];
  }
}
