import type { LaunchdService, PlacementMember, TokenSight } from '../model/fact-values.ts';
import { type Known, known } from '../model/known.ts';
import { rankServiceLabel } from '../script/rank-paths.ts';
import type { Fact } from './fact.ts';
import { memberOf, type PlacementRecord } from './placement-record.ts';
import { readPlacements, type SeenPlacements } from './placement-records.ts';
import { launchdServices, placementMembers } from './probes/ours.ts';
import { garbled } from './read-answer.ts';
import { services } from './services.ts';
import { tokenOf } from './token-answer.ts';

/**
 * The members of placements on this node, as their records say, with what is seen of them now: whether somebody listens
 * on the port of the ranks, and, on the leader, what its endpoint answered. An answer of an endpoint counts only while
 * the service of the rank has a process: somebody else may listen there.
 */
export const placements: Fact<'placements'> = {
  name: 'placements',
  from: [placementMembers, launchdServices],
  parse: ([answer, launchd], asked) => {
    const seen = readPlacements(answer);
    if (seen.kind === 'unknown') return seen;
    const { records } = seen.value;
    if (records.length === 0) return known([]);
    const loaded = services.parse([launchd], asked);
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
};

function withSight(
  record: PlacementRecord,
  { ports, tokens }: SeenPlacements,
  loaded: readonly LaunchdService[],
): Known<PlacementMember> {
  if (ports.kind === 'unknown') return ports;
  const isListening = ports.value.includes(record.port);
  const service = loaded.find(({ label }) => label === rankServiceLabel(record.placement));
  const notAsked: TokenSight = { kind: 'not-asked' };
  if (record.rank !== 0 || service?.state !== 'running') return known({ ...record, isListening, token: notAsked });
  if (!ports.value.includes(record.endpointPort)) {
    const reason = `nothing listens on port ${record.endpointPort}`;
    return known({ ...record, isListening, token: { kind: 'silent', reason } });
  }
  const asked = tokens.get(record.placement);
  if (asked === undefined) return known({ ...record, isListening, token: notAsked });
  const token = tokenOf(asked, record);
  return token.kind === 'unknown' ? token : known({ ...record, isListening, token: token.value });
}
