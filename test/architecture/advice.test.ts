import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { parseCommandLine } from '../../src/cli/run.ts';
import { verbs } from '../../src/cli/verbs.ts';
import { commandText } from '../../src/diagnostics/prose-text.ts';
import { driverOf } from '../../src/drivers/registry.ts';
import { codes } from '../../src/engine/diagnose/rules.ts';
import { type Command, commandVerbs, meshwright, traitsOf } from '../../src/model/text/command.ts';
import { allCommands } from '../../src/model/text/prose.ts';
import { filesBelow, textOf } from './sources.ts';
import { callsIn } from './syntax.ts';

const simulated = { isSimulated: true };

/** The reason why a command must not be shown for simulated nodes; undefined if there is none. */
function fault(shown: string): string | undefined {
  // Arguments after ` -- ` belong to a different program.
  const [own = ''] = shown.split(' -- ');
  try {
    const line = parseCommandLine(verbs, { out: () => undefined, columns: 80 }, own.split(' ').slice(1));
    if (line.kind === 'helped') return undefined;
    if (line.kind === 'no-verb') return `${shown}: is not a command`;
    const { verb, global } = line.invocation;
    return verb.uses.includes('reach') && global['sim'] !== true ? `${shown}: reaches real nodes` : undefined;
  } catch (error) {
    return `${shown}: ${String(error)}`;
  }
}

/** Every command in a source file's texts, with placeholders for values that exist only in a run. */
function writtenCommands(path: string): readonly Command[] {
  if (!textOf(path).includes('meshwright(')) return [];
  return callsIn(path).flatMap((call) => {
    const [verb, ...words] = call.arguments;
    if (call.expression.getText() !== 'meshwright' || verb === undefined || !ts.isStringLiteral(verb)) return [];
    const known = commandVerbs.find((one) => one === verb.text);
    if (known === undefined) throw new Error(`${path}: ${verb.text} is not a command`);
    return [
      meshwright(
        known,
        ...words.flatMap((word) =>
          ts.isSpreadElement(word) && words.length > 1 ? [] : [ts.isStringLiteral(word) ? word.text : 'x'],
        ),
      ),
    ];
  });
}

const driverNames = ['command', 'llamacpp-rpc', 'mlx', 'exo'] as const;

describe('suggested commands', () => {
  const commandsOfCodes = Object.values(codes).flatMap(({ hint }) => allCommands(hint));
  const commandsOfDrivers = driverNames.flatMap((driver) =>
    driverOf({ driver }).signatures.flatMap(({ cure }) => allCommands(cure)),
  );
  const sources = filesBelow('src').filter((path) => path.endsWith('.ts') && !path.includes('.generated.'));
  const written = sources.flatMap(writtenCommands);

  it('agree with the command line on which commands contact nodes', () => {
    const known = Object.fromEntries(commandVerbs.map((verb) => [verb, traitsOf(verb).reachesNodes === true]));
    const shown = verbs.filter(({ name }) => name !== 'sim serve');
    expect(known).toEqual(Object.fromEntries(shown.map(({ name, uses }) => [name, uses.includes('reach')])));
  });

  it.each([
    ['codes', commandsOfCodes, 100],
    ['drivers', commandsOfDrivers, 20],
    ['sources', written, 200],
  ] as const)('are valid and do not reach a real node on a simulated rack: %s', (_of, commands, least) => {
    expect(commands.length).toBeGreaterThan(least);
    const shown = commands.map((one) => commandText(one, simulated));
    expect(shown.flatMap((one) => fault(one) ?? [])).toEqual([]);
  });

  it('are caught by this test if they reach real nodes or are invalid', () => {
    expect(fault('meshwright reboot studio-1')).toContain('reaches real nodes');
    expect(fault('meshwright logs --nonsense --sim')).toContain('nonsense');
    expect(fault('meshwright up')).toBeDefined();
  });
});
