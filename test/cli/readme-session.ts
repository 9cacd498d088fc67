import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { sessionCommands, shellWords } from '../readme-text.ts';
import { json, meshwright, type Ran } from './meshwright.ts';
import type { Place } from './place.ts';

/** Runs a command in the folder `rack`, which `sim example` made. */
const inRack = (place: Place, words: readonly string[]): Promise<Ran> =>
  meshwright(place, words, { folder: join(place.folder, 'rack') });

/** Runs the commands that the README shows from the one that begins with `from` up to the one that begins with `to`. */
export async function playSession(place: Place, from: string, to: string): Promise<readonly Ran[]> {
  const begins = (start: string): number => sessionCommands.findIndex((one) => one.startsWith(`meshwright ${start}`));
  const rans: Ran[] = [];
  for (const command of sessionCommands.slice(begins(from), begins(to) + 1)) {
    const [own = '', change] = command.split(' && ');
    const words = shellWords(own).slice(1);
    rans.push(await (words[1] === 'example' ? meshwright(place, words) : inRack(place, words)));
    expect([undefined, 'cd rack']).toContain(change);
  }
  return rans;
}

/** The first line that a server sends. */
function greeting(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').on('error', reject);
    socket.on('data', (data) => {
      socket.destroy();
      resolve(data.toString());
    });
  });
}

const question = ['ask', 'chat', 'What is a receptacle?', '--sim'];
const applyNow = ['apply', '--sim', '--yes'];

async function stateOf(place: Place): Promise<string | undefined> {
  const shown = json(await inRack(place, ['status', '--sim', '--json']));
  return (shown as { placements: Record<string, { state: string }> }).placements['chat']?.state;
}

/** The list of models that the endpoint on the simulated Mac reports. */
async function models(place: Place): Promise<string> {
  return (await inRack(place, ['exec', '--sim', 'studio-1', '--', 'curl', '-s', 'http://127.0.0.1:8080/v1/models']))
    .stdout;
}

/** The README's claims about a running rack, in the order of the tests: text and check. */
export const sessionClaims: Readonly<Record<string, (place: Place) => Promise<void>>> = {
  'No Mac is needed: the simulated rack speaks real SSH.': async (place) => {
    const { stdout } = await inRack(place, ['sim', 'status']);
    expect(await greeting(Number(/port (\d+)/.exec(stdout)?.[1]))).toMatch(/^SSH-2\.0-/);
  },
  '`meshwright graph` draws this picture: the cables in the file, the cables it found, and the move that repairs the rack.':
    async (place) => {
      await inRack(place, ['sim', 'fault', 'cable-swapped', 'studio-4']);
      const ran = await inRack(place, ['graph', '--sim', '--out', 'rack.svg']);
      expect(ran.code).toBe(0);
      const drawn = readFileSync(join(place.folder, 'rack/rack.svg'), 'utf8');
      expect(drawn).toMatch(/^<(?:\?xml|svg)/);
      expect(drawn).toContain('receptacles 2 and 3');
    },
  '`meshwright enroll --card` prints these steps for each Mac.': async (place) => {
    const { stdout } = await inRack(place, ['enroll', '--card']);
    const steps = [
      /studio-4 +studio-4\.lan/,
      /account/,
      /Remote Login/,
      /full disk access for remote users/,
      /rdma_ctl enable/,
      /cables/,
    ];
    expect(steps.filter((step) => !step.test(stdout))).toEqual([]);
  },
  '`meshwright plan` lists the RDMA and cable steps that remain.': async (place) => {
    await inRack(place, ['sim', 'fault', 'rdma-disabled', 'studio-3']);
    const { stdout } = await inRack(place, ['plan', '--sim']);
    expect(stdout).toMatch(/rdma_ctl\s+enable/);
    expect(stdout).toMatch(/cable\s+ends\s+in\s+studio-4\s+receptacles\s+2\s+and\s+3/);
  },
  '`plan` names the receptacles, and the bridges that `apply` must remove before you move a cable': async (place) => {
    await inRack(place, ['sim', 'fault', 'bridge-active', 'studio-2']);
    const { stdout } = await inRack(place, ['plan', '--sim']);
    expect(stdout).toMatch(/Thunderbolt\s+Bridge\s+on\s+studio-2[\s\S]*receptacles\s+2\s+and\s+3/);
  },
  'As long as a manual step remains, `apply` does its part and exits with 3.': async (place) => {
    const ran = await inRack(place, applyNow);
    expect([ran.code, ran.stdout]).toEqual([3, expect.stringContaining('model/kimi')]);
    await inRack(place, ['sim', 'hands']);
  },
  '`meshwright apply` observes every Mac over SSH, shows what differs from the file, makes the changes, and starts the model.':
    async (place) => {
      const [ran] = await playSession(place, 'apply', 'apply');
      expect([ran?.code, ran?.stdout]).toEqual([0, expect.stringContaining('placement/chat')]);
      expect(await stateOf(place)).toBe('serving');
    },
  'A second `apply` changes nothing.': async (place) => {
    const ran = await inRack(place, [...applyNow, '--json']);
    expect([ran.code, json(ran)]).toMatchObject([0, { counts: { changed: 0, failed: 0 } }]);
  },
  '`apply` stops a serving placement only after you say yes at the prompt, or with `--allow interrupt`; `--yes` is not enough.':
    async (place) => {
      const file = join(place.folder, 'rack/cluster.yaml');
      const text = readFileSync(file, 'utf8');
      place.write(
        'rack/cluster.yaml',
        text.replace('context: 64k', 'context: 32k').replace('firstToken: 30s', 'firstToken: 4s'),
      );
      expect((await inRack(place, applyNow)).code).toBe(5);
      expect((await inRack(place, [...applyNow, '--allow', 'interrupt'])).code).toBe(0);
    },
  'It never reboots a Mac, updates macOS or deletes a model.': async (place) => {
    for (const effect of ['reboot', 'upgrade', 'delete']) {
      const ran = await inRack(place, [...applyNow, '--allow', effect]);
      expect([ran.code, ran.stderr]).toEqual([64, expect.stringContaining(`"${effect}"`)]);
    }
  },
  'The model of the simulated rack cannot think: its answer is a digest, and comes only if every Mac takes part.':
    async (place) => {
      const [ran] = await playSession(place, 'ask', 'ask');
      expect([ran?.code, ran?.stdout]).toEqual([0, expect.stringMatching(/^[0-9a-f]{64}$/m)]);
      const kill = ['sudo', '-n', 'launchctl', 'kill', 'SIGSTOP', 'system/dev.meshwright.rank.chat'];
      expect((await inRack(place, ['exec', '--sim', 'studio-3', '--', ...kill])).code).toBe(0);
      // For a few seconds, the other Macs do not notice that this one is silent.
      await expect.poll(async () => (await inRack(place, question)).code).toBe(1);
    },
  'An API that responds is not enough.': async (place) => {
    expect(await models(place)).toContain('"data"');
    expect(await stateOf(place)).toBe('hung');
  },
  'Run the same command again: it observes the Macs first and continues.': async (place) => {
    expect((await inRack(place, [...applyNow, '--allow', 'interrupt'])).code).toBe(0);
    expect(await stateOf(place)).toBe('serving');
  },
};
