import type { DiagnosticCode } from '../diagnostics/codes.ts';
import type { DialogueCall } from '../model/dialogue-call.ts';
import type { Talk } from './contract/talk.ts';
import { leaveExo } from './exo/exo-farewell.ts';
import { placeOnExo } from './exo/exo-place.ts';

/** The beginning of a dialogue. */
export const beginDialogue = (call: DialogueCall): Talk =>
  call.name === 'exo-place' ? placeOnExo(call.args) : leaveExo(call.args);

/** The code of a dialogue that did not come to its end: its time is over, or a node is out of reach. */
export const unendedCode = ({ name }: DialogueCall): DiagnosticCode =>
  name === 'exo-place' ? 'exo/stuck' : 'exo/no-farewell';
