import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeLines } from '../../diagnostics/escape.ts';
import type { DesiredFleet, DesiredNode, DesiredPlacement, DesiredRuntime } from '../../model/desired.ts';
import { askCommand, parseAskAnswer } from '../../script/ask-endpoint.ts';
import { judgeToken, type TokenAnswer } from '../../script/judge-token.ts';
import { answerText, askNodes, isAnswered, outcomeDiagnostics } from '../ask-nodes.ts';
import { diagnosticsJson, showDiagnostics, showJson } from '../diagnostics-output.ts';
import { exitCode } from '../exit-codes.ts';
import { openCluster } from '../open-cluster.ts';
import { usageError } from '../options.ts';
import { readCountOption } from '../own-options.ts';
import { placementNamed } from '../placements.ts';
import { simulatedHints } from '../simulated-hints.ts';
import type { Run, VerbBody } from '../verb.ts';
import { openWays, type Ways } from '../ways.ts';

const usualTokens = 256;

/** `ask PLACEMENT TEXT…`: asks the endpoint of a placement on its own leader, and prints the answer. */
export const ask: VerbBody = async (run) => {
  const tokens = readCountOption(run, 'maxTokens') ?? usualTokens;
  const cluster = openCluster(run);
  const question = readQuestion(run, cluster.fleet);
  const ways = openWays(run, cluster);
  const answered = await askLeader(run, { ...question, tokens }, ways);
  show(run, question, answered, ways);
  return answered.kind === 'token' ? exitCode.done : exitCode.failed;
};

interface Question {
  readonly placement: DesiredPlacement;
  readonly runtime: DesiredRuntime;
  readonly leader: DesiredNode;
  readonly text: string;
}

function readQuestion(run: Run, fleet: DesiredFleet): Question {
  const [word, ...words] = run.words;
  const names = fleet.placements.map(({ name }) => name).join(', ');
  if (word === undefined) throw usageError('No placement is named.', `Placements: ${names || 'none in the file'}`);
  const placement = placementNamed(fleet, word);
  const text = words.join(' ');
  if (text.trim() === '') throw usageError('The question is missing.', `Say it: meshwright ask ${word} "Hello"`);
  const runtime = fleet.runtimes.find(({ name }) => name === placement.runtime);
  const leader = fleet.nodes.find(({ name }) => name === placement.nodes[0]);
  if (runtime === undefined || leader === undefined) throw new Error(`placement ${word} passed its rules`);
  return { placement, runtime, leader, text };
}

type Answered =
  | Extract<TokenAnswer, { readonly kind: 'token' }>
  | { readonly kind: 'none'; readonly diagnostics: readonly Diagnostic[] };

async function askLeader(
  run: Run,
  { placement, runtime, leader, text, tokens }: Question & { readonly tokens: number },
  ways: Ways,
): Promise<Answered> {
  const { path, json } = runtime.token;
  const messages = [{ role: 'user', content: text }];
  const body = JSON.stringify({ model: placement.model, messages, max_tokens: tokens, stream: false });
  const deadlineSeconds = run.options.deadline / 1_000;
  const [outcome] = await askNodes(run, { nodes: [leader], ways }, (_node, rootPrefix) => ({
    command: askCommand({ port: placement.endpointPort, path, deadlineSeconds, rootPrefix }),
    stdin: Buffer.from(body),
  }));
  if (outcome === undefined) throw new Error('the leader has no outcome');
  const broken = outcomeDiagnostics(outcome);
  const none = (reason: string): Answered => ({ kind: 'none', diagnostics: [noAnswer(placement, leader, reason)] });
  if (broken.length > 0) return { kind: 'none', diagnostics: broken };
  if (outcome.kind === 'unreached') return none('its node was not reached');
  const answer = parseAskAnswer(new TextDecoder().decode(outcome.result.stdout));
  if (answer === undefined) return none(isAnswered(outcome) ? `it said ${answerText(outcome)}` : 'curl failed there');
  const judged = judgeToken(answer, json);
  return judged.kind === 'token' ? judged : none(judged.reason);
}

const noAnswer = ({ name, endpointPort }: DesiredPlacement, leader: DesiredNode, reason: string): Diagnostic =>
  diagnose('ask/no-answer', {
    subject: `placement ${name}`,
    detail: `${name} on ${leader.name}, port ${endpointPort}: ${reason}.`,
    hint: `Look at it: meshwright status, meshwright logs ${name}`,
  });

function show(run: Run, { placement, leader }: Question, answered: Answered, { isSimulated }: Ways): void {
  const said = answered.kind === 'none' ? answered.diagnostics : [];
  const diagnostics = isSimulated ? simulatedHints(said) : said;
  if (run.options.json) {
    showJson(run.console, {
      formatVersion: 1,
      ...(isSimulated ? { simulated: true } : {}),
      placement: placement.name,
      node: leader.name,
      ...(answered.kind === 'token' ? { answer: answered.text } : {}),
      diagnostics: diagnosticsJson(diagnostics),
    });
    return;
  }
  if (answered.kind === 'token') {
    run.console.out(`${escapeLines(answered.text)}\n`);
    if (isSimulated) run.console.err(`(simulated: ${placement.name} on ${leader.name})\n`);
  }
  showDiagnostics(run.console, diagnostics);
}
