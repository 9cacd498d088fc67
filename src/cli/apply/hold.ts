import { thisController } from '../../apply/lease/controller.ts';
import { given } from '../../model/given.ts';
import { dayOf, isDayOver } from '../../model/text/units.ts';
import type { HoldWish } from '../../rack/hold/resource.ts';
import { settleFromLock } from '../cluster/settle-cluster.ts';
import { namedNodes } from '../cluster/targets.ts';
import { openWays } from '../cluster/ways.ts';
import type { ExitCode } from '../exit-codes.ts';
import { type Run, textOption, usageError, type VerbBody } from '../verb.ts';
import { actOn, playbookOf } from './act-on.ts';

const usualReason = 'no reason was given';
const longestReason = 200;

/** `hold NODE…|--all`: writes down on nodes that they are to be left alone. */
export const hold: VerbBody = async (run) => {
  const reason = readReason(run);
  const until = readUntil(run);
  const by = (await thisController()).name;
  const since = dayOf(Date.now());
  return keep(run, 'hold', { reason, by, since, ...given({ until }) });
};

/** `release NODE…|--all`: ends that. */
export const release: VerbBody = (run) => keep(run, 'release', undefined);

function readReason(run: Run): string {
  const reason = (textOption(run, 'reason') ?? usualReason).trim();
  if (reason === '' || reason.length > longestReason || /\p{C}/u.test(reason)) {
    throw usageError('The reason is no reason.', `Say it in one line of at most ${longestReason} characters.`);
  }
  return reason;
}

function readUntil(run: Run): string | undefined {
  const until = textOption(run, 'until');
  if (until === undefined) return undefined;
  // Parsed and written again, the 31st of June is another day.
  const epochMs = /^20\d\d-\d\d-\d\d$/.test(until) ? Date.parse(`${until}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(epochMs) || dayOf(epochMs) !== until) {
    throw usageError(`"${until}" is no day for --until.`, 'Say the last day as 2026-12-01.');
  }
  if (isDayOver(until, Date.now())) throw usageError(`${until} is over.`, 'Say a day that is not.');
  return until;
}

async function keep(run: Run, verb: 'hold' | 'release', said: HoldWish['hold']): Promise<ExitCode> {
  const cluster = settleFromLock(run);
  const { fleet } = cluster;
  const chosen = namedNodes(run, fleet);
  const nodes = chosen.map(({ name }) => name);
  const wish: HoldWish = { nodes, ...given({ hold: said }) };
  const ways = openWays(run, cluster.opened);
  const inFile = chosen.filter((node) => node.hold !== undefined).map(({ name }) => name);
  const action = {
    verb,
    playbook: playbookOf(verb, { kind: 'hold', wish }),
    scope: { desired: fleet, targets: nodes },
    named: [],
    judged: nodes,
    goal: { kind: 'hold' as const, ...wish },
    ...(verb === 'release' && inFile.length > 0 ? { closing: () => [stillHeld(inFile)] } : {}),
  };
  return actOn(run, action, { cluster, ways });
}

const stillHeld = (nodes: readonly string[]): string =>
  `The cluster file goes on holding ${nodes.join(', ')}: take \`hold\` out there.`;
