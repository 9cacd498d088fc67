import { type NodeFile, nodeProgramPath, shellQuote, toolFile } from '../model/node-files.ts';

/**
 * The module that Node's double loads first. On a machine without cables, a simulated Mac's ports are loopback ports of
 * this machine, which the link table lists. Programs cannot listen on a port that is not in the table, and connections
 * to such a port are refused.
 */
const network = `'use strict';
const fs = require('node:fs');
const net = require('node:net');
const table = process.env.MESHWRIGHT_LINK_TABLE;
const realPort = (host, port) => {
  const name = (host === '0.0.0.0' ? '127.0.0.1' : host) + ':' + port;
  const line = fs.readFileSync(table, 'utf8').split('\\n').find((one) => one.startsWith(name + ' '));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(':') + 1));
};
if (table !== undefined) {
  const { listen } = net.Server.prototype;
  net.Server.prototype.listen = function (port, host, ...rest) {
    const real = realPort(host, port);
    if (real === undefined) throw Object.assign(new Error('no such address'), { code: 'EADDRNOTAVAIL' });
    return listen.call(this, real, '127.0.0.1', ...rest);
  };
  const { connect } = net.Socket.prototype;
  net.Socket.prototype.connect = function (...args) {
    const [options] = Array.isArray(args[0]) ? args[0] : args;
    if (options !== null && typeof options === 'object' && options.port !== undefined) {
      options.port = realPort(options.host, options.port) ?? 1;
      options.host = '127.0.0.1';
    }
    return connect.apply(this, args);
  };
}
`;

/** The double itself, which first loads the module next to it. In namespaces, Node has a different path. */
const nodeDouble = `#!/bin/sh
n=${nodeProgramPath}
[ -x "$n" ] || n=${shellQuote(process.execPath)}
exec "$n" --require "$0.network.cjs" "$@"
`;

/** The files of Node's double, with the program at this path. The program is the Node that runs this code. */
export const nodeDoubleFiles = (program: string): readonly NodeFile[] => [
  toolFile(program, nodeDouble),
  toolFile(`${program}.network.cjs`, network),
];
