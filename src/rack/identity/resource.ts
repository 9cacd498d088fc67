import { read } from '../fact.ts';
import { type Resource, verifyOnly } from '../resource.ts';
import { hardwareFact, identityFact } from './fact.ts';

/** Checks that the Mac that answers is the one in the file. While this is unknown, nothing on it is changed. */
export const identity: Resource = verifyOnly({
  kind: 'identity',
  after: [],
  isPrecondition: true,
  unobservedText: ({ desired: { hardware, identity: recorded }, facts }) => {
    const isOpen =
      ((hardware.serial ?? recorded) !== undefined && read(facts, identityFact).kind === 'unknown') ||
      ((hardware.model ?? hardware.memoryBytes) !== undefined && read(facts, hardwareFact).kind === 'unknown');
    return isOpen ? 'whether it is the Mac in the file' : undefined;
  },
});
