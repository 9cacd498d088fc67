/**
 * Loaded before a command line with `--import`: the process dies before it sends a script to a node that contains the
 * text of YESTERDAY_DIES_BEFORE.
 */
import { createRequire } from 'node:module';

const text = process.env.YESTERDAY_DIES_BEFORE;
const { Client } = createRequire(process.argv[1])('ssh2');
const { exec } = Client.prototype;
Client.prototype.exec = function watched(...words) {
  const settled = words.pop();
  return exec.call(this, ...words, (error, channel) => {
    if (channel !== undefined) {
      const { end } = channel;
      channel.end = (input, ...rest) => {
        if (input?.toString().includes(text)) process.kill(process.pid, 'SIGKILL');
        return end.call(channel, input, ...rest);
      };
    }
    settled(error, channel);
  });
};
