import type { CommandOutcome } from '../../apply/run-command.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeLines } from '../../diagnostics/escape.ts';
import type { DesiredFleet, DesiredNode, DesiredPlacement } from '../../model/desired.ts';
import { rankLogCommand } from '../../script/rank-log.ts';
import { answerText, askNodes, isAnswered, outcomeDiagnostics } from '../ask-nodes.ts';
import { diagnosticsJson, showDiagnostics, showJson } from '../diagnostics-output.ts';
import { codeForNodes, type ExitCode, type NodeVerdict } from '../exit-codes.ts';
import { gatherAlike } from '../gather-alike.ts';
import { openCluster } from '../open-cluster.ts';
import { usageError } from '../options.ts';
import { readCountOption } from '../own-options.ts';
import { placementNamed } from '../placements.ts';
import { simulatedHints } from '../simulated-hints.ts';
import type { Run, VerbBody } from '../verb.ts';
import { openWays, type Ways } from '../ways.ts';

const usualLines = 40;
/** What the command ends with where there is no log. */
const noLogExit = 66;

/** What one rank has printed last. */
interface RankTail {
  readonly placement: string;
  readonly outcome: CommandOutcome;
}

/** `logs PLACEMENT|NODE…`: the end of what ranks have printed, each line behind the name of its node. */
export const logs: VerbBody = async (run) => {
  const lines = readCountOption(run, 'lines') ?? usualLines;
  const cluster = openCluster(run);
  const wanted = wantedRanks(run, cluster.fleet);
  const ways = openWays(run, cluster);
  const tails: RankTail[] = [];
  for (const { placement, nodes } of wanted) {
    const outcomes = await askNodes(run, { nodes, ways }, (_node, rootPrefix) => ({
      command: rankLogCommand({ placement, lines, isFollowed: false, rootPrefix }),
    }));
    tails.push(...outcomes.map((outcome) => ({ placement, outcome })));
  }
  show(run, tails, ways);
  return codeOf(tails);
};

interface WantedRanks {
  readonly placement: string;
  readonly nodes: readonly DesiredNode[];
}

/** A word is a placement with all its members, or a node with all that runs there. */
function wantedRanks(run: Run, fleet: DesiredFleet): readonly WantedRanks[] {
  if (run.words.length === 0) {
    const names = [...fleet.placements, ...fleet.nodes].map(({ name }) => name);
    throw usageError('Nothing is named.', `Name placements or nodes: ${names.join(', ')}`);
  }
  const pairs = run.words.flatMap((word) => ranksOf(word, fleet));
  return fleet.placements.flatMap(({ name }) => {
    const members = pairs.filter(({ placement }) => placement === name).map(({ node }) => node);
    const nodes = fleet.nodes.filter((node) => members.includes(node.name));
    return nodes.length === 0 ? [] : [{ placement: name, nodes }];
  });
}

function ranksOf(word: string, fleet: DesiredFleet): readonly { readonly placement: string; readonly node: string }[] {
  const on = (one: DesiredPlacement, isMeant: (node: string) => boolean) =>
    one.nodes.filter(isMeant).map((node) => ({ placement: one.name, node }));
  const isPlacement = fleet.placements.some(({ name }) => name === word);
  const isNode = fleet.nodes.some(({ name }) => name === word);
  if (isPlacement || !isNode) return on(placementNamed(fleet, word), () => true);
  const ranks = fleet.placements.flatMap((one) => on(one, (node) => node === word));
  if (ranks.length === 0) throw usageError(`Nothing is placed on ${word}.`, 'Name a placement, or another node.');
  return ranks;
}

function show(run: Run, tails: readonly RankTail[], { isSimulated }: Ways): void {
  const said = tails.flatMap(diagnosticsOf);
  const diagnostics = isSimulated ? simulatedHints(said) : said;
  if (run.options.json) {
    const ranks = tails.flatMap(({ placement, outcome }) =>
      isAnswered(outcome) ? [{ placement, node: outcome.node, lines: linesOf(answerText(outcome)) }] : [],
    );
    const mark = isSimulated ? { simulated: true } : {};
    showJson(run.console, { formatVersion: 1, ...mark, ranks, diagnostics: diagnosticsJson(diagnostics) });
    return;
  }
  const placements = new Set(tails.map(({ placement }) => placement));
  const nameOf = ({ placement, outcome }: RankTail): string =>
    `${isSimulated ? 'simulated ' : ''}${placements.size > 1 ? `${placement} ` : ''}${outcome.node}`;
  const width = Math.max(0, ...tails.map((tail) => nameOf(tail).length));
  for (const tail of tails) {
    if (!isAnswered(tail.outcome)) continue;
    for (const line of linesOf(answerText(tail.outcome))) {
      run.console.out(`${nameOf(tail).padEnd(width)} | ${escapeLines(line)}\n`);
    }
  }
  showDiagnostics(run.console, gatherAlike(diagnostics));
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

const hasNoLog = ({ outcome }: RankTail): boolean =>
  outcome.kind === 'ended' && outcome.result.exit.kind === 'exited' && outcome.result.exit.code === noLogExit;

function diagnosticsOf(tail: RankTail): readonly Diagnostic[] {
  const { placement, outcome } = tail;
  if (!hasNoLog(tail)) return outcomeDiagnostics(outcome);
  const detail = `${placement} has no log on ${outcome.node}.`;
  return [diagnose('logs/none', { detail, subject: `node ${outcome.node}` })];
}

function codeOf(tails: readonly RankTail[]): ExitCode {
  return codeForNodes(tails.map(({ outcome }): NodeVerdict => (isAnswered(outcome) ? 'fine' : 'unjudged')));
}
