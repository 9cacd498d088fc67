/**
 * Loaded before the built command with `--import`: names every instant at which something is durable or sent, and kills
 * the process at one of them. A record is named once it is on the disk, a file once it has its name, and a command once
 * the node has all of it.
 *
 * MW_POINTS: a file that gets one name per line. MW_DIE_AT: the name at which the process dies. MW_HOSTNAME: what this
 * computer is called, which makes it a different one.
 */
import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { basename, dirname } from 'node:path';

const { MW_POINTS: list, MW_DIE_AT: last, MW_HOSTNAME: hostname } = process.env;
const real = { write: fs.writeSync, sync: fs.fsyncSync, rename: fs.renameSync };
const counts = new Map();

/** The same name a second time gets a number, so that each instant has its own. */
function reach(name) {
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  const point = count === 1 ? name : `${name} #${count}`;
  if (list !== undefined) fs.appendFileSync(list, `${point}\n`);
  if (point === last) process.kill(process.pid, 'SIGKILL');
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
  // Compiled code is kept by the first command only, so a later one would never come here.
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
