import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { rejection as rejectionItself } from '../sshd/ssh-case.ts';
import { type AsText, asText } from '../unit/as-text.ts';

/** The first diagnostic of a rejected promise, with its rendered texts. */
export const rejection = async (promise: Promise<unknown>): Promise<AsText<Diagnostic>> =>
  asText(await rejectionItself(promise));
