import { it } from 'vitest';
import { expectGolden, meshwrightHere, type Ran } from './meshwright.ts';
import { bareFile, pairPlace } from './pair.ts';

const { place } = pairPlace(bareFile());
const run = (words: string): Promise<Ran> => meshwrightHere(place, words.split(' '), { env: { RIGHT: 'simulated' } });

it('the commands of a simulated rack with changing faults print golden/rack-repaired.txt', async () => {
  for (const fault of ['rdma-disabled studio-4', 'power-wrong studio-1', 'power-cut studio-4']) {
    await run(`sim fault ${fault}`);
  }
  const rans: Ran[] = [];
  const commands = `sim status; sim power-on studio-1 studio-4; sim fault power-wrong studio-1 studio-4; sim hands;
    sim fault --clear power-wrong; sim fault --clear; sim status --json; sim hands unplug studio-1:4; sim hands;
    sim up; sim fault nope; sim power-on nope; enroll studio-1 --sim; replace studio-1 --sim --yes;
    replace studio-1 --sim; launch --nodes studio-4 --sim --yes -- x;
    launch --nodes studio-4 --as ben --sim --yes -- x;
    launch --nodes studio-4 --as login --sim --yes -- echo {rank}/{size} {nope}; exec --all --sim -- sw_vers;
    launch --nodes studio-4 --as login --sim --yes -- false; hold studio-4 --sim --yes --until 2099-12-31;
    launch --nodes studio-4 --sim --yes -- x; release studio-4 --sim --yes; sim fault filevault-locked studio-4;
    unlock studio-4 --sim; secrets --sim; sim power-on studio-4; unlock studio-4 --sim --password-env RIGHT`;
  for (const words of commands.split(/;\s+/)) {
    const ran = await run(words);
    if (!/^(?:hold|release)/.test(words)) rans.push({ ...ran, stdout: ran.stdout.replaceAll(/^[\d:]{8} /gm, '') });
  }
  await expectGolden('rack-repaired', place, rans);
});
