import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { subjectText } from '../../src/model/subject.ts';
import { serviceFile } from '../../src/node/paths/own-paths.ts';
import { shared } from '../rack/kept-running.ts';
import { type FileValue, filePart, first, pairFile, second } from './converge-file.ts';
import { leftIn, patience, startConvergeRack } from './converge-rack.ts';
import { keepersAtRest } from './keepers-at-rest.ts';

const unnamed = (file: FileValue): void => {
  delete file['ssh'];
  delete filePart(file, 'nodes', second)['user'];
};

/** The first file creates the Macs: ssh logs in to one of them as root, and later files no longer set this. */
const asRoot = (file: FileValue): void => {
  unnamed(file);
  filePart(file, 'nodes', second)['user'] = 'root';
};
const rack = shared(() => startConvergeRack('login', pairFile(asRoot)));
beforeAll(async () => {
  const withRanksOfLogin = (file: FileValue): void => {
    unnamed(file);
    filePart(file, 'system')['accounts'] = { ranks: 'login' };
  };
  expect(await rack.declare(pairFile(withRanksOfLogin))).toEqual([]);
});

const userOn = (node: string): string | undefined => {
  const text = readFileSync(`${rack.fleet().nodes[node]?.root ?? ''}${serviceFile('chat').path}`, 'utf8');
  return /<key>UserName<\/key>\s*<string>([^<]*)<\/string>/.exec(text)?.[1];
};

describe('a file that sets no user and no account', { timeout: patience }, () => {
  it('runs ranks as the ssh user and gives a warning', async () => {
    const { plan } = await rack.converge();
    const warnings = plan.diagnostics.filter(({ code }) => code === 'accounts/login');
    expect(warnings.map(({ severity, subject }) => `${severity} ${subjectText(subject)}`)).toEqual([
      `warning nodes ${first}, ${second}`,
    ]);
    expect([userOn(first), userOn(second)]).toEqual(['mesh', 'root']);
    await keepersAtRest(rack.fleet());
    expect(rack.fleet().processes()).toHaveLength(2);
  });

  it('leaves nothing to change', async () => {
    expect(leftIn(await rack.plan())).toEqual([]);
  });
});
