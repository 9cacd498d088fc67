import { digest } from '../../../model/digest.ts';
import type { LaunchdService } from '../../../model/facts/daemons.ts';
import type { PlacementMember, TokenSight } from '../../../model/facts/fact-values.ts';
import { type Known, known } from '../../../model/known.ts';
import { wholeNumber } from '../../../node/answers/grammar.ts';
import { garbled } from '../../../node/answers/read-answer.ts';
import { rankServiceLabel } from '../../../node/paths/own-paths.ts';
import { launchdServices, placementMembers } from '../../../node/probes/ours.ts';
import { defineFact } from '../../fact.ts';
import { gpuBytesOf } from '../../memory/gpu-line.ts';
import { servicesFact } from '../../records/services-fact.ts';
import { memberOf, type PlacementRecord } from './placement-record.ts';
import { readPlacements, type SeenPlacements } from './placement-records.ts';
import { tokenOf } from './token-answer.ts';

/**
 * The members of placements on this node, as their records say, with what is seen of them now: whether somebody listens
 * on the port of the ranks, and, on the leader, what its endpoint answered. An answer of an endpoint counts only while
 * the service of the rank has a process: somebody else may listen there.
 */
export const placementsFact = defineFact({
  name: 'placements',
  from: [placementMembers, launchdServices],
  parse: ([answer, launchd], asked): Known<readonly PlacementMember[]> => {
    const seen = readPlacements(answer);
    if (seen.kind === 'unknown') return seen;
    const { records } = seen.value;
    if (records.length === 0) return known([]);
    const loaded = servicesFact.parse([launchd], asked);
    if (loaded.kind === 'unknown') return loaded;
    const found: PlacementMember[] = [];
    for (const { name, fields } of records) {
      const record = memberOf(fields);
      if (record === undefined || record.placement !== name) {
        return garbled(answer, `printed a record of ${name} that cannot be read`);
      }
      const member = withSight(record, seen.value, loaded.value);
      if (member.kind === 'unknown') return member;
      found.push(member.value);
    }
    return known(found);
  },
});

function withSight(
  record: PlacementRecord,
  { ports, tokens, starts, goldens }: SeenPlacements,
  loaded: readonly LaunchdService[],
): Known<PlacementMember> {
  if (ports.kind === 'unknown') return ports;
  const seen = {
    ...record,
    isListening: ports.value.includes(record.port),
    isMeeting: ports.value.includes(record.meetPort),
    ...goldenIn(goldens.get(record.placement)),
    said: saidIn(starts.get(record.placement)),
    ...complaintIn(starts.get(record.placement)),
    ...gpuIn(starts.get(record.placement)),
    ...outcomeIn(starts.get(record.placement)),
    ...(starts.get(record.placement)?.['lastTalked'] === 'tcp' ? { lastTalked: 'tcp' as const } : {}),
  };
  const service = loaded.find(({ label }) => label === rankServiceLabel(record.placement));
  const notAsked: TokenSight = { kind: 'not-asked' };
  if (record.rank !== 0 || service?.state !== 'running') return known({ ...seen, token: notAsked });
  if (!ports.value.includes(record.endpointPort)) {
    const reason = `nothing listens on port ${record.endpointPort}`;
    return known({ ...seen, token: { kind: 'silent', reason } });
  }
  const asked = tokens.get(record.placement);
  if (asked === undefined) return known({ ...seen, token: notAsked });
  const token = tokenOf(asked, record);
  return token.kind === 'unknown' ? token : known({ ...seen, token: token.value });
}

const complaintIn = ({ complaint }: Readonly<Record<string, string>> = {}): Pick<PlacementMember, 'complaint'> =>
  complaint === undefined ? {} : { complaint };

const outcomes: readonly string[] = [
  'served',
  'hung',
  'failed',
  'exited',
] satisfies readonly PlacementMember['outcome'][];

const isOutcome = (word: string): word is NonNullable<PlacementMember['outcome']> => outcomes.includes(word);

function outcomeIn({
  outcome = '',
  failedIn,
}: Readonly<Record<string, string>> = {}): Pick<PlacementMember, 'outcome' | 'failedIn'> {
  return { ...(isOutcome(outcome) ? { outcome } : {}), ...(failedIn === undefined ? {} : { failedIn }) };
}

/** Nothing where the limit was raised at that start, or nobody noted it: that is not what macOS allows by itself. */
function gpuIn({ gpu = '', wired }: Readonly<Record<string, string>> = {}): Pick<PlacementMember, 'gpuBytes'> {
  const gpuBytes = wired === '0' ? gpuBytesOf(gpu) : undefined;
  return gpuBytes === undefined ? {} : { gpuBytes };
}

/** The lines of a log that the mark of a start has beside it, in their order. */
const saidIn = (start: Readonly<Record<string, string>> = {}): readonly string[] =>
  Object.entries(start)
    .flatMap(([key, line]) => {
      const [, number] = /^said(\d{1,2})$/.exec(key) ?? [];
      return number === undefined ? [] : [{ number: Number(number), line }];
    })
    .toSorted((a, b) => a.number - b.number)
    .map(({ line }) => line);

/** What was kept of a golden answer; nothing of one that cannot be read: then the next one is the first again. */
function goldenIn(fields: Readonly<Record<string, string>> = {}): Pick<PlacementMember, 'golden'> {
  const { key = '', sha256 = '', firstTokenMs = '', tokensPerSecond, steadyPerSecond } = fields;
  const first = wholeNumber(firstTokenMs);
  const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);
  if (!isDigest(key) || !isDigest(sha256) || first === undefined) return {};
  const [last, most] = [speedIn(tokensPerSecond), speedIn(steadyPerSecond)];
  return {
    golden: {
      key: digest(key),
      sha256: digest(sha256),
      firstTokenMs: first,
      ...(last === undefined ? {} : { tokensPerSecond: last }),
      ...(most === undefined ? {} : { steadyPerSecond: most }),
    },
  };
}

const speedIn = (text = ''): number | undefined => (/^\d{1,9}(?:\.\d{1,2})?$/.test(text) ? Number(text) : undefined);
