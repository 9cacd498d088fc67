import { choicesAmong, nameHint } from '../did-you-mean.ts';
import type { Draft } from '../draft.ts';
import { type FileFinding, type FileRule, type PlaceText, repeats } from './rule.ts';

export const outletRules: readonly FileRule[] = [unknownPdu, outletTwice, badCommand, unusedPdu];

/** The outlets in the file that have the right form, each with the name of its PDU. */
const outletsIn = ({ nodes }: Draft) =>
  nodes.flatMap(({ name: node, outlet }) => {
    const slash = outlet?.text.indexOf('/') ?? -1;
    return outlet?.isText === true && slash > 0 ? [{ ...outlet, node, pdu: outlet.text.slice(0, slash) }] : [];
  });

function unknownPdu(draft: Draft): readonly FileFinding[] {
  const choices = choicesAmong(draft.pdus.map(({ name }) => name));
  return outletsIn(draft)
    .filter(({ pdu }) => !draft.pduNames.has(pdu))
    .map(({ pdu, pointer }) => ({
      code: 'outlet/unknown-pdu',
      pointer,
      part: { start: 0, end: pdu.length },
      detail: `This file has no PDU \`${pdu}\`.`,
      ...(draft.pdus.length === 0 ? {} : nameHint(choices.near(pdu), `The PDUs are ${choices.list}.`)),
    }));
}

/** Two Macs at one outlet would lose power together. */
function outletTwice(draft: Draft, place: PlaceText): readonly FileFinding[] {
  return repeats(outletsIn(draft), ({ text }) => text).map(([one, other]) => ({
    code: 'outlet/used-twice',
    pointer: one.pointer,
    label: `${other.node} already has it, ${place({ pointer: other.pointer })}`,
    detail: `${one.node} and ${other.node} would both lose power with outlet ${one.text}.`,
    others: [{ pointer: other.pointer, detail: `The outlet of ${other.node}.` }],
  }));
}

function badCommand({ pdus }: Draft): readonly FileFinding[] {
  return pdus
    .flatMap(({ commands }) => commands)
    .flatMap(({ pointer, words: [program, ...rest] }): readonly FileFinding[] => {
      if (program?.text.trim() === '')
        return [{ code: 'outlet/bad-command', pointer: program.pointer, detail: 'The program is empty.' }];
      if (rest.some(({ text }) => text.includes('{outlet}'))) return [];
      const detail = 'None of its arguments contains `{outlet}`, so it would do the same for every outlet.';
      return [{ code: 'outlet/bad-command', pointer, detail }];
    });
}

function unusedPdu(draft: Draft): readonly FileFinding[] {
  const used = outletsIn(draft).map(({ pdu }) => pdu);
  return draft.pdus
    .filter(({ name }) => draft.nodes.length > 0 && !used.includes(name))
    .map(({ name, pointer }) => ({
      code: 'outlet/unused-pdu',
      severity: 'warning',
      pointer,
      at: 'key',
      detail: `No node has an outlet of \`${name}\`.`,
    }));
}
