import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { rejection as rejectionItself } from '../sshd/ssh-case.ts';
import { type AsText, asText } from '../unit/as-text.ts';

/** The first finding with which a promise is rejected, its texts as a person reads them. */
export const rejection = async (promise: Promise<unknown>): Promise<AsText<Diagnostic>> =>
  asText(await rejectionItself(promise));
