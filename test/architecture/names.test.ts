import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { filesBelow } from './sources.ts';
import { nodesOf, parse } from './syntax.ts';

const source = filesBelow('src').filter((path) => path.endsWith('.ts') && !path.endsWith('.generated.ts'));

/** The name and position of every declaration in a file. */
const declared = source.flatMap((path) => {
  const file = parse(path);
  return nodesOf(file).flatMap((node) => {
    const isDeclaration =
      ts.isFunctionDeclaration(node) ||
      ts.isClassDeclaration(node) ||
      ts.isInterfaceDeclaration(node) ||
      ts.isMethodDeclaration(node);
    return isDeclaration && node.name !== undefined ? [{ path, name: node.name.getText(file), node }] : [];
  });
});
/** Functions of simulated tools are excluded, because they are named after the tools' options. */
const named = (pattern: RegExp): readonly string[] =>
  declared
    .filter((one) => pattern.test(one.name) && !/^src\/sim\/tools\/(?!.*-write\.ts$)/.test(one.path))
    .map((one) => `${one.path} ${one.name}`);

describe('the naming rules', () => {
  it('forbid generic file and folder names, such as utils or helpers', () => {
    const parts = [...filesBelow('src'), ...filesBelow('test'), ...filesBelow('scripts')]
      .filter((path) => !path.startsWith('test/cases/'))
      .filter((path) => /(?:^|\/)(?:utils?|helpers?|common|types|shared|misc|lib)(?:\.[a-z]+)*(?:\/|$)/.test(path));
    expect(parts).toEqual([]);
  });

  it('forbid function names that begin with get, handle or do', () => {
    expect(named(/^(?:get|handle|do)[A-Z]/)).toEqual([]);
  });

  it('forbid the I prefix and generic suffixes, such as Manager', () => {
    expect(named(/^I[A-Z][a-z]|(?:Manager|Helper|Util|Utils|Handler)$/)).toEqual([]);
  });

  it('allow only the classes FleetError and SshRemote outside the simulator', () => {
    const classes = declared.filter((one) => ts.isClassDeclaration(one.node) && !one.path.startsWith('src/sim/'));
    expect(classes.map((one) => one.name).filter((name) => name !== 'FleetError' && name !== 'SshRemote')).toEqual([]);
  });
});
