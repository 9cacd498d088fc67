/**
 * `npm run count-calls`: counts the calls from the command `apply` to the root script of one changed setting, on the
 * example rack. Prints the calls in order, then `N calls in N files`, and fails if a limit is exceeded.
 *
 * Its child process loads this file with `--import` and records the async stack at ssh2's `exec`. The stack comes from
 * V8's inspector, because `Error.stack` ends at a callback.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { MESHWRIGHT_CALLS: list } = process.env;
const sources = new URL('../src/', import.meta.url).href;
const deepest = 200;
/** A reader cannot follow more calls than this in one go. */
const bars = { calls: 9, files: 8 };

if (list === undefined) measure();
else record(list);

/** Appends the async stack of each command that runs a root script to a file, one JSON list per line. */
function record(file) {
  const session = new Session();
  session.connect();
  session.post('Runtime.enable');
  session.post('Debugger.enable');
  session.post('Debugger.setAsyncCallStackDepth', { maxDepth: deepest });
  session.on('Runtime.consoleAPICalled', ({ params: { type, stackTrace } }) => {
    if (type !== 'trace') return;
    const frames = [];
    for (let trace = stackTrace; trace !== undefined; trace = trace.parent) frames.push(...trace.callFrames);
    const own = frames.flatMap(({ functionName: name, url }) =>
      url.startsWith(sources) ? [{ name, file: relative(root, fileURLToPath(url)) }] : [],
    );
    appendFileSync(file, `${JSON.stringify(own)}\n`);
  });
  const { Client } = createRequire(join(root, 'package.json'))('ssh2');
  const exec = Client.prototype.exec;
  Client.prototype.exec = function traced(command, ...rest) {
    if (command.includes('sudo')) console.trace(command);
    return exec.call(this, command, ...rest);
  };
}

/** The stack of the setting's script, from the command on; shorter stacks belong to observations and leases. */
function callsIn(stacks) {
  const all = readFileSync(stacks, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const calls = all.find((frames) => frames.some(({ name }) => name === 'sendRootScript'))?.reverse() ?? [];
  const first = calls.findIndex(({ name }) => name === 'apply');
  return first < 0 ? [] : calls.slice(first);
}

function measure() {
  const place = mkdtempSync(join(tmpdir(), 'meshwright-calls-'));
  const rack = join(place, 'rack');
  const stacks = join(place, 'stacks');
  const env = { ...process.env, HOME: place, MESHWRIGHT_STATE: join(place, 'state') };
  const run = (words, { cwd = rack, recorder = [], more = {} } = {}) => {
    const loaders = [import.meta.resolve('tsx'), ...recorder].flatMap((one) => ['--import', one]);
    const command = [...loaders, join(root, 'src/cli/main.ts'), ...words];
    const ran = spawnSync(process.execPath, command, { cwd, env: { ...env, ...more }, encoding: 'utf8' });
    // With 3, everything is done but the placement of all Macs, of which only one is a target.
    if (ran.status !== 0 && ran.status !== 3)
      throw new Error(`${words.join(' ')} exited with ${ran.status}\n${ran.stdout}${ran.stderr}`);
  };
  try {
    run(['sim', 'example', rack], { cwd: place });
    try {
      run(['sim', 'up']);
      run(['apply', '--sim', '--yes', '--nodes', 'studio-1']);
      const file = join(rack, 'cluster.yaml');
      writeFileSync(
        file,
        readFileSync(file, 'utf8').replace('restartAfterPowerLoss: true', 'restartAfterPowerLoss: false'),
      );
      run(['apply', '--sim', '--yes', '--nodes', 'studio-1'], {
        recorder: [import.meta.url],
        more: { MESHWRIGHT_CALLS: stacks },
      });
    } finally {
      run(['sim', 'down']);
    }
    const calls = callsIn(stacks);
    for (const { name, file } of calls) process.stdout.write(`${name || '(callback)'}  ${file}\n`);
    const files = new Set(calls.map(({ file }) => file)).size;
    const bar = `bar: ${bars.calls} calls in ${bars.files} files`;
    process.stdout.write(`${calls.length} calls in ${files} files (${bar})\n`);
    if (calls.length === 0 || calls.length > bars.calls || files > bars.files) process.exitCode = 1;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
