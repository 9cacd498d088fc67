/**
 * Loaded before the built command with `--import`. Names every moment at which something is durable or sent, and kills
 * the process at one of them. A record gets its name once it is on the disk, a file once it is renamed, and a command
 * once the node has received all of it.
 *
 * MW_POINTS: a file that receives one name per line. MW_DIE_AT: the name at which the process dies. MW_DIE_AFTER: the
 * number of names after which it dies. MW_HOSTNAME: a host name for this computer, which simulates a different one.
 */
import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { basename, dirname } from 'node:path';

const { MW_POINTS: list, MW_DIE_AT: last, MW_DIE_AFTER: number, MW_HOSTNAME: hostname } = process.env;
const real = { write: fs.writeSync, sync: fs.fsyncSync, rename: fs.renameSync };
const counts = new Map();
let reached = 0;

/** A repeated name gets a number, so that each moment has a unique name. */
function reach(name) {
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  const point = count === 1 ? name : `${name} #${count}`;
  if (list !== undefined) fs.appendFileSync(list, `${point}\n`);
  reached += 1;
  if (point === last || reached === Number(number)) process.kill(process.pid, 'SIGKILL');
}

const records = new Map();

function nameOf({ phase, node, step, state }) {
  return ['record', phase, state, node, step].filter((word) => word !== undefined).join(' ');
}

fs.writeSync = (file, bytes, ...more) => {
  const written = real.write(file, bytes, ...more);
  const text = bytes.toString();
  if (text.startsWith('{"seq":')) records.set(file, nameOf(JSON.parse(text)));
  return written;
};
fs.fsyncSync = (file) => {
  real.sync(file);
  const name = records.get(file);
  records.delete(file);
  if (name !== undefined) reach(name);
};
fs.renameSync = (from, to) => {
  real.rename(from, to);
  // Only the first command stores compiled code, so later commands would never reach this point.
  if (basename(dirname(dirname(to))) === 'compiled') return;
  reach(`file ${basename(to)}`);
};
if (hostname !== undefined) os.hostname = () => hostname;
syncBuiltinESMExports();

const { Client } = createRequire(process.argv[1])('ssh2');
const exec = Client.prototype.exec;
Client.prototype.exec = function named(command, ...rest) {
  const settled = rest.pop();
  return exec.call(this, command, ...rest, (error, channel) => {
    channel?.once('prefinish', () => setImmediate(reach, 'sent'));
    settled(error, channel);
  });
};
