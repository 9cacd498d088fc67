import { mapKnown } from '../../model/known.ts';
import type { Resource, Sight, View } from '../resource.ts';
import { checkNotices } from './check/placement-checks.ts';
import { fallbackFindings, startAdvice } from './check/placement-findings.ts';
import { surveyPlacements } from './check/placement-survey.ts';
import { rankAddress, rankSight, seeMember } from './members.ts';
import { lastStartFindings, placementBlockers, placementGaps } from './placement-blockers.ts';
import { librarySights, placementSteps } from './placement-steps.ts';
import { placementProperties } from './state/placement-properties.ts';
import { lostMembers } from './state/survivors.ts';

/** What every member does, for the gates of starts and stops, and whether all have the same libraries. */
const sights = (view: View): readonly Sight[] => [
  ...view.targets.flatMap(({ desired: { name: node }, facts }) =>
    view.desired.placements.map(({ name }) => ({
      node,
      ...rankAddress(name),
      observed: mapKnown(seeMember(node, name, facts).seen, (seen) => ({ ...rankSight(seen) })),
    })),
  ),
  ...librarySights(view),
];

/**
 * Models that run on groups of nodes. A placement is one property of its leader's node: it serves as the file says
 * when all its ranks run, of one start and of this very file, and its endpoint gave a token.
 */
export const placement: Resource = {
  kind: 'placement',
  after: [
    'identity',
    'macos',
    'filevault',
    'sudo',
    'accounts',
    'power',
    'thunderbolt-bridge',
    'rdma',
    'thunderbolt-link',
    'link-address',
    'wired-limit',
    'runtime',
    'model',
  ],
  onUninstall: ({ nodes, placements }) => ({
    after: ['identity', 'sudo'],
    properties: (view) =>
      placementProperties(view).filter(({ node, about: { placement: name, part } }) =>
        name === undefined ? nodes.includes(node) : part === undefined && placements.includes(name),
      ),
  }),
  properties: placementProperties,
  sights,
  steps: placementSteps,
  blockers: placementBlockers,
  gaps: placementGaps,
  notices: (view) => {
    const surveys = surveyPlacements(view);
    return [
      ...checkNotices(view),
      ...lostMembers(view),
      ...fallbackFindings(view, surveys),
      ...startAdvice(view, surveys),
      ...lastStartFindings(view),
    ];
  },
};
