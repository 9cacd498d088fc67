import { brokenPairs, declaredMac, pairDiagnostic } from '../../drivers/known-pairs.ts';
import { given } from '../../model/given.ts';
import type { Rule } from '../define-rule.ts';
import { readValue } from '../fact.ts';
import { hardwareFact } from '../identity/fact.ts';
import { macosVersionFact } from './fact.ts';

/** Runtimes with a macOS, desired or observed, that public reports say breaks them, and packages that break each other. */
export const knownPairsRule: Rule = ({ desired, nodes }) => {
  const declared = declaredMac(desired);
  const found = brokenPairs(desired, (name) => {
    const { macos, model } = declared(name);
    const facts = nodes.find((node) => node.name === name)?.facts;
    const observed = readValue(facts, macosVersionFact)?.version;
    return {
      macos: [...macos, ...(observed === undefined ? [] : [observed])],
      ...given({ model: model ?? readValue(facts, hardwareFact)?.model }),
    };
  });
  return found.map(pairDiagnostic);
};
