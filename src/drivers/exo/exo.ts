import type { ExoRuntime } from '../../model/desired.ts';
import { countedChatRequest } from '../contract/chat-request.ts';
import type { RuntimeDriver, StartPhase } from '../contract/driver.ts';
import { heldInParts } from '../contract/memory.ts';
import { check, openApi } from './check.ts';
import { logPattern, signatures } from './classify.ts';
import { configure } from './configure.ts';
import { dialogue } from './dialogue.ts';

/**
 * Lines in which exo prints a request, as an extended regular expression for awk and for JavaScript. What it is started
 * through lets none of them into a log; logs of an older meshwright have them.
 *
 * @see exo: master/main.py, worker/runner/runner.py, worker/runner/supervisor.py, llm_inference/model_output_parsers.py
 */
export const requestPattern =
  'Executing command: |received chat request: |Starting task |Skipping invalid task |Task .* dropped, runner closed|tool_call_text_parts=|tool call parsing failed|yielding tool call: ';

/** The forced master first: one that came later would take over from another and everything would begin again. */
const phases: readonly StartPhase[] = [
  { ranks: 'leader', until: 'joined' },
  { ranks: 'followers', until: 'joined' },
];

/** exo: one on every node, a mesh of its own for each placement, which is talked over with it after every start. */
export const exo: RuntimeDriver<ExoRuntime> = {
  id: 'exo',
  keys: { needs: ['version'], takes: ['program'], ofPlacements: ['args', 'parallel'] },
  configure,
  memory: { held: (wish, rooms) => heldInParts(wish, rooms, 'memory') },
  programs: ({ program }) => [program],
  needs: () => [],
  // `usage` comes with the last token and adds one for each that mlx gave; an answer that was cut short has none.
  // @see exo at b5375f8, worker/engines/mlx/generator/batch_generate.py:365 and generate.py:720; v1.0.71 alike
  tokenRequest: (_placement, _runtime, model) => countedChatRequest(model.repository ?? model.name),
  // More than EXO_MAX_CONCURRENT_REQUESTS wait in a queue of its own. @see exo at b5375f8, batch_generator.py:409
  phases: () => phases,
  check,
  exposed: openApi,
  dialogue: (placement, _runtime, model, fleet) => dialogue(placement, model, fleet),
  farewell: 'exo-farewell',
  // Nobody has confirmed that two starts of a split model agree to the last bit.
  goldenCheck: () => 'printable',
  // It forgets its placements whenever a member goes.
  canRestartOne: () => false,
  // A runner that is left in a collective keeps its GPU busy until a restart (issue 1137).
  stopOrder: 'together',
  // It ends its runners first, up to twelve seconds; a second signal, or KILL, leaves a GPU busy (issues 1137 and 1372).
  graceMs: 15_000,
  logPattern,
  requestPattern,
  signatures,
  // Which transport there is stands in the instance that was talked over, not in the log.
  observe: () => ({}),
};
