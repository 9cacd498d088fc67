import { waitUntil } from '../../apply/wait-tasks.ts';
import { didYouMean } from '../../desired/did-you-mean.ts';
import { everyNode, layoutsOf } from '../../desired/layouts.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { documentHead } from '../../diagnostics/json.ts';
import { viewOf } from '../../engine/plan/view.ts';
import type { WaitDocument } from '../../model/documents.generated.ts';
import { listText } from '../../model/lists.ts';
import { placementSubject } from '../../model/subject.ts';
import { durationText } from '../../model/text/units.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { type PlacementSurvey, surveyPlacements } from '../../rack/placement/check/placement-survey.ts';
import { openCluster } from '../cluster/open-cluster.ts';
import { lockedFleet } from '../cluster/settle-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { placementsNamed } from '../cluster/targets.ts';
import { exitCode } from '../exit-codes.ts';
import { diagnosticsJson, showWait } from '../terminal/console.ts';
import { timingFor } from '../use-limits.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
import { observeNodes, shownOnly } from './observe-fleet.ts';

/** The states to wait for, each with the states of a survey that it covers. */
const awaited: Readonly<Record<WaitDocument['wanted'], readonly PlacementSurvey['state'][]>> = {
  serving: ['serving'],
  stopped: ['stopped', 'dead', 'not-placed'],
};

function readWanted(word: string): WaitDocument['wanted'] {
  const names = Object.keys(awaited) as WaitDocument['wanted'][];
  const found = names.find((name) => name === word);
  if (found !== undefined) return found;
  const near = didYouMean(word, names);
  throw usageError(
    `Unknown state \`${word}\`.`,
    near === undefined ? `States: ${listText(names)}.` : `Did you mean \`${near}\`?`,
  );
}

/** The time limit for one answer of a Mac, because `--deadline` is that of the wait. */
const answerMs = 30_000;

/** `wait PLACEMENT STATE`: checks again and again until the placement has the state or `--deadline` has passed. */
export const wait: VerbBody = async (run) => {
  const [word = '', state = ''] = run.words;
  const cluster = openCluster(run);
  const names = placementsNamed({ fleet: cluster.fleet }, word).map(({ name }) => name);
  const wanted = readWanted(state);
  const desired = lockedFleet(run, cluster);
  const placements = desired.placements.filter(({ name }) => names.includes(name));
  const members = placements.flatMap(everyNode);
  const nodes = desired.nodes.filter(({ name }) => members.includes(name));
  const targets = nodes.map(({ name }) => name);
  const answering: Run = { ...run, options: { ...run.options, deadline: answerMs } };
  const ways = openTargets(answering, cluster);
  const surveysIn = (observation: FleetObservation): readonly PlacementSurvey[] =>
    surveyPlacements(viewOf({ desired, observation, targets })).filter(({ name }) => names.includes(name));
  const startedAtMs = performance.now();
  const progress = showWait(run.console);
  const waited = await waitUntil(
    { nodes: targets, deadlineMs: run.options.deadline },
    {
      timing: timingFor(run),
      signal: run.signal,
      observe: () =>
        observeNodes(answering, nodes, ways, { ...shownOnly(answering), tokensOf: placements.flatMap(layoutsOf) }),
      onWait: progress.show,
    },
    (observation) =>
      surveysIn(observation)
        .filter((one) => !awaited[wanted].includes(one.state))
        .map(({ name, state: now, evidence }) => ({ node: name, why: `${now}: ${evidence}` })),
  );
  progress.end();
  const tookMs = Math.round(performance.now() - startedAtMs);
  const problems = (waited?.missing ?? []).map(({ node, why }) =>
    diagnose('task/wait-over', {
      subject: placementSubject(node),
      detail: escapeText(
        `${node} was not ${wanted} within ${durationText(run.options.deadline)}. Its last state is ${why}`,
      ),
    }),
  );
  const surveys = waited === undefined ? [] : surveysIn(waited.observation);
  const document: WaitDocument = {
    ...documentHead(run.console, { cluster: desired.name }),
    wanted,
    placements: Object.fromEntries(surveys.map(({ name, state: now, evidence }) => [name, { state: now, evidence }])),
    milliseconds: tookMs,
    diagnostics: diagnosticsJson(run.console, problems),
  };
  const isMet = waited?.missing.length === 0;
  return {
    exit: isMet ? exitCode.done : exitCode.failed,
    document,
    problems,
    text: isMet
      ? `${listText(names)} ${names.length === 1 ? 'is' : 'are'} ${wanted} (after ${durationText(tookMs)}).\n`
      : '',
  };
};
