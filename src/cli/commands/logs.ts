import type { CommandOutcome } from '../../apply/run-command.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeLines } from '../../diagnostics/escape.ts';
import type { DesiredFleet, DesiredNode, DesiredPlacement } from '../../model/desired.ts';
import { rankLogCommand } from '../../script/rank-log.ts';
import { answerText, askNodes, isAnswered, outcomeDiagnostics } from '../ask-nodes.ts';
import { diagnosticsJson, showDiagnostics, showJson } from '../diagnostics-output.ts';
import { codeForNodes, type ExitCode, type NodeVerdict } from '../exit-codes.ts';
import { followLogs } from '../follow-logs.ts';
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

/** `logs PLACEMENT|NODE…`: the end of what ranks have printed, each line behind the name of its node, and what comes. */
export const logs: VerbBody = async (run) => {
  const lines = readCountOption(run, 'lines') ?? usualLines;
  const cluster = openCluster(run);
  const wanted = wantedRanks(run, cluster.fleet);
  const ways = openWays(run, cluster);
  if (run.own['follow'] === true) return follow(run, wanted, { ways, lines });
  const tails: RankTail[] = [];
  for (const { placement, nodes } of wanted) {
    const outcomes = await askNodes(run, { nodes, ways }, (_node, rootPrefix) => ({
      command: rankLogCommand({ placement, lines, rootPrefix }),
    }));
    tails.push(...outcomes.map((outcome) => ({ placement, outcome })));
  }
  show(run, tails, ways);
  return codeOf(tails);
};

/** Every node is asked for all its logs at once. */
async function follow(
  run: Run,
  wanted: readonly WantedRanks[],
  { ways, lines }: { readonly ways: Ways; readonly lines: number },
): Promise<ExitCode> {
  if (run.options.json) {
    throw usageError('--follow has no end, and --json is one document.', 'Leave one of the two out.');
  }
  const { isSimulated } = ways;
  const pairs = wanted.flatMap(({ placement, nodes }) => nodes.map((node) => ({ placement, node })));
  const nodes = [...new Set(pairs.map(({ node }) => node))];
  const followed = (await ways.toAll(nodes)).map((way) => ({
    way,
    placements: pairs.filter(({ node }) => node.name === way.node).map(({ placement }) => placement),
  }));
  const prefix = prefixer(
    pairs.map(({ placement, node }) => ({ placement, node: node.name })),
    isSimulated,
  );
  return followLogs(run, followed, {
    isSimulated,
    lines,
    show: (placement, node, texts) => {
      for (const text of texts) run.console.out(`${prefix(placement, node)} | ${escapeLines(text)}\n`);
    },
  });
}

interface RankName {
  readonly placement: string;
  readonly node: string;
}

/** What stands before the lines of a rank: its node, and its placement where there are several; all of one width. */
function prefixer(all: readonly RankName[], isSimulated: boolean): (placement: string, node: string) => string {
  const hasSeveral = new Set(all.map(({ placement }) => placement)).size > 1;
  const nameOf = ({ placement, node }: RankName): string =>
    `${isSimulated ? 'simulated ' : ''}${hasSeveral ? `${placement} ` : ''}${node}`;
  const width = Math.max(0, ...all.map((one) => nameOf(one).length));
  return (placement, node) => nameOf({ placement, node }).padEnd(width);
}

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
  const prefix = prefixer(
    tails.map(({ placement, outcome }) => ({ placement, node: outcome.node })),
    isSimulated,
  );
  for (const { placement, outcome } of tails) {
    if (!isAnswered(outcome)) continue;
    for (const line of linesOf(answerText(outcome))) {
      run.console.out(`${prefix(placement, outcome.node)} | ${escapeLines(line)}\n`);
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
